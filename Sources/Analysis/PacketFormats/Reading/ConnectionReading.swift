internal import Base
internal import Contents
internal import Formats
internal import HTTPCodecs
internal import HTTPModel
internal import Recording
internal import TLS
internal import Traffic

/// Reads one TCP connection: puts its bytes in order, takes TLS off, and tells what was said.
final class ConnectionReading {
    private(set) var record: ConnectionRecord
    private let writer: ImportWriter
    private let messages: ImportedMessages
    private let ring: KeyRing
    private var client: PacketEndpoint
    private var origin: PacketEndpoint
    /// How the client came in, where the file tells it.
    private let way: PacketWay?
    /// Whether a tunnel was asked for by HTTP.
    private var isTunnel = false
    private var order: [2 of TCPReassembler] = [TCPReassembler(), TCPReassembler()]
    private var tls: TLSReading?
    private var state = State.undecided
    /// By `Direction.rawValue`: what came before it was known what is spoken.
    private var early: [[UInt8]] = [[], []]
    private var lastTime: Timestamp
    /// Whether its first packet was caught.
    private var hasBeginning = false
    private(set) var isOver = false
    private var isReset = false
    private var obstacle: String?
    /// What was spoken before TLS began in mid-stream.
    private var outerName: String?

    private enum State {
        case undecided
        case http(HTTP1Reading)
        case http2(HTTP2Reading)
        /// What is no HTTP.
        case dialogue(DialogueReading)
        /// Bytes of no protocol that is known, behind the exchange that led to them.
        case bytes(OpenExchange)
        case webSocket(OpenExchange, WebSocketRecorder)
        /// Nothing more is told.
        case lost
    }

    /// How the first frame of a server of HTTP/2 begins; `nil` for its size.
    private static let settings: [UInt8?] = [0, nil, nil, 4, 0, 0, 0, 0, 0]
    /// In bytes: what a server of HTTP/2 may say before its client has.
    private static let answerLimit = 1 << 20

    init(
        id: Int64, client: PacketEndpoint, origin: PacketEndpoint, by way: PacketWay?,
        at time: Timestamp, _ writer: ImportWriter, _ ring: KeyRing, _ room: WebSocketRoom
    ) {
        self.writer = writer
        messages = ImportedMessages(writer, connection: id, at: time, room)
        self.ring = ring
        self.client = client
        self.origin = origin
        self.way = way
        lastTime = time
        record = ConnectionRecord(
            id: id, openedAt: time, client: client.text, listener: origin.text, mode: .transparent)
        nameOrigin()
    }

    private func nameOrigin() {
        record.client = client.text
        record.listener = origin.text
        record.originAddress = origin.text
        record.originPort = origin.port
        record.originHost = origin.host
        guard let way else { return }
        record.mode = way.mode
        record.originAddress = nil
        record.originHost = way.origin?.host ?? ""
        record.originPort = way.origin?.port ?? 0
        if way.hasLogin { record.notes.append(.proxyLogin) }
    }

    /// Takes the ends for each other, before anything was told of what they said.
    private func turnAround() {
        swap(&client, &origin)
        order.swapAt(0, 1)
        early.swapAt(0, 1)
        record.clientBytes = ByteCount(
            received: record.clientBytes.sent, sent: record.clientBytes.received)
        nameOrigin()
    }

    /// Who is the origin is decided by what is said, then by who opened the connection, or by the
    /// ports.
    ///
    /// - Returns: whether more has to be heard.
    private func findOrigin() -> Bool {
        let sides = early.map(SpeakingSide.of)
        if sides[1] == .client, sides[0] != .client { turnAround() }
        if sides[0] == .origin, sides[1] != .origin { turnAround() }
        return early[0].isEmpty && SpeakingSide.mayTurnOut(early[1])
    }

    func take(_ segment: TCPSegment) {
        lastTime = segment.at
        messages.messageTime = segment.at
        hasBeginning = hasBeginning || segment.isSYN
        let direction = segment.source == client ? Direction.request : .response
        let bytes = order[direction.rawValue].take(segment)
        if direction == .request {
            record.clientBytes.received += Int64(bytes.count)
        } else {
            record.clientBytes.sent += Int64(bytes.count)
        }
        if !bytes.isEmpty { take(bytes, direction) }
        if segment.isFIN || segment.isRST, record.closedBy == nil {
            record.closedBy = segment.source == client ? .client : .origin
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
            if early[0].count + early[1].count > Self.answerLimit { return beginBytes() }
            // A long line is judged by its end.
            let isWaiting = direction == .response ? !early[0].isEmpty : early[0].count > 256
            if !isWaiting || bytes.contains(0x0A) || early[0].count >= 8192 { decide() }
        case .http(let reading): follow(reading.read(bytes, direction, at: lastTime), reading)
        case .http2(let reading):
            follow(reading.read(bytes, direction, at: lastTime), reading)
        case .dialogue(let reading):
            if case .secured(let command, let rest) = reading.read(bytes, direction) {
                secure(command, rest)
            }
        case .bytes(let exchange):
            messages.record(bytes, direction, exchange: exchange.record.id)
        case .webSocket(_, let recorder): messages.observe(direction, bytes, recorder)
        case .lost: break
        }
    }

