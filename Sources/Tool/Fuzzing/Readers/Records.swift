internal import Base
internal import Traffic

/// Records whose fields are taken from bytes, with any number that readers of files let through.
enum Records {
    /// One exchange of each usual kind.
    static let sample = makeSample()

    private static func makeSample() -> [TrafficEvent] {
        var connection = ConnectionRecord(
            id: 1, openedAt: Timestamp(microseconds: 1_700_000_000_000_000),
            client: "127.0.0.1:1000",
            listener: "127.0.0.1:8080", mode: .explicit)
        connection.closedAt = Timestamp(microseconds: 1_700_000_001_000_000)
        connection.originHost = "a.example"
        connection.originPort = 443
        connection.originAddress = "192.0.2.1:443"
        connection.outcome = .completed
        connection.protocolName = "HTTP/1.1"
        connection.exchangeCount = 2
        var tls = TLSRecord()
        tls.version = "TLSv1.3"
        tls.cipher = "TLS_AES_128_GCM_SHA256"
        tls.sni = "a.example"
        tls.chain = [sampleCertificate]
        tls.handshakeCompleted = true
        connection.clientTLS = tls
        connection.originTLS = tls
        var exchange = Sample.exchange
        exchange.responseHead = Array(
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nSet-Cookie: a=b; Max-Age=5\r\n\r\n".utf8
        )
        exchange.responseBody.bytes = Array("hello".utf8)
        exchange.responseBody.size = 5
        var socket = ExchangeRecord(
            id: 2, connection: 1, startedAt: Timestamp(microseconds: 1_700_000_000_500_000),
            scheme: .https, authority: "a.example")
        socket.requestHead = Array(
            "GET /w HTTP/1.1\r\nHost: a.example\r\nUpgrade: websocket\r\n\r\n".utf8)
        socket.responseHead = Array("HTTP/1.1 101 S\r\nUpgrade: websocket\r\n\r\n".utf8)
        socket.status = 101
        var message = MessageRecord(
            connection: 1, exchange: 2, number: 1, at: socket.startedAt, direction: .request,
            kind: .text)
        message.bytes = Array("hi".utf8)
        message.size = 2
        return [.message(message), .exchange(exchange), .exchange(socket), .connection(connection)]
    }

    /// What `made` takes for one connection with a cookie.
    static let seed = makeSeed()

