import Base
import TLS
import Traffic

/// A capture in memory.
struct RecordedTraffic: TrafficSource {
    var connectionRecords: [ConnectionRecord] = []
    var exchangeRecords: [ExchangeRecord] = []
    var messageRecords: [MessageRecord] = []

    func connections(_ visit: (ConnectionRecord) throws -> Bool) throws {
        for record in connectionRecords { guard try visit(record) else { return } }
    }

    func exchanges(_ visit: (ExchangeRecord) throws -> Bool) throws {
        for record in exchangeRecords { guard try visit(record) else { return } }
    }

    func exchange(_ id: Int64) throws -> ExchangeRecord? {
        exchangeRecords.first { $0.id == id }
    }

    func body(
        ofExchange id: Int64, _ direction: Direction, _ visit: ([UInt8]) throws -> Bool
    ) throws {
        guard let record = try exchange(id) else { return }
        _ = try visit(direction == .request ? record.requestBody.bytes : record.responseBody.bytes)
    }

    func messages(
        ofConnection id: Int64, exchange: Int64?, _ visit: (MessageRecord) throws -> Bool
    ) throws {
        for record in messageRecords
        where record.connection == id && (exchange == nil || record.exchange == exchange) {
            guard try visit(record) else { return }
        }
    }

    // MARK: What is recorded

    static let start = Timestamp(microseconds: 1_700_000_000_000_000)

    /// A connection in TLS on both legs.
    mutating func addConnection(_ version: String, _ cipher: String, alpn: String) -> Int64 {
        let id = Int64(connectionRecords.count + 1)
        let opened = Self.start.later(milliseconds: id * 100)
        var record = ConnectionRecord(
            id: id, openedAt: opened, client: "127.0.0.1:\(40_000 + id)",
            listener: "127.0.0.1:9443", mode: .reverse)
        record.closedAt = opened.later(milliseconds: 90)
        record.originHost = "origin.example"
        record.originPort = 443
        record.originAddress = "203.0.113.7:443"
        record.outcome = .completed
        record.clientTLS = Self.tls(version, cipher, alpn: alpn, seed: UInt8(id))
        record.originTLS = Self.tls(version, cipher, alpn: alpn, seed: UInt8(id) | 0x80)
        connectionRecords.append(record)
        return id
    }

    mutating func addExchange(
        on connection: Int64, http2 stream: Int32? = nil, request: [UInt8] = [],
        response: [UInt8]
    ) {
        let id = Int64(exchangeRecords.count + 1)
        let opened = connectionRecords[Int(connection) - 1].openedAt
        var record = ExchangeRecord(
            id: id, connection: connection,
            startedAt: opened.later(milliseconds: 1 + Int64(stream ?? 0)),
            scheme: .https, authority: "origin.example")
        let version = stream == nil ? "HTTP/1.1" : "HTTP/2.0"
        let method = request.isEmpty ? "GET" : "POST"
        let length = request.isEmpty ? "" : "content-length: \(request.count)\r\n"
        record.requestHead = [UInt8](
            "\(method) /file-\(id) \(version)\r\nhost: origin.example\r\ncookie: s=hush\r\n\(length)\r\n"
                .utf8)
        record.responseHead = [UInt8](
            "\(version) 200\(stream == nil ? " OK" : "")\r\ncontent-type: application/octet-stream\r\ncontent-length: \(response.count)\r\n\r\n"
                .utf8)
        record.requestBody.bytes = request
        record.requestBody.size = Int64(request.count)
        record.responseBody.bytes = response
        record.responseBody.size = Int64(response.count)
        record.status = 200
        record.firstByteMicroseconds = 2000
        record.durationMicroseconds = 5000
        record.stream = stream ?? 0
        record.protocolName = stream == nil ? "HTTP/1.1" : "HTTP/2"
        connectionRecords[Int(connection) - 1].exchangeCount += 1
        exchangeRecords.append(record)
    }

    /// The exchange that a connection of HTTP/1 changed over to HTTP/2 with.
    mutating func addChangeover(on connection: Int64) {
        addExchange(on: connection, http2: 1, response: [7, 8])
        let last = exchangeRecords.count - 1
        exchangeRecords[last].protocolName = "HTTP/1.1"
        exchangeRecords[last].requestHead = [UInt8](
            """
            GET /1 HTTP/1.1\r\nHost: origin.example\r\nConnection: Upgrade, HTTP2-Settings\r
            Upgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n
            """.utf8)
        exchangeRecords[last].interimHeads = [
            [UInt8](
                "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
                    .utf8),
            [UInt8]("HTTP/2.0 103\r\nlink: </a.css>\r\n\r\n".utf8),
        ]
    }

