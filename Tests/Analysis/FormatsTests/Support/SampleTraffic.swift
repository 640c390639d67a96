import Base
import HTTPCodecs
import Traffic

/// A capture with one of everything that a format could lose.
enum SampleTraffic {
    static let start: Int64 = 1_773_039_901_250_007

    static func make() -> MemoryTraffic {
        let traffic = MemoryTraffic()
        traffic.submit(connections.map { .connection($0) })
        traffic.submit(exchanges.map { .exchange($0) })
        addLongContent(to: traffic)
        traffic.submit(messages.map { .message($0) })
        return traffic
    }

    static let page = Array(#"{"password":"pa55-word","text":"caf\u00e9"}"#.utf8)

    // MARK: Connections

    private static var connections: [ConnectionRecord] {
        [secure, refused, plain, socket]
    }

    private static func connection(_ id: Int64, _ outcome: ConnectionRecord.Outcome)
        -> ConnectionRecord
    {
        var record = ConnectionRecord(
            id: id, openedAt: time(id), client: "127.0.0.1:5211\(id)", listener: "[::1]:8080",
            mode: .explicit)
        record.closedAt = time(id + 1_000_000)
        record.outcome = outcome
        record.clientBytes = ByteCount(received: id * 1000, sent: 20)
        record.closedBy = .client
        return record
    }

    private static var secure: ConnectionRecord {
        var record = connection(1, .completed)
        record.originHost = "api.example.com"
        record.originPort = 443
        record.originAddress = "[2001:db8::1]:443"
        record.originReused = true
        record.protocolName = "http/1.1"
        record.exchangeCount = 7
        record.process = ProcessRecord(
            id: 7, executable: "/usr/bin/curl", commandLine: ["curl", "https://api.example.com/"])
        record.notes = [ConnectionNote("http3-advertisement-removed", "h3=\":443\"")]
        var tls = TLSRecord()
        tls.version = "TLSv1.3"
        tls.cipher = "TLS_AES_256_GCM_SHA384"
        tls.alpn = "http/1.1"
        tls.sni = "api.example.com"
        tls.ja3 = "e7d705a3286e19ea42f587b344ee6865"
        tls.ja4 = "t13d1516h2_8daaf6152771_b186095e22b6"
        tls.clientHello = [1, 0, 0, 2, 3, 3]
        tls.alerts = [AlertRecord(sender: .peer, fatal: false, name: "close_notify")]
        tls.handshakeCompleted = true
        tls.keyLog = ["CLIENT_RANDOM 00 5ecre7"]
        record.clientTLS = tls
        tls.keyLog = []
        tls.chain = [[0x30, 0x00], [0x30, 0x01, 0xFF]]
        tls.resumed = true
        tls.verifyError = "certificate has expired"
        record.originTLS = tls
        return record
    }

    private static var refused: ConnectionRecord {
        var record = connection(2, .clientRefused)
        record.cause = "client refused the certificate"
        var tls = TLSRecord()
        tls.sni = "pinned.example.com"
        tls.alerts = [AlertRecord(sender: .peer, fatal: true, name: "unknown_ca")]
        record.clientTLS = tls
        return record
    }

    private static var plain: ConnectionRecord {
        var record = connection(3, .passedThrough)
        record.protocolName = "imap"
        record.upgrade = "STARTTLS"
        record.messageCount = 2
        return record
    }

    private static var socket: ConnectionRecord {
        var record = connection(4, .completed)
        record.originHost = "ws.example.com"
        record.originPort = 443
        record.protocolName = "h2"
        record.exchangeCount = 5
        record.messageCount = 5
        return record
    }

    // MARK: Exchanges

    private static var exchanges: [ExchangeRecord] {
        [
            login, coded, trailing, failed, unfinished, long, cut, socketStart, stream, tunnel,
            changeover, streamSocket,
        ]
    }

    private static func exchange(_ id: Int64, on connection: Int64 = 1) -> ExchangeRecord {
        var record = ExchangeRecord(
            id: id, connection: connection, startedAt: time(id * 1000), scheme: .https,
            authority: "api.example.com")
        record.durationMicroseconds = 34_567
        record.firstByteMicroseconds = 12_345
        record.status = 200
        record.requestHead = head(
            "GET /\(id)?a=b%20c&access_token=t0k3n HTTP/1.1", "Host: api.example.com")
        record.responseHead = head("HTTP/1.1 200 OK", "Content-Type: text/plain")
        return record
    }

    /// A form; a head that no members can tell.
    private static var login: ExchangeRecord {
        var record = exchange(1)
        record.requestHead = Array(
            "POST  /login HTTP/1.1\r\nhOst:api.example.com\r\nX: a\r\n b\nCookie: sid=c00kie; t=1\r\n"
                .utf8)
        record.requestHead += [0x42, 0x3A, 0x20, 0xFF, 0x0D, 0x0A]
        record.requestHead += Array(
            "Content-Type: application/x-www-form-urlencoded\r\n\r\n".utf8)
        record.requestBody.bytes = Array("user=nora&password=pa55-word".utf8)
        record.requestBody.size = 28
        record.responseHead = head(
            "HTTP/1.1 302 Found", "Location: /home",
            "Set-Cookie: sid=fr3sh; Path=/; Domain=example.com; HttpOnly; Secure; SameSite=Lax;"
                + " Expires=Wed, 09 Jun 2021 10:18:14 GMT")
        record.status = 302
        return record
    }

    /// A coded content, and a binary one.
    private static var coded: ExchangeRecord {
        var record = exchange(2)
        record.requestHead = head("PUT /2 HTTP/1.1", "Content-Type: image/png")
        record.requestBody.bytes = [0x89, 0x50, 0xFF, 0x00]
        record.requestBody.size = 4
        record.responseHead = head(
            "HTTP/1.1 200 ", "Content-Type: application/json", "content-ENCODING: gzip")
        record.responseBody.bytes = ContentEncoder.encode(page)
        record.responseBody.size = Int64(record.responseBody.bytes.count)
        return record
    }

    private static var trailing: ExchangeRecord {
        var record = exchange(3)
        record.interimHeads = [
            head("HTTP/1.1 103 Early Hints", "Link: </a.css>; rel=preload"),
            Array("HTTP/1.1 100\r\n\r\n".utf8),
        ]
        record.responseBody.trailers = head("X-Sum: 1a2b", "y:z")
        record.requestBody.trailers = Array("A: b\r\n\r\n".utf8)
        record.originProtocolName = "HTTP/2"
        record.answeredByTool = true
        return record
    }

    private static var failed: ExchangeRecord {
        var record = exchange(4)
        record.responseHead = []
        record.status = 0
        record.firstByteMicroseconds = nil
        record.error = "origin-closed"
        record.errorDetail = "the origin closed before it answered"
        return record
    }

    private static var unfinished: ExchangeRecord {
        var record = exchange(5)
        record.durationMicroseconds = nil
        record.responseHead = []
        record.status = 0
        record.firstByteMicroseconds = nil
        return record
    }

    private static var long: ExchangeRecord {
        var record = exchange(6)
        record.responseHead = head("HTTP/1.1 200 OK", "Content-Type: application/octet-stream")
        record.responseBody.size = Int64(longContent.count)
        record.responseBody.chunkCount = 9
        return record
    }

    static let longContent = (0..<9_000_001).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }

