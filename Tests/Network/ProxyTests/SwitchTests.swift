import Base
import Testing
import Traffic

@testable import Proxy

extension ProxyTests {
    /// Origins that switch protocols where they must not (RFC 9110 §7.8, §15.2.2).
    @Suite struct Switches {
        private static let answer =
            "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: foo\r\n\r\n"

        /// The request that is sent, as far as it goes, and the code of the record.
        static let requests: [(name: String, fields: String, content: String, code: String)] = [
            ("unasked", "", "", "unasked-switch"),
            ("unasked, content buffered", "Content-Length: 5\r\n", "12345", "unasked-switch"),
            ("unasked, content to come", "Content-Length: 5\r\n", "12", "unasked-switch"),
            (
                "unasked, waits for 100", "Content-Length: 5\r\nExpect: 100-continue\r\n", "",
                "unasked-switch"
            ),
            (
                "asked, content to come",
                "Connection: Upgrade\r\nUpgrade: foo\r\nContent-Length: 5\r\n", "12",
                "early-switch"
            ),
            (
                "asked, within a chunk",
                "Connection: Upgrade\r\nUpgrade: foo\r\nTransfer-Encoding: chunked\r\n",
                "5\r\n12", "early-switch"
            ),
            (
                "without the option", "Upgrade: foo\r\n", "", "unasked-switch"
            ),
            (
                "another protocol", "Connection: Upgrade\r\nUpgrade: bar\r\n", "",
                "unasked-switch"
            ),
        ]

        @Test(arguments: requests.indices, Way.allCases)
        func areBadResponses(_ row: Int, _ way: Way) throws {
            let row = Self.requests[row]
            try withProxy { proxy in
                let origin = try proxy.origin(way.kind) { wire, _ in
                    _ = try wire.readHead()
                    try wire.send(Self.answer)
                    // Nothing that the client sends from here on is for it.
                    let rest = try wire.readToEnd().text
                    try check(!rest.contains("GET /next"), rest)
                }
                let client = try way.open(proxy, origin)
                try client.send(
                    "POST \(way.target("/", origin)) HTTP/1.1\r\nHost: localhost\r\n"
                        + row.fields + "\r\n" + row.content)
                let response = try client.readResponse()
                #expect(response.status == 502, "\(row.name)")
                let exchange = try proxy.traffic.exchange()
                #expect(exchange.error == "bad-response", "\(row.name)")
                #expect(exchange.errorDetail?.contains("(\(row.code))") ?? false, "\(row.name)")
                // The proxy goes on for others.
                let other = try proxy.origin { wire, _ in
                    _ = try wire.readHead()
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                    _ = try wire.readToEnd()
                }
                let second = try proxy.connect()
                try second.send("GET http://\(other.authority)/next HTTP/1.1\r\nHost: x\r\n\r\n")
                #expect(try second.readResponse().body.text == "ok")
            }
        }

        /// A switch that was asked for waits for the end of the request's content, also where the
        /// content went in pieces.
        @Test(arguments: Way.allCases)
        func goOnBehindTheContent(_ way: Way) throws {
            try withProxy { proxy in
                let origin = try proxy.origin(way.kind) { wire, _ in
                    let request = try wire.readRequest()
                    try check(request.body.text == "12345", request.head)
                    try wire.send(Self.answer + "hello")
                    try check(try wire.read(4).text == "word", "no word")
                    try wire.send("bye")
                }
                let client = try way.open(proxy, origin)
                try client.send(
                    "POST \(way.target("/", origin)) HTTP/1.1\r\nHost: localhost\r\n"
                        + "Connection: Upgrade\r\nUpgrade: foo\r\nContent-Length: 5\r\n"
                        + "Expect: 100-continue\r\n\r\n")
                try client.send("12")
                try client.send("345")
                #expect(try client.readHead().hasPrefix("HTTP/1.1 101 "))
                #expect(try client.read(5).text == "hello")
                try client.send("word")
                #expect(try client.read(3).text == "bye")
                try client.expectEnd()
            }
        }

        // MARK: HTTP/2 without TLS

        /// Why an offer of HTTP/2 does not go on to the origin.
        static let offers: [(name: String, settings: String, way: Way)] = [
            ("inside of TLS", "AAMAAABkAAQAAP__", .tunnel13),
            ("broken settings", "AAM", .absoluteForm),
            ("a push setting of 7", "AAIAAAAH", .absoluteForm),
            ("two settings", "AAMAAABkAAQAAP__\r\nHTTP2-Settings: AAMAAABkAAQAAP__", .plainTunnel),
        ]

        @Test(arguments: offers.indices)
        func offerOfHTTP2IsDropped(_ row: Int) throws {
            let row = Self.offers[row]
            try withProxy { proxy in
                let origin = try proxy.origin(row.way.kind) { wire, _ in
                    let head = try wire.readHead()
                    try check(!head.lowercased().contains("h2c"), head)
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                    _ = try wire.readToEnd()
                }
                let client = try row.way.open(proxy, origin)
                try client.send(
                    "GET \(row.way.target("/", origin)) HTTP/1.1\r\nHost: localhost\r\n"
                        + "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                        + "HTTP2-Settings: \(row.settings)\r\n\r\n")
                #expect(try client.readResponse().body.text == "ok", "\(row.name)")
            }
        }

        /// TLS on one side is enough: both legs would go on without it.
        @Test(arguments: ["client", "origin"])
        func offerOfHTTP2IsDroppedWhereOneSideHasTLS(_ side: String) throws {
            let isClients = side == "client"
            try withProxy { proxy in
                let origin = try proxy.origin(isClients ? .plain : .tls) { wire, _ in
                    let head = try wire.readHead().lowercased()
                    try check(!head.contains("h2c") && !head.contains("http2-settings"), head)
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                    _ = try wire.readToEnd()
                }
                let client = try proxy.connect()
                // TLS to the proxy itself, for a request that goes on in clear.
                if isClients { try client.secure(ProxyUnderTest.clientSession(for: "localhost")) }
                let target =
                    isClients ? "http://\(origin.authority)/" : "https://localhost:\(origin.port)/"
                let answer = try client.get(
                    target,
                    fields: "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                        + "HTTP2-Settings: AAMAAABkAAQAAP__\r\n")
                #expect(answer.body.text == "ok")
            }
        }
    }
}