    private static func makeSeed() -> [UInt8] {
        var bytes: [UInt8] = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]
        bytes += Array("HTTP/1.1 200 OK\r\nSet-Cookie: a=b; Max-Age=12; Path=/\r\n\r\n".utf8)
        return bytes
    }

    static func made(of bytes: [UInt8]) -> [TrafficEvent] {
        var source = NumberSource(bytes)
        var events: [TrafficEvent] = []
        var connection = ConnectionRecord(
            id: source.identifier(), openedAt: source.time(), client: "127.0.0.1:1000",
            listener: source.choice(["127.0.0.1:8080", "x", ""]),
            mode: source.choice(ConnectionRecord.Mode.allCases))
        if source.flag() { connection.closedAt = source.time() }
        connection.exchangeCount = source.amount()
        connection.messageCount = source.amount()
        connection.clientBytes = ByteCount(received: source.amount(), sent: source.amount())
        connection.outcome = source.choice(ConnectionRecord.Outcome.allCases)
        connection.originHost = source.choice(["a.example", "", "[", "::1", "x\r\ny"])
        connection.originPort = UInt16(truncatingIfNeeded: source.number())
        if source.flag() { connection.clientTLS = tls(&source) }
        if source.flag() { connection.originTLS = tls(&source) }
        for _ in 0..<source.count(3) {
            let exchange = exchange(&source, on: connection)
            events.append(.exchange(exchange))
            for _ in 0..<source.count(3) {
                events.append(.message(message(&source, of: exchange)))
            }
        }
        for _ in 0..<source.count(2) {
            var message = message(&source, of: nil)
            if source.flag() { message.detail = source.text() }
            events.append(.message(message))
        }
        events.append(.connection(connection))
        return events
    }

    private static func exchange(
        _ source: inout NumberSource, on connection: ConnectionRecord
    ) -> ExchangeRecord {
        var record = ExchangeRecord(
            id: source.identifier(), connection: connection.id, startedAt: source.time(),
            scheme: source.flag() ? .http : .https,
            authority: source.choice(["a.example", "", "a:b", "[::1]:80"]))
        if source.flag() { record.durationMicroseconds = source.amount() }
        if source.flag() { record.firstByteMicroseconds = source.amount() }
        record.status = Int(source.amount() % 1000)
        record.stream = Int32(truncatingIfNeeded: source.number())
        record.protocolName = source.choice(["HTTP/1.1", "HTTP/2", "HTTP/1.0", "", "HTTP/3"])
        record.requestHead = Array(
            source.choice([
                "GET / HTTP/1.1\r\nHost: a\r\nCookie: a=b\r\n\r\n", "", "x", "\r\n",
                "GET /f HTTP/1.1\r\nHost: a\r\nRange: bytes=5-\r\n\r\n",
                "PATCH /u HTTP/1.1\r\nHost: a\r\nUpload-Offset: 5\r\n\r\n",
                "PUT /u HTTP/1.1\r\nHost: a\r\nContent-Range: bytes 0-4/9\r\n\r\n",
            ]).utf8)
        record.requestBody = body(&source)
        record.responseBody = body(&source)
        if source.flag() { record.interimHeads = [Array(source.text().utf8)] }
        record.responseHead = Array(source.text().utf8)
        return record
    }

    private static func body(_ source: inout NumberSource) -> BodyRecord {
        var body = BodyRecord()
        body.size = source.amount()
        body.isTruncated = source.flag()
        body.bytes = Array(source.choice(["", "a", #"{"a":1}"#, "a=b"]).utf8)
        body.chunkCount = Int(source.amount() & 3)
        return body
    }

    private static func message(
        _ source: inout NumberSource, of exchange: ExchangeRecord?
    ) -> MessageRecord {
        var record = MessageRecord(
            connection: exchange?.connection ?? source.identifier(), exchange: exchange?.id,
            number: source.number(), at: source.time(),
            direction: source.flag() ? .request : .response,
            kind: source.choice(MessageRecord.Kind.allCases))
        record.size = source.amount()
        record.part = Int(source.amount())
        if source.flag() { record.offset = source.amount() }
        record.isLast = source.flag()
        record.isTruncated = source.flag()
        record.bytes = Array(source.choice(["", "abc", "\u{3}\u{E8}x"]).utf8)
        return record
    }

    private static func tls(_ source: inout NumberSource) -> TLSRecord {
        var record = TLSRecord()
        record.version = source.choice([nil, "TLSv1.2", "TLSv1.3", "SSLv3", ""])
        record.cipher = source.choice([
            nil, "TLS_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256", "",
        ])
        record.alpn = source.choice([nil, "h2", "http/1.1"])
        record.sni = source.choice([nil, "a.example", String(repeating: "a", count: 300)])
        record.chain = source.choice([[], [[]], [sampleCertificate], [[1, 2, 3]]])
        record.handshakeCompleted = source.flag()
        record.clientHello = source.choice([[], OpeningSamples.hello, [1]])
        let random = String(repeating: "ab", count: 32)
        record.keyLog = source.choice([
            [], ["CLIENT_TRAFFIC_SECRET_0 \(random) \(random)"], ["x"],
            ["CLIENT_RANDOM \(random) \(random)\(String(repeating: "0", count: 32))"],
        ])
        return record
    }
}

enum OpeningSamples {
    static var hello: [UInt8] { FuzzedReader.helloMessage }
}

/// Numbers of all sizes out of bytes, with the edges of types among them; zeros at the end.
private struct NumberSource {
    private let bytes: [UInt8]
    private var place = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    private mutating func next() -> UInt8 {
        defer { place += 1 }
        return place < bytes.count ? bytes[place] : 0
    }

    /// A number of a record; the highest has no successor, which is known (see `Around`).
    mutating func identifier() -> Int64 {
        let number = number()
        return Around.isSet && number == .max ? 1 : number
    }

    mutating func number() -> Int64 {
        let edges: [Int64] = [
            0, 1, 2, -1, .max, .min, .max - 1, .min + 1, 1 << 32, 1 << 53, -(1 << 53), 4096,
        ]
        let head = Int(next())
        if head < edges.count * 4 { return edges[head / 4] }
        return (0..<head & 7).reduce(0) { number, _ in number &<< 8 | Int64(next()) }
    }

    /// A size, a count or a duration: readers of files bring them within these bounds.
    mutating func amount() -> Int64 { max(0, min(number(), 1 << 53)) }

    /// A moment of the years 0001 to 9999, as readers of files give it.
    mutating func time() -> Timestamp {
        Timestamp(
            microseconds: max(-62_135_596_800_000_000, min(number(), 253_402_300_799_999_999)))
    }

    mutating func flag() -> Bool { next() & 1 == 1 }
    mutating func count(_ limit: UInt8) -> Int { Int(next() % (limit + 1)) }
    mutating func choice<Value>(_ values: [Value]) -> Value {
        values[Int(next()) % values.count]
    }

    /// What is left up to a NUL.
    mutating func text() -> String {
        guard place < bytes.count else { return "" }
        let rest = bytes[place...].prefix { $0 != 0 }
        place += rest.count + 1
        return String(decoding: rest, as: UTF8.self)
    }
}
