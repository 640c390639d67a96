internal import Base
internal import Contents
internal import Traffic

/// One connection on one interface: what is said on it becomes records, segments and packets.
struct PacketLeg {
    let role: Role
    private let plan: LegPlan
    private var tcp: TCPConversation
    private var tls: TLSLeg?
    private let isProtected: Bool
    private var preamble: [(Direction, [UInt8])]
    private var http1: HTTP1LegWriter
    private var http2 = HTTP2LegWriter()
    private var streams: [Int64: UInt32] = [:]
    /// Whether nothing can follow a message that was written.
    private var isBroken = false
    private var openings: UInt32 = 0
    /// Whether what comes before the first content was written.
    private var isSecured = false
    private var lastTime: Timestamp
    private let seed: UInt32
    private var comment: String
    /// What the first packet tells of its connection.
    private var way: PacketWay?

    enum Role: UInt32 {
        case client = 0
        case server = 1
        case decrypted = 2
    }

    init(_ plan: LegPlan) {
        role = plan.role
        self.plan = plan
        seed = UInt32(truncatingIfNeeded: plan.connection)
        tcp = TCPConversation(client: plan.client, origin: plan.origin, seed: seed)
        tls = plan.tls
        isProtected = plan.tls != nil
        preamble = plan.preamble
        http1 = HTTP1LegWriter(isWithoutContent: plan.isWithoutContent)
        lastTime = plan.openedAt
        comment = plan.comment
    }

    /// Whether content can be written here.
    var canCarryContent: Bool { tls.map { $0.gap == nil } ?? true }

    // MARK: The connection

    mutating func open(at time: Timestamp, _ file: inout PacketFileWriter) throws {
        guard openings == 0 else { return }
        try begin(at: time, &file)
    }

    private mutating func begin(at time: Timestamp, _ file: inout PacketFileWriter) throws {
        openings += 1
        lastTime = time
        way = plan.way
        for packet in tcp.opened() { try add(packet, flow: nil, &file) }
    }

    /// Writes what comes before the first content: how the way was asked for, and the handshake.
    mutating func secure(_ file: inout PacketFileWriter) throws {
        guard !isSecured else { return }
        isSecured = true
        try open(at: lastTime, &file)
        let flights = preamble + (tls?.open() ?? [])
        preamble = []
        for (direction, bytes) in flights {
            try carry(direction, bytes, flow: nil, &file)
        }
    }

    /// Writes alerts and the end.
    mutating func close(_ ending: LegEnding, _ file: inout PacketFileWriter) throws {
        try open(at: ending.time, &file)
        if isProtected { try secure(&file) }
        lastTime = max(lastTime, ending.time)
        for alert in ending.alerts {
            let fromClient = (alert.sender == .peer) == (role == .client)
            let direction = fromClient ? Direction.request : .response
            guard let record = tls?.alert(direction, alert) else { continue }
            comment += "alert \(alert.name)"
            try carry(direction, record, flow: nil, &file)
        }
        comment += ending.comment
        guard ending.isClosed else { return }
        for packet in tcp.closed(by: ending.first, reset: ending.isReset) {
            try add(packet, flow: nil, &file)
        }
    }

    // MARK: What is said

