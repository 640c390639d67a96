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
    /// On the decrypted interface exchanges of HTTP/2 are written one behind the other, each when it
    /// has ended: HTTP/1 cannot tell them side by side.
    func audiences(of exchange: ExchangeRecord, in phase: Phase) -> [Audience] {
        var live: [PacketLeg.Role] = []
        if !isRedacted || exchange.isConnect {
            live.append(.client)
            if goesToOrigin(exchange) { live.append(.server) }
        }
        live = live.filter { legs[$0]?.canCarryContent ?? false || exchange.isConnect }
        let isDecrypted = legs[.decrypted] != nil && !exchange.isConnect
        guard isDecrypted else { return [Audience(phase: phase, legs: live)] }
        hasDecrypted = true
        guard exchange.protocolName == "HTTP/2" else {
            return [Audience(phase: phase, legs: live + [.decrypted])]
        }
        var audiences = [Audience(phase: phase, legs: live)]
        if phase == .end {
            audiences += [
                Audience(phase: .request, legs: [.decrypted], isLate: true),
                Audience(phase: .head, legs: [.decrypted]),
                Audience(phase: .end, legs: [.decrypted]),
            ]
        }
        return audiences
    }

    /// Whether the exchange was carried on the leg to the origin that is recorded.
    private func goesToOrigin(_ exchange: ExchangeRecord) -> Bool {
        guard !exchange.answeredByTool, !exchange.isConnect else { return false }
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