    /// Whether the way to an origin is being asked for by SOCKS; behind that all is new.
    private func isWithinSOCKS() -> Bool {
        guard let first = early[0].first, first == 4 || first == 5 else { return false }
        switch SOCKSTunnel.judge(client: early[0], origin: early[1]) {
        case .none: return false
        case .needsMore: return true
        case .tunnel(let tunnel):
            messages.record(
                Array(early[0].prefix(tunnel.clientCount)), .request, exchange: nil)
            messages.record(
                Array(early[1].prefix(tunnel.originCount)), .response, exchange: nil)
            early[0].removeFirst(tunnel.clientCount)
            early[1].removeFirst(tunnel.originCount)
            record.mode = .socks
            record.originAddress = nil
            record.originHost = tunnel.host
            record.originPort = tunnel.port
            if early.contains(where: { !$0.isEmpty }) { decide() }
            return true
        }
    }

    /// Finds out what is spoken by what the client says first.
    private func decide() {
        // Nobody has told yet who the origin is.
        let isOpen = way == nil && record.mode == .transparent && tls == nil && outerName == nil
        if isOpen, findOrigin() || isWithinSOCKS() { return }
        let start = early[0]
        // The server may speak first then.
        if tls?.record.alpn == "h2" { return beginHTTP2() }
        guard !start.isEmpty else {
            // Who answers before it is asked speaks no HTTP/1 and no TLS.
            let isSettings = zip(early[1], Self.settings).allSatisfy { $1 == nil || $0 == $1 }
            let mayWait = isSettings && hasBeginning && early[1].count <= Self.answerLimit
            return mayWait ? () : beginBytes()
        }
        if outerName != nil, tls != nil { return beginDialogue() }
        // The second byte tells TLS from anything else.
        if tls == nil, start == [0x16] { return }
        if tls == nil, start.count >= 2, TLSReading.isBegun(by: start) {
            tls = TLSReading(ring)
            record.protocolName = "tls"
            return replay()
        }
        let preface = HTTP2DirectionReader.preface
        if start.prefix(preface.count).elementsEqual(preface.prefix(start.count)) {
            // Its first letters may yet be those of a method.
            return start.count < preface.count ? () : beginHTTP2()
        }
        // Empty lines may stand before a request (RFC 9112 §2.2).
        let first = start.prefix(8).firstIndex { $0 != 0x0D && $0 != 0x0A } ?? start.count
        guard first < start.count || start.count >= 8 else { return }
        switch RequestOpening.judge(start.span, from: first) {
        case true?: beginHTTP()
        case false?: beginBytes()
        case nil: return
        }
    }

    /// Goes on with what is no HTTP, and says why nothing of it is understood where that is known.
    private func beginBytes() {
        let start = early[0].isEmpty ? early[1] : early[0]
        guard !hasBeginning, tls == nil else { return beginDialogue() }
        if start.starts(with: [23, 3]) {
            obstacle = "not decrypted: its handshake was not caught"
            writer.losses.note(.notDecrypted, "\(place): its handshake was not caught")
            begin(.lost, "tls")
        } else if Self.frame(start) != nil {
            // Heads refer to heads that came before.
            obstacle = "HTTP/2 without its beginning"
            writer.losses.note(.http2WithoutBeginning, place)
            begin(.dialogue(DialogueReading(messages)), "h2c")
        } else {
            beginDialogue()
        }
    }

    private func beginDialogue() {
        let reading =
            tls == nil
            ? DialogueReading(messages) : DialogueReading(messages, insideTLSAfter: outerName)
        begin(.dialogue(reading), outerName ?? tls?.record.alpn ?? "unknown")
    }

    /// Goes on with TLS in mid-stream, inside of which the dialogue goes on.
    private func secure(_ command: String, _ rest: [UInt8]) {
        record.upgrade = command
        if case .dialogue(let reading) = state { outerName = reading.protocolName ?? "unknown" }
        tls = TLSReading(ring)
        state = .undecided
        if !rest.isEmpty { take(rest, .request) }
    }

    /// The frame of HTTP/2 that bytes may begin with.
    private static func frame(_ bytes: [UInt8]) -> HTTP2FrameHead? {
        guard bytes.count >= HTTP2FrameHead.length else { return nil }
        let frame = HTTP2FrameHead(bytes[...])
        return frame.isPlausible ? frame : nil
    }

