internal import Base
internal import Formats
internal import HTTPCodecs
internal import TLS
internal import Traffic

/// Reads one TCP connection: puts its bytes in order, takes TLS off, and tells what was said.
final class ConnectionReading {
    private(set) var record: ConnectionRecord
    private let writer: ImportWriter
    private let ring: KeyRing
    private let client: PacketEndpoint
    private let origin: PacketEndpoint
    private var order: [2 of TCPReassembler] = [TCPReassembler(), TCPReassembler()]
    private var tls: TLSReading?
    private var state = State.undecided
    /// By `Direction.rawValue`: what came before it was known what is spoken.
    private var early: [[UInt8]] = [[], []]
    private var lastTime: Timestamp
    private(set) var isOver = false
    private var isReset = false
    private var obstacle: String?

    private enum State {
        case undecided
        case http(HTTP1Reading)
        /// Bytes of no protocol that is known, with the exchange that they follow.
        case bytes(exchange: Int64?)
        /// Nothing more is told.
        case lost
    }

    /// In bytes: enough to know a request line by.
    private static let earlyLimit = 24

    init(
        id: Int64, client: PacketEndpoint, origin: PacketEndpoint, at time: Timestamp,
        _ writer: ImportWriter, _ ring: KeyRing
    ) {
        self.writer = writer
        self.ring = ring
        self.client = client
        self.origin = origin
        lastTime = time
        record = ConnectionRecord(
            id: id, openedAt: time, client: client.text, listener: origin.text, mode: .transparent)
        record.originAddress = origin.text
        record.originPort = origin.port
        record.originHost = String(
            origin.text.dropLast("\(origin.port)".count + 1).filter { $0 != "[" && $0 != "]" })
    }

    func take(_ segment: TCPSegment) {
        lastTime = segment.at
        let direction = segment.source == client ? Direction.request : .response
        let bytes = order[direction.rawValue].take(segment)
        if direction == .request {
            record.clientBytes.received += Int64(bytes.count)
        } else {
            record.clientBytes.sent += Int64(bytes.count)
        }
        if !bytes.isEmpty { take(bytes, direction) }
        if segment.isFIN || segment.isRST, record.closedBy == nil {
            record.closedBy = direction == .request ? .client : .origin
        }
        isReset = isReset || segment.isRST
        isOver = isReset || (order[0].isEnded && order[1].isEnded)
    }

    // MARK: What is said

    private func take(_ bytes: [UInt8], _ direction: Direction) {
        guard tls != nil else { return takePlain(bytes, direction) }
        tls?.read(bytes, direction)
        for event in tls?.takeEvents() ?? [] {
            guard case .content(let direction, let content) = event else { continue }
            takePlain(content, direction)
        }
    }

    private func takePlain(_ bytes: [UInt8], _ direction: Direction) {
        switch state {
        case .undecided:
            early[direction.rawValue] += bytes
            decide()
        case .http(let reading): follow(reading.read(bytes, direction, at: lastTime), reading)
        case .bytes(let exchange): writeSegment(bytes, direction, exchange: exchange)
        case .lost: break
        }
    }

    /// Finds out what is spoken by what the client says first.
    private func decide() {
        let start = early[0]
        guard !start.isEmpty else {
            // Who answers before it is asked speaks no HTTP and no TLS.
            return early[1].isEmpty ? () : begin(.bytes(exchange: nil), "unknown")
        }
        if tls == nil, start.count >= 2, TLSReading.isBegun(by: start) {
            tls = TLSReading(ring)
            record.protocolName = "tls"
            return replay()
        }
        if start.starts(with: [UInt8]("PRI * HTTP/2".utf8)) {
            obstacle = "HTTP/2 is not read from packets"
            writer.losses.note(.http2NotRead, place)
            return begin(.lost, "h2")
        }
        let method = start.prefix { $0 != 0x20 }
        guard method.allSatisfy({ $0 &- 0x41 < 26 || $0 == 0x2D }), method.count < Self.earlyLimit
        else { return begin(.bytes(exchange: nil), "unknown") }
        guard method.count < start.count else { return }
        guard start.count > method.count + 2 || start.count >= Self.earlyLimit else { return }
        beginHTTP()
    }

    private func beginHTTP() {
        let reading = HTTP1Reading(
            writer, connection: record.id, scheme: tls == nil ? .http : .https,
            origin: record.originHost)
        begin(.http(reading), "http/1.1")
    }