    /// Writes bytes that are no exchange of HTTP.
    mutating func write(
        _ direction: Direction, _ bytes: [UInt8], at time: Timestamp, flow: Int64?,
        _ file: inout PacketFileWriter
    ) throws {
        try secure(&file)
        lastTime = time
        // So that memory is bounded: sealing makes copies.
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(RecordProtection.contentLimit)
            rest = rest.dropFirst(piece.count)
            let record = isProtected ? tls?.seal(direction, piece) ?? [] : [UInt8](piece)
            try carry(direction, record, flow: flow, &file)
        }
    }

    /// Writes a part of an exchange, in the protocol that this leg spoke.
    mutating func write(
        _ part: ExchangePart, of exchange: ExchangeRecord, at time: Timestamp,
        _ file: inout PacketFileWriter
    ) throws {
        if case .requestHead = part, exchange.isConnect {
            // Before any TLS: the way was asked for in plain.
            preamble = []
            try open(at: time, &file)
        }
        if case .requestHead = part { try beginAnew(at: time, &file) }
        guard !exchange.isConnect else {
            lastTime = time
            return try carry(
                part.direction, spelled(part, exchange), flow: exchange.id, &file)
        }
        let isPromise = if case .requestHead = part { exchange.isPushed } else { false }
        let direction = isPromise && speaksHTTP2(exchange) ? .response : part.direction
        let bytes =
            speaksHTTP2(exchange) && !exchange.isBeforeSwitch(part)
            ? try framed(part, exchange, time, &file) : spelled(part, exchange)
        try write(direction, bytes, at: time, flow: exchange.id, &file)
        if case .responseEnd = part, !speaksHTTP2(exchange), exchange.isCut { isBroken = true }
    }

    /// Ends what cannot go on, and begins another connection for the next exchange.
    private mutating func beginAnew(at time: Timestamp, _ file: inout PacketFileWriter) throws {
        guard isBroken else { return }
        isBroken = false
        comment += "ended here because a content was not kept whole; what follows is on another"
        for packet in tcp.closed(by: .request, reset: false) { try add(packet, flow: nil, &file) }
        tcp = TCPConversation(
            client: plan.client, origin: plan.origin, seed: seed &+ openings &* 0x0100_0000)
        tls = plan.tls
        preamble = plan.preamble
        isSecured = false
        try begin(at: time, &file)
    }

    /// What the exchange was spoken in on this leg.
    func speaksHTTP2(_ exchange: ExchangeRecord) -> Bool {
        switch role {
        case .client: exchange.protocolName == "HTTP/2" || exchange.isSwitched
        case .server:
            (exchange.originProtocolName ?? exchange.protocolName) == "HTTP/2"
                || exchange.isSwitched
        case .decrypted: false
        }
    }

    private mutating func spelled(_ part: ExchangePart, _ exchange: ExchangeRecord) -> [UInt8] {
        switch part {
        case .requestHead:
            http1.head(
                exchange.requestHead, .request, hasContent: exchange.requestBody.size > 0)
        case .interim(let head):
            // Where all is spelled as HTTP/1, nothing changes over.
            role == .decrypted && exchange.isSwitched && RecordedHead(head).status == 101
                ? [] : http1.head(head, .response, hasContent: false)
        case .responseHead:
            http1.head(
                exchange.responseHead, .response,
                hasContent: exchange.responseBody.size > 0 && !exchange.leavesHTTP)
        case .content(let direction, let bytes): http1.content(bytes, direction)
        case .requestEnd:
            exchange.requestBody.isTruncated
                ? [] : http1.end(.request, trailers: exchange.requestBody.trailers)
        case .responseEnd:
            exchange.responseBody.isTruncated || exchange.error != nil
                ? [] : http1.end(.response, trailers: exchange.responseBody.trailers)
        }
    }

    private mutating func framed(
        _ part: ExchangePart, _ exchange: ExchangeRecord, _ time: Timestamp,
        _ file: inout PacketFileWriter
    ) throws -> [UInt8] {
        for (direction, bytes) in http2.preface() {
            try write(direction, bytes, at: time, flow: nil, &file)
        }
        let isKept = role == .client || exchange.isPushed
        let stream = streams[exchange.id] ?? http2.stream(recorded: isKept ? exchange.stream : 0)
        if streams.updateValue(stream, forKey: exchange.id) == nil { http2.open(stream) }
        switch part {
        case .requestHead where exchange.isPushed:
            return http2.promise(
                exchange.requestHead, scheme: exchange.scheme.rawValue,
                authority: exchange.authority, stream: stream)
        case .requestHead:
            return http2.requestHead(
                exchange.requestHead, scheme: exchange.scheme.rawValue,
                authority: exchange.authority, stream: stream,
                isEnd: exchange.requestBody.isEmpty && !exchange.leavesHTTP)
        case .interim(let head):
            return http2.responseHead(head, stream: stream, isEnd: false)
        case .responseHead:
            return http2.responseHead(
                exchange.responseHead, stream: stream,
                isEnd: exchange.responseBody.isEmpty && !exchange.leavesHTTP)
        case .content(_, let bytes): return http2.content(bytes, stream: stream)
        case .requestEnd:
            guard !exchange.requestBody.isEmpty || exchange.leavesHTTP, !exchange.isPushed else {
                return []
            }
            return http2.end(trailers: exchange.requestBody.trailers, stream: stream)
        case .responseEnd:
            streams[exchange.id] = nil
            http2.close(stream)
            if exchange.isCut { return http2.reset(stream: stream, code: 8) }
            guard !exchange.responseBody.isEmpty || exchange.leavesHTTP else { return [] }
            return http2.end(trailers: exchange.responseBody.trailers, stream: stream)
        }
    }

    // MARK: Packets

    private mutating func carry(
        _ direction: Direction, _ bytes: [UInt8], flow: Int64?, _ file: inout PacketFileWriter
    ) throws {
        for packet in tcp.packets(direction, bytes[...]) { try add(packet, flow: flow, &file) }
    }

    private mutating func add(
        _ packet: [UInt8], flow: Int64?, _ file: inout PacketFileWriter
    ) throws {
        var options: [PacketOption] = []
        if let way = way.take() { options.append(.comment(way.comment)) }
        if let flow { options.append(.flow(flow)) }
        if !comment.isEmpty { options.append(.comment(comment)) }
        comment = ""
        try file.addPacket(
            interface: role.rawValue, at: lastTime, packet, options: options)
    }
}

/// What a leg is made from.
struct LegPlan {
    let role: PacketLeg.Role
    let connection: Int64
    let client: PacketEndpoint
    let origin: PacketEndpoint
    let openedAt: Timestamp
    var tls: TLSLeg?
    /// What is said before TLS.
    var preamble: [(Direction, [UInt8])] = []
    var isWithoutContent = false
    /// How its client came in; `nil` for a leg to an origin.
    var way: PacketWay?
    /// For its first packet.
    var comment = ""
}

/// How a leg ended.
struct LegEnding {
    let time: Timestamp
    var alerts: [AlertRecord] = []
    /// Whose end came first.
    var first = Direction.request
    var isReset = false
    /// Whether it ended at all while it was recorded.
    var isClosed = true
    var comment = ""
}

/// What an exchange is written in.
enum ExchangePart {
    case requestHead
    case requestEnd
    case interim([UInt8])
    case responseHead
    case content(Direction, [UInt8])
    case responseEnd

    var direction: Direction {
        switch self {
        case .requestHead, .requestEnd: .request
        case .interim, .responseHead, .responseEnd: .response
        case .content(let direction, _): direction
        }
    }
}