    private static func addLongContent(to traffic: MemoryTraffic) {
        for (sequence, start) in stride(from: 0, to: longContent.count, by: 1 << 20).enumerated() {
            let part = Array(longContent[start..<min(start + 1 << 20, longContent.count)])
            traffic.submit([
                .bodyChunk(exchange: 6, direction: .response, sequence: sequence, bytes: part)
            ])
        }
    }

    /// A content whose recording ended before it did, and whose coding is broken by that.
    private static var cut: ExchangeRecord {
        var record = exchange(7)
        record.responseHead = head(
            "HTTP/1.1 200 OK", "Content-Type: text/plain", "Content-Encoding: gzip")
        let noise = (0..<5000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 4) }
        record.responseBody.bytes = Array(ContentEncoder.encode(noise).prefix(700))
        record.responseBody.size = 123_456
        record.responseBody.isTruncated = true
        return record
    }

    private static var socketStart: ExchangeRecord {
        var record = exchange(8, on: 4)
        record.requestHead = head(
            "GET /chat HTTP/1.1", "Host: ws.example.com", "Upgrade: websocket")
        record.responseHead = head("HTTP/1.1 101 Switching Protocols", "Upgrade: websocket")
        record.status = 101
        return record
    }

    private static var stream: ExchangeRecord {
        var record = exchange(9, on: 4)
        record.protocolName = "HTTP/2"
        record.stream = 5
        record.requestHead = head(
            "POST /rpc HTTP/2.0", "host: api.example.com", "content-type: application/grpc")
        record.requestBody.bytes = [0, 0, 0, 0, 1, 8]
        record.requestBody.size = 6
        record.responseHead = head("HTTP/2.0 200", "content-type: application/grpc")
        return record
    }

    private static var tunnel: ExchangeRecord {
        var record = exchange(10, on: 4)
        record.requestHead = head("CONNECT other.example:443 HTTP/1.1", "Host: other.example:443")
        return record
    }

    /// The first stream of a connection that began with HTTP/1 (RFC 7540 §3.2).
    private static var changeover: ExchangeRecord {
        var record = exchange(11, on: 4)
        record.scheme = .http
        record.stream = 1
        record.requestHead = head(
            "GET /late HTTP/1.1", "Host: api.example.com", "Connection: Upgrade, HTTP2-Settings",
            "Upgrade: h2c", "HTTP2-Settings: AAMAAABk")
        record.interimHeads = [
            head("HTTP/1.1 101 Switching Protocols", "Connection: Upgrade", "Upgrade: h2c")
        ]
        record.responseHead = head("HTTP/2.0 200", "content-type: text/plain")
        return record
    }

    /// A WebSocket on a stream (RFC 8441).
    private static var streamSocket: ExchangeRecord {
        var record = exchange(12, on: 4)
        record.protocolName = "HTTP/2"
        record.stream = 7
        record.requestHead = head(
            "CONNECT /chat?room=1 HTTP/2.0", "host: api.example.com", ":protocol: websocket")
        record.responseHead = head("HTTP/2.0 200")
        return record
    }

    // MARK: Messages

    private static var messages: [MessageRecord] {
        [
            message(3, nil, 1, .segment, "* OK IMAP4rev1\r\n"),
            message(3, nil, 2, .segment, "a2 LOGIN nora pa55-word\r\n"),
            message(4, 8, 1, .text, #"{"token":"t0k3n-of-nora"}"#),
            binary, message(4, 8, 3, .ping, "p"), closing, call,
        ]
    }

    private static func message(
        _ connection: Int64, _ exchange: Int64?, _ number: Int64, _ kind: MessageRecord.Kind,
        _ text: String
    ) -> MessageRecord {
        var record = MessageRecord(
            connection: connection, exchange: exchange, number: number, at: time(number * 7),
            direction: number == 2 ? .request : .response, kind: kind)
        record.bytes = Array(text.utf8)
        record.size = Int64(record.bytes.count)
        return record
    }

    private static var binary: MessageRecord {
        var record = message(4, 8, 2, .binary, "")
        record.bytes = [0xFF, 0, 1]
        record.size = 3
        return record
    }

    private static var closing: MessageRecord {
        var record = message(4, 8, 4, .close, "gone")
        record.detail = "1001 gone"
        return record
    }

    private static var call: MessageRecord {
        var record = message(4, 9, 5, .grpc, "")
        record.offset = 0
        record.size = 1
        return record
    }

    private static func time(_ offset: Int64) -> Timestamp {
        Timestamp(microseconds: start + offset)
    }

    private static func head(_ lines: String...) -> [UInt8] {
        Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }
}