    /// A call of gRPC with two messages each way.
    mutating func addStreams(on connection: Int64, http2 stream: Int32?) {
        let content: [UInt8] = [0, 0, 0, 0, 1, 9, 1, 0, 0, 0, 2, 8, 9]
        addExchange(on: connection, http2: stream, request: content, response: content)
        let last = exchangeRecords.count - 1
        let version = stream == nil ? "HTTP/1.1" : "HTTP/2.0"
        let fields = "content-type: application/grpc\r\ncontent-length: 13\r\n\r\n"
        exchangeRecords[last].requestHead = [UInt8](
            "POST /call \(version)\r\nhost: origin.example\r\n\(fields)".utf8)
        exchangeRecords[last].responseHead = [UInt8](
            "\(version) 200\(stream == nil ? " " : "")\r\n\(fields)".utf8)
        for direction in [Direction.request, .response] {
            for (offset, size) in [(0, 1), (6, 2)] as [(Int64, Int64)] {
                var message = nextMessage(.grpc, direction)
                message.offset = offset
                message.size = size
                message.detail = offset == 0 ? "" : "compressed"
                messageRecords.append(message)
            }
        }
    }

    /// A WebSocket behind an upgrade, or on a stream.
    mutating func addWebSocket(on connection: Int64, http2 stream: Int32?) {
        addExchange(on: connection, http2: stream, response: [])
        let last = exchangeRecords.count - 1
        exchangeRecords[last].requestHead = [UInt8](
            (stream == nil
                ? "GET /chat HTTP/1.1\r\nHost: origin.example\r\nUpgrade: websocket\r\n\r\n"
                : "CONNECT /chat HTTP/2.0\r\nhost: origin.example\r\n:protocol: websocket\r\n\r\n")
                .utf8)
        exchangeRecords[last].responseHead = [UInt8](
            (stream == nil
                ? "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n"
                : "HTTP/2.0 200\r\n\r\n").utf8)
        exchangeRecords[last].status = stream == nil ? 101 : 200
        let kinds: [(MessageRecord.Kind, [UInt8])] = [
            (.text, [0x68, 0x69]), (.binary, Self.content(7, 300_000)), (.ping, [1]), (.pong, []),
            (.close, [0x62]),
        ]
        for (kind, content) in kinds {
            for direction in [Direction.request, .response] {
                var message = nextMessage(kind, direction)
                message.detail = kind == .close ? "1000 b" : ""
                for part in stride(from: 0, to: max(1, content.count), by: 256 << 10) {
                    message.bytes = [UInt8](content.dropFirst(part).prefix(256 << 10))
                    message.size = Int64(message.bytes.count)
                    message.part = part / (256 << 10)
                    message.isLast = part + message.bytes.count == content.count
                    messageRecords.append(message)
                }
            }
        }
    }

    private func nextMessage(_ kind: MessageRecord.Kind, _ direction: Direction) -> MessageRecord {
        let exchange = exchangeRecords[exchangeRecords.count - 1]
        let number = (messageRecords.last?.number ?? 0) + 1
        return MessageRecord(
            connection: exchange.connection, exchange: exchange.id, number: number,
            at: exchange.startedAt.later(milliseconds: 3), direction: direction, kind: kind)
    }

    static func told(_ message: MessageRecord) -> String {
        "\(message.exchange ?? 0) \(message.number).\(message.part) \(message.direction) "
            + "\(message.kind) \(message.size) \(message.isLast) \(message.detail) "
            + "\(message.offset ?? -1) \(Digests.sha256(message.bytes).hex.prefix(8))"
    }

    private static func tls(
        _ version: String, _ cipher: String, alpn: String, seed: UInt8
    ) -> TLSRecord {
        var record = TLSRecord()
        record.version = version
        record.cipher = cipher
        record.alpn = alpn
        record.sni = "origin.example"
        record.handshakeCompleted = true
        record.alerts = [AlertRecord(sender: .peer, fatal: false, name: "close_notify")]
        let random = Digests.sha256([seed]).hex
        func secret(_ number: UInt8, _ count: Int) -> String {
            let long = Digests.sha256([seed, number]) + Digests.sha256([seed, number, 1])
            return long.prefix(count).hex
        }
        if version == "TLSv1.2" {
            record.keyLog = ["CLIENT_RANDOM \(random) \(secret(0, 48))"]
        } else {
            let size = cipher.hasSuffix("384") ? 48 : 32
            record.keyLog = [
                "CLIENT_HANDSHAKE_TRAFFIC_SECRET \(random) \(secret(1, size))",
                "SERVER_HANDSHAKE_TRAFFIC_SECRET \(random) \(secret(2, size))",
                "CLIENT_TRAFFIC_SECRET_0 \(random) \(secret(3, size))",
                "SERVER_TRAFFIC_SECRET_0 \(random) \(secret(4, size))",
            ]
        }
        return record
    }

    /// Bytes that differ from call to call.
    static func content(_ seed: UInt8, _ count: Int) -> [UInt8] {
        var bytes = Digests.sha256([seed])
        while bytes.count < count { bytes += Digests.sha256(bytes.suffix(64)) }
        return [UInt8](bytes.prefix(count))
    }
}

extension Timestamp {
    func later(milliseconds: Int64) -> Timestamp {
        Timestamp(microseconds: microseconds + milliseconds * 1000)
    }
}

extension Digests {
    fileprivate static func sha256(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        sha256([UInt8](bytes))
    }
}
