import Base
import TestConditions
import Traffic

/// The capture that the cases read: one row of each kind that the commands treat differently.
enum SampleCapture {
    static let start = Timestamp(microseconds: 1_773_039_901_250_000)

    static func source() -> FakeTrafficSource {
        var source = FakeTrafficSource()
        source.connectionRecords = [secure, refused, plain, unreachable, open]
        add(items, response: #"{"items":[1,2,3],"next":null}"#, to: &source)
        add(login, request: "user=nora&password=pa55-word", to: &source)
        add(
            picture, response: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x00, 0x01],
            to: &source)
        add(broken, to: &source)
        add(hostile, response: "caf\u{E9}\tok \u{202E}\n", to: &source)
        add(coded, response: deflated(Array("swapped CASE.".utf8)), to: &source)
        return source
    }

    /// A capture whose findings are not critical.
    static func mild() -> FakeTrafficSource {
        var source = FakeTrafficSource()
        source.connectionRecords = [secure]
        add(items, response: "{}", to: &source)
        return source
    }

    private static var secure: ConnectionRecord {
        var record = ConnectionRecord(
            id: 1, openedAt: start, client: "127.0.0.1:52114", listener: "127.0.0.1:8080",
            mode: .explicit)
        record.closedAt = later(4_000_000)
        record.originHost = "api.example.com"
        record.originPort = 443
        record.originAddress = "93.184.216.34:443"
        record.clientBytes = ByteCount(received: 1900, sent: 5400)
        record.originBytes = ByteCount(received: 6100, sent: 1750)
        var tls = TLSRecord()
        tls.version = "TLSv1.3"
        tls.cipher = "TLS_AES_256_GCM_SHA384"
        tls.alpn = "http/1.1"
        tls.sni = "api.example.com"
        tls.ja3 = "e7d705a3286e19ea42f587b344ee6865"
        tls.ja4 = "t13d1516h2_8daaf6152771_b186095e22b6"
        tls.alerts = [AlertRecord(sender: .peer, fatal: false, name: "close_notify")]
        record.clientTLS = tls
        tls.alerts = []
        tls.version = "TLSv1.2"
        tls.cipher = "ECDHE-RSA-AES128-GCM-SHA256"
        tls.verifyError = "certificate has expired"
        record.originTLS = tls
        record.protocolName = "http/1.1"
        record.exchangeCount = 4
        record.outcome = .completed
        record.closedBy = .client
        return record
    }

    private static var refused: ConnectionRecord {
        var record = ConnectionRecord(
            id: 2, openedAt: later(500_000), client: "[::1]:40100", listener: "[::1]:8080",
            mode: .explicit)
        record.closedAt = later(512_000)
        record.originHost = "pinned.example.com"
        record.originPort = 8443
        record.clientBytes = ByteCount(received: 600, sent: 2300)
        var tls = TLSRecord()
        tls.sni = "pinned.example.com"
        tls.alerts = [
            AlertRecord(sender: .peer, fatal: true, name: "unknown_ca"),
            AlertRecord(sender: .tool, fatal: false, name: "close_notify"),
        ]
        record.clientTLS = tls
        record.protocolName = "tls"
        record.outcome = .clientRefused
        record.cause = "client refused the certificate (unknown_ca): it does not trust the CA"
        record.closedBy = .client
        return record
    }

    private static var plain: ConnectionRecord {
        var record = ConnectionRecord(
            id: 3, openedAt: later(900_000), client: "192.0.2.7:1055", listener: "127.0.0.1:8080",
            mode: .explicit)
        record.closedAt = later(1_400_000)
        record.originHost = "shop.example"
        record.originPort = 80
        record.clientBytes = ByteCount(received: 800, sent: 300)
        record.protocolName = "http/1.1"
        record.exchangeCount = 2
        record.outcome = .completed
        record.closedBy = .origin
        return record
    }

    private static var unreachable: ConnectionRecord {
        var record = ConnectionRecord(
            id: 4, openedAt: later(1_000_000), client: "127.0.0.1:52120",
            listener: "127.0.0.1:8080", mode: .explicit)
        record.closedAt = later(1_002_000)
        record.originHost = "gone.example"
        record.originPort = 443
        record.outcome = .originUnreachable
        record.cause = "no address for gone.example"
        record.closedBy = .tool
        return record
    }

    private static var open: ConnectionRecord {
        ConnectionRecord(
            id: 5, openedAt: later(2_000_000), client: "127.0.0.1:52122",
            listener: "127.0.0.1:8443", mode: .reverse)
    }

