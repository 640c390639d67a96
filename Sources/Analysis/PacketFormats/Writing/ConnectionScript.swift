internal import Base
internal import Formats
internal import TLS
internal import Traffic

/// The legs of one connection, and who of them hears what.
final class ConnectionScript {
    let record: ConnectionRecord
    private var legs: [PacketLeg.Role: PacketLeg] = [:]
    private let isRedacted: Bool
    var openExchanges = 0
    var isCloseDue = false
    private(set) var losses: [LossKind] = []
    /// `nil` for a connection of TCP.
    private var udp: UDPConversation?

    enum Phase {
        case request
        case head
        case end
    }

    /// Who hears a phase of an exchange.
    struct Audience {
        let phase: Phase
        let legs: [PacketLeg.Role]
        /// Whether the phase lies back.
        var isLate = false
    }

    init(_ record: ConnectionRecord, isRedacted: Bool) {
        self.record = record
        self.isRedacted = isRedacted
        guard record.listener != ConnectionRecord.packetListener else { return }
        if record.isDatagrams {
            udp = UDPConversation(record)
            if udp == nil { losses = [.withoutAddress] }
            return
        }
        let planner = LegPlanner(record, isRedacted: isRedacted)
        losses = planner.losses
        for plan in planner.plans { legs[plan.role] = PacketLeg(plan) }
    }

    func open(_ file: inout PacketFileWriter) throws {
        try legs[.client]?.open(at: record.openedAt, &file)
        try legs[.server]?.open(at: record.openedAt, &file)
    }

    func close(at time: Timestamp, _ file: inout PacketFileWriter) throws {
        for role in [PacketLeg.Role.client, .server] {
            try legs[role]?.close(ending(of: role, at: time), &file)
        }
        if hasDecrypted { try legs[.decrypted]?.close(ending(of: .decrypted, at: time), &file) }
    }

    private var hasDecrypted = false

    // MARK: Who hears what

    /// The legs that hear a phase of an exchange, and with what else.
    ///
    /// HTTP/1 cannot tell exchanges side by side: on its legs a response is written whole when it
    /// has ended, and with it the request, if the client spoke HTTP/2.
    func audiences(of exchange: ExchangeRecord, in phase: Phase) -> [Audience] {
        let hearing = legs(hearing: exchange)
        if hearing.contains(.decrypted) { hasDecrypted = true }
        let framed = hearing.filter { legs[$0]?.speaksHTTP2(exchange) ?? false }
        let serial = hearing.filter { !framed.contains($0) }
        let isLate = exchange.protocolName == "HTTP/2"
        switch phase {
        case .request: return [Audience(phase: phase, legs: isLate ? framed : hearing)]
        case .head: return [Audience(phase: phase, legs: framed)]
        case .end:
            let request = Audience(phase: .request, legs: serial, isLate: true)
            return (isLate ? [request] : []) + [
                Audience(phase: .head, legs: serial, isLate: true),
                Audience(phase: .end, legs: hearing),
            ]
        }
    }

    private func legs(hearing exchange: ExchangeRecord) -> [PacketLeg.Role] {
        if exchange.isConnect { return legs[.client] == nil ? [] : [.client] }
        var hearing: [PacketLeg.Role] = []
        if !isRedacted {
            hearing.append(.client)
            if goesToOrigin(exchange) { hearing.append(.server) }
        }
        hearing.append(.decrypted)
        return hearing.filter { legs[$0]?.canCarryContent ?? false }
    }

    /// Whether the exchange was carried on the leg to the origin that is recorded.
    private func goesToOrigin(_ exchange: ExchangeRecord) -> Bool {
        guard !exchange.answeredByTool else { return false }
        // A client that knows its proxy may ask many origins in plain on one connection.
        guard record.clientTLS == nil, record.mode == .explicit else { return true }
        let host = exchange.authority.split(separator: ":").first.map(String.init)
        return host == record.originHost
            && (exchange.authority.hasSuffix(":\(record.originPort)") || record.originPort == 80)
    }

    // MARK: Writing

    func write(
        _ part: ExchangePart, of exchange: ExchangeRecord, at time: Timestamp,
        to roles: [PacketLeg.Role], _ file: inout PacketFileWriter
    ) throws {
        for role in roles { try legs[role]?.write(part, of: exchange, at: time, &file) }
    }

    func write(_ message: MessageRecord, _ file: inout PacketFileWriter) throws {
        if message.kind == .datagram {
            guard let packet = udp?.packet(message.direction, message.bytes) else { return }
            return try file.addPacket(
                interface: PacketLeg.Role.client.rawValue, at: message.at, packet, options: [])
        }
        for role in [PacketLeg.Role.client, .server, .decrypted] {
            guard let leg = legs[role], leg.canCarryContent else { continue }
            if role == .decrypted { hasDecrypted = true }
            try legs[role]?.write(
                message.direction, message.bytes, at: message.at, flow: nil, &file)
        }
    }

    // MARK: The end

    private func ending(of role: PacketLeg.Role, at time: Timestamp) -> LegEnding {
        var ending = LegEnding(time: time)
        guard let closed = record.closedAt else {
            ending.isClosed = false
            return ending
        }
        ending = LegEnding(time: max(time, closed))
        switch role {
        case .client: ending.alerts = record.clientTLS?.alerts ?? []
        case .server: ending.alerts = record.originTLS?.alerts ?? []
        case .decrypted: break
        }
        // The tool is the server of one leg and the client of the other.
        ending.first =
            switch (record.closedBy, role) {
            case (.client, _), (nil, _), (.tool, .server): .request
            case (.origin, _), (.tool, _): .response
            }
        ending.isReset = record.outcome == .broken && record.closedBy != .tool
        let cause = record.cause.isEmpty ? "" : ": \(record.cause)"
        ending.comment = "connection \(record.id) ended: \(record.outcome.rawValue)\(cause)"
        return ending
    }
}