    private func begin(_ next: State, _ name: String) {
        state = next
        record.protocolName = name
        replay()
    }

    /// Reads again what came before it was known what it is.
    private func replay() {
        let held = early
        early = [[], []]
        for direction in [Direction.request, .response] where !held[direction.rawValue].isEmpty {
            take(held: held[direction.rawValue], direction)
        }
    }

    private func take(held bytes: [UInt8], _ direction: Direction) {
        if tls != nil, case .undecided = state {
            take(bytes, direction)
        } else {
            takePlain(bytes, direction)
        }
    }

    private func follow(_ turn: HTTP1Reading.Turn, _ reading: HTTP1Reading) {
        record.exchangeCount = max(record.exchangeCount, reading.exchangeCount)
        switch turn {
        case .none: return
        case .broken(let violation):
            obstacle = "no sound HTTP/1: \(violation.rawValue)"
            writer.losses.note(.malformedHTTP, place)
            reading.finish(at: lastTime, .broken)
            state = .lost
        case .upgraded(let exchange):
            writer.losses.note(.upgradeAsSegments, "exchange \(exchange)")
            state = .bytes(exchange: exchange)
            early = [reading.rest(.request), reading.rest(.response)]
            replay()
        case .tunnel(let target):
            enterTunnel(target)
            early = [reading.rest(.request), reading.rest(.response)]
            state = .undecided
            if !early[0].isEmpty || !early[1].isEmpty { decide() }
        }
    }

    private func enterTunnel(_ target: String) {
        record.mode = .explicit
        record.originAddress = nil
        guard let colon = target.lastIndex(of: ":") else { return }
        record.originHost = target[..<colon].filter { $0 != "[" && $0 != "]" }
        record.originPort = UInt16(target[target.index(after: colon)...]) ?? 0
    }

    private func writeSegment(_ bytes: [UInt8], _ direction: Direction, exchange: Int64?) {
        guard !bytes.isEmpty else { return }
        record.messageCount += 1
        var message = MessageRecord(
            connection: record.id, exchange: exchange, number: record.messageCount, at: lastTime,
            direction: direction, kind: .segment)
        message.bytes = bytes
        message.size = Int64(bytes.count)
        writer.write(message: message)
    }

    // MARK: The end

    private var place: String { "connection \(record.id)" }

    /// Ends with the connection, or with the file.
    func finish() {
        if case .undecided = state, tls == nil, early.contains(where: { !$0.isEmpty }) {
            begin(.bytes(exchange: nil), "unknown")
        }
        let hasGap = order[0].hasGap || order[1].hasGap || order[0].isWaiting || order[1].isWaiting
        if case .http(let reading) = state {
            let isMissing = hasGap || !isOver
            reading.finish(at: lastTime, isMissing ? .missing : isReset ? .broken : .orderly)
        }
        if hasGap { writer.losses.note(.packetsMissing, place) }
        record.closedAt = isOver ? lastTime : nil
        record.clientTLS = tls?.record
        if let name = tls?.record.sni, !name.isEmpty { record.originHost = name }
        record.notes.append(
            ConnectionNote("imported-packets", "read from packets that another program caught"))
        judge(hasGap: hasGap)
        writer.write(.connection(record))
    }

    private func judge(hasGap: Bool) {
        record.outcome = isReset ? .broken : isOver ? .completed : .lost
        if hasGap { record.cause = "packets are missing" }
        if let obstacle {
            record.cause = obstacle
            record.outcome = .passedThrough
        }
        guard let tls else { return }
        let reason = tls.obstacle ?? (hasGap ? "packets are missing" : nil)
        let refusal = tls.record.alerts.last { alert in
            alert.sender == .peer && alert.fatal && Self.refusesCertificate(alert.name)
        }
        if let refusal, !tls.record.handshakeCompleted || record.exchangeCount == 0 {
            record.outcome = .clientRefused
            record.cause = "client sent the alert \(refusal.name)"
        } else if let reason {
            record.outcome = .passedThrough
            record.cause = "not decrypted: \(reason)"
            writer.losses.note(.notDecrypted, "\(place): \(reason)")
        } else if !tls.record.handshakeCompleted {
            record.outcome = .clientHandshakeFailed
            record.cause = "the handshake did not end"
        }
    }

    private static func refusesCertificate(_ name: String) -> Bool {
        TLSAlert.code(named: name).map {
            TLSAlert(isFatal: true, code: $0).refusesCertificate
        } ?? false
    }
}