    private static var items: ExchangeRecord {
        var record = ExchangeRecord(
            id: 1, connection: 1, startedAt: later(20_000), scheme: .https,
            authority: "api.example.com")
        record.requestHead = head(
            "GET /v1/items?page=2&access_token=t0k3n-of-nora HTTP/1.1", "Host: api.example.com",
            "Authorization: Bearer t0k3n-of-nora", "Cookie: sid=c00kie; theme=dark",
            "X-Api-Key: k3y-of-nora", "Accept: */*")
        record.interimHeads = [head("HTTP/1.1 103 Early Hints", "Link: </style.css>; rel=preload")]
        record.responseHead = head(
            "HTTP/1.1 200 OK", "Content-Type: application/json",
            "Set-Cookie: sid=fr3sh; Path=/; HttpOnly", "Alt-Svc: h3=\":443\"",
            "Transfer-Encoding: chunked")
        record.sentResponseHead = head(
            "HTTP/1.1 200 OK", "Content-Type: application/json",
            "Set-Cookie: sid=fr3sh; Path=/; HttpOnly", "Transfer-Encoding: chunked")
        record.responseBody.trailers = head("X-Checksum: 1a2b")
        record.status = 200
        record.durationMicroseconds = 34_500
        return record
    }

    private static var login: ExchangeRecord {
        var record = ExchangeRecord(
            id: 2, connection: 3, startedAt: later(910_000), scheme: .http,
            authority: "shop.example")
        record.requestHead = head(
            "POST http://nora:pa55@shop.example/login?next=%2Fcart HTTP/1.1", "Host: shop.example",
            "Proxy-Authorization: Basic bm9yYTpwYTU1",
            "Content-Type: application/x-www-form-urlencoded", "Content-Length: 28")
        record.responseHead = head(
            "HTTP/1.1 302 Found", "Location: /cart;jsessionid=s3ss10n?code=c0de",
            "Content-Length: 0")
        record.status = 302
        record.durationMicroseconds = 1_250_000
        return record
    }

    private static var picture: ExchangeRecord {
        var record = ExchangeRecord(
            id: 3, connection: 1, startedAt: later(950_000), scheme: .https,
            authority: "api.example.com:8443")
        record.requestHead = head("GET /logo.png HTTP/1.1", "Host: api.example.com:8443")
        record.responseHead = head("HTTP/1.1 404 Not Found", "Content-Type: image/png")
        record.responseBody.isTruncated = true
        record.status = 404
        record.durationMicroseconds = 900
        return record
    }

    private static var broken: ExchangeRecord {
        var record = ExchangeRecord(
            id: 4, connection: 1, startedAt: later(1_500_000), scheme: .https,
            authority: "api.example.com")
        record.requestHead = head("DELETE /v1/items/7 HTTP/1.1", "Host: api.example.com")
        record.error = "origin-closed"
        record.errorDetail = "the origin closed before it answered"
        record.durationMicroseconds = 61_000_000
        return record
    }

    private static var hostile: ExchangeRecord {
        var record = ExchangeRecord(
            id: 5, connection: 3, startedAt: later(1_600_000), scheme: .http,
            authority: "shop.example")
        record.requestHead = head(
            "GET /\u{1B}[2J/漢字漢字漢字漢字漢字漢字漢字漢字/and/a/path/that/is/longer/than/a/line HTTP/1.1",
            "Host: shop.example")
        record.responseHead = head("HTTP/1.1 500 Oh\u{1B}]0;no\u{7}", "Content-Type: text/plain")
        record.status = 500
        record.durationMicroseconds = 5_000
        return record
    }

    private static var coded: ExchangeRecord {
        var record = ExchangeRecord(
            id: 6, connection: 99, startedAt: later(1_700_000), scheme: .https,
            authority: "api.example.com")
        record.requestHead = head("GET /coded HTTP/1.1", "Host: api.example.com")
        record.responseHead = head("HTTP/1.1 200 OK", "Content-Encoding: deflate")
        record.status = 200
        return record
    }

    private static func add(
        _ record: ExchangeRecord, request: String = "", response: String = "",
        to source: inout FakeTrafficSource
    ) {
        add(record, request: request, response: [UInt8](response.utf8), to: &source)
    }

    private static func add(
        _ record: ExchangeRecord, request: String = "", response: [UInt8],
        to source: inout FakeTrafficSource
    ) {
        var record = record
        record.requestBody.size = Int64(request.utf8.count)
        // A truncated content was longer than what is kept of it.
        record.responseBody.size =
            Int64(response.count) * (record.responseBody.isTruncated ? 500 : 1)
        source.exchangeRecords.append(record)
        source.contents[.init(exchange: record.id, direction: .request)] = [UInt8](request.utf8)
        source.contents[.init(exchange: record.id, direction: .response)] = response
    }

    private static func later(_ microseconds: Int64) -> Timestamp {
        Timestamp(microseconds: start.microseconds + microseconds)
    }

    private static func head(_ lines: String...) -> [UInt8] {
        [UInt8]((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }
}
