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