    /// What the proxy that recorded it took every request for, `nil` where each tells it.
    private var toldAuthority: String? {
        guard let way, way.mode != .explicit || isTunnel, !record.originHost.isEmpty else {
            return nil
        }
        let standard: UInt16 = tls == nil ? 80 : 443
        let place = HostPort(host: record.originHost, port: record.originPort).description
        return record.originPort == standard
            ? String(place.dropLast("\(standard)".count + 1)) : place
    }

    private func beginHTTP() {
        let reading = HTTP1Reading(
            writer, messages, connection: record.id, scheme: tls == nil ? .http : .https,
            origin: record.originHost, authority: toldAuthority,
            exchangeCount: record.exchangeCount)
        begin(.http(reading), "http/1.1")
    }

    private func beginHTTP2(_ first: OpenExchange? = nil) {
        let reading = HTTP2Reading(
            writer, messages, connection: record.id, scheme: tls == nil ? .http : .https,
            origin: record.originHost, authority: toldAuthority, first: first,
            exchangeCount: record.exchangeCount)
        begin(.http2(reading), tls == nil ? "h2c" : "h2")
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
        case .unanswered:
            obstacle = "\(HTTP1Reading.openLimit) requests wait for answers"
            reading.finish(at: lastTime, .missing)
            state = .lost
        case .upgraded(let exchange, let response):
            leave(reading)
            let webSocket = messages.webSocket(
                begunBy: response, asked: nil, exchange: exchange.record.id)
            state = webSocket.map { .webSocket(exchange, $0) } ?? .bytes(exchange)
            replay()
        case .http2(let first):
            leave(reading)
            beginHTTP2(first)
        case .tunnel(let target):
            enterTunnel(target)
            leave(reading)
            state = .undecided
            if !early[0].isEmpty || !early[1].isEmpty { decide() }
        }
    }

    /// Takes over what HTTP/1 has not read; what it has read is not answered any more.
    private func leave(_ reading: HTTP1Reading) {
        early = [reading.rest(.request), reading.rest(.response)]
        reading.finish(at: lastTime, .changedOver)
    }

    private func enterTunnel(_ target: String) {
        isTunnel = true
        record.mode = .explicit
        record.originAddress = nil
        guard let colon = target.lastIndex(of: ":") else { return }
        record.originHost = target[..<colon].filter { $0 != "[" && $0 != "]" }
        record.originPort = UInt16(target[target.index(after: colon)...]) ?? 0
    }

    private func follow(_ violation: HTTP2Violation?, _ reading: HTTP2Reading) {
        record.exchangeCount = max(record.exchangeCount, reading.exchangeCount)
        guard let violation else { return }
        obstacle = "no sound HTTP/2: \(violation.detail)"
        writer.losses.note(.malformedHTTP, place)
        reading.finish(at: lastTime, .told(code: violation.code, detail: violation.detail))
        state = .lost
    }

    // MARK: The end

    private var place: String { "connection \(record.id)" }

    /// Ends with the connection, or with the file.
    func finish() {
        if case .undecided = state, tls == nil, early.contains(where: { !$0.isEmpty }) {
            beginDialogue()
        }
        let hasGap = order[0].hasGap || order[1].hasGap || order[0].isWaiting || order[1].isWaiting
        let end: ExchangeEnd =
            hasGap || !isOver ? .missing : isReset ? .broken : .orderly
        switch state {
        case .http(let reading): reading.finish(at: lastTime, end)
        case .http2(let reading): reading.finish(at: lastTime, end)
        case .webSocket(let exchange, let recorder):
            messages.finish(recorder)
            exchange.write(at: lastTime)
        case .dialogue(let reading):
            reading.finish()
            if let name = reading.protocolName { record.protocolName = name }
        case .bytes(let exchange): exchange.write(at: lastTime)
        case .undecided, .lost: break
        }
        record.messageCount = messages.messageCount
        if hasGap {
            writer.losses.note(.packetsMissing, place)
            messages.noteOnce(.packetsMissing, "packets of it are missing")
        }
        if let outerName { record.protocolName = outerName }
        record.closedAt = isOver ? lastTime : nil
        record.clientTLS = tls?.record
        if let name = tls?.record.sni, !name.isEmpty, way?.origin == nil {
            record.originHost = name
        }
        if let tls = tls?.record, !tls.chain.isEmpty {
            let flaws = ChainFlaws.of(
                tls.chain, at: record.openedAt.microseconds / 1_000_000, host: tls.sni)
            record.clientTLS?.verifyError = flaws.isEmpty ? nil : flaws.joined(separator: "; ")
        }
        record.notes += messages.notes
        record.notes.append(way == nil ? .importedPackets : .importedRecording)
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
