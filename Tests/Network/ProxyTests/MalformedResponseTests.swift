import Base
import Testing
import Traffic

@testable import Proxy

extension ProxyTests {
    /// What an origin must not send, and what becomes of it.
    @Suite struct MalformedResponses {
        private static let oldWithBoth =
            "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n"

        static let heads = [
            ("garbage", "hello\r\n\r\n"),
            ("nothing but zeros", "\0\0\0\0\0\0\0\0"),
            ("status of two digits", "HTTP/1.1 20 OK\r\n\r\n"),
            ("status of four digits", "HTTP/1.1 2000 OK\r\n\r\n"),
            ("status below 100", "HTTP/1.1 099 OK\r\n\r\n"),
            ("version 2.0", "HTTP/2.0 200 OK\r\n\r\n"),
            ("another protocol", "ICY 200 OK\r\n\r\n"),
            ("bare CR", "HTTP/1.1 200 OK\rX: 1\r\n\r\n"),
            ("fold before the fields", "HTTP/1.1 200 OK\r\n X: 1\r\n\r\n"),
            ("fold without a field", "HTTP/1.1 200 OK\r\nX\r\n : 1\r\n\r\n"),
            ("no colon", "HTTP/1.1 200 OK\r\nX\r\n\r\n"),
            ("NUL in a value", "HTTP/1.1 200 OK\r\nX: \0\r\n\r\n"),
            (
                "both lengths, and no coding that is known",
                "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: x\r\n\r\n0\r\n\r\n"
            ),
            (
                "both lengths in HTTP/1.0",
                "HTTP/1.0 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
            ),
            ("a list of two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\n"),
            ("lengths in other digits", "HTTP/1.1 200 OK\r\nContent-Length: 5, 05\r\n\r\n"),
            ("a length and nothing", "HTTP/1.1 200 OK\r\nContent-Length: 5,\r\n\r\n"),
            ("two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n"),
            ("length that is none", "HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\n"),
            ("unknown coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"),
            ("coding and length in HTTP/1.0", oldWithBoth),
            ("chunked not last", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, x\r\n\r\n"),
            (
                "interim with both lengths",
                "HTTP/1.1 103 X\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
            ),
            ("long line", "HTTP/1.1 200 \(String(repeating: "a", count: 70_000))\r\n\r\n"),
            (
                "many fields",
                "HTTP/1.1 200 OK\r\n\(String(repeating: "X: 1\r\n", count: 1_001))\r\n"
            ),
            (
                "big head",
                "HTTP/1.1 200 OK\r\n"
                    + String(repeating: "X: \(String(repeating: "a", count: 9990))\r\n", count: 8)
                    + "\r\n"
            ),
        ]

        @Test(arguments: heads, [Way.absoluteForm, .tunnel13])
        func headIsReplacedBy502(_ row: (name: String, response: String), _ way: Way) throws {
            try withProxy(.limit(\.headSize, 65_536)) { proxy in
                let origin = try proxy.origin(way.kind) { wire, _ in
                    _ = try wire.readHead()
                    try wire.sendIfTaken([UInt8](row.response.utf8))
                    _ = try wire.readToEnd()
                }
                let client = try way.open(proxy, origin)
                let response = try client.get(way.target("/", origin))
                #expect(response.status == 502)
                #expect(response.field("sallyport-error") == "bad-response")
                let exchange = try proxy.traffic.exchange()
                #expect(exchange.error == "bad-response")
                #expect(exchange.errorDetail?.isEmpty == false)
                #expect(exchange.answeredByTool)
                // The client's connection is still good.
                let other = try proxy.greeter(way.kind)
                if way == .absoluteForm {
                    #expect(try client.get(way.target("/", other)).status == 200)
                }
            }
        }

        private static let chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

        static let contents = [
            ("bad size", "\(chunks)1\r\na\r\nx\r\n", "bad-response"),
            ("no end of a chunk", "\(chunks)1\r\nabc", "bad-response"),
            ("LF before a size", "\(chunks)\n1\r\na\r\n", "bad-response"),
            ("bad trailer", "\(chunks)1\r\na\r\n0\r\nX\r\n\r\n", "bad-response"),
            ("end in a chunk", "\(chunks)5\r\nab", "origin-closed"),
            ("end between chunks", "\(chunks)1\r\na\r\n", "origin-closed"),
            ("end of a length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", "origin-closed"),
        ]

        @Test(arguments: contents, Way.allCases)
        func halfAResponseIsNotTakenForAWholeOne(
            _ row: (name: String, response: String, error: String), _ way: Way
        ) throws {
            try withProxy { proxy in
                let origin = try proxy.origin(way.kind) { wire, _ in
                    _ = try wire.readHead()
                    try wire.send(row.response)
                    try wire.finish()
                    _ = try wire.readToEnd()
                }
                let client = try way.open(proxy, origin)
                try client.send(
                    "GET \(way.target("/", origin)) HTTP/1.1\r\nHost: localhost\r\n\r\n")
                // What came before the flaw arrives.
                let text = try client.readToEnd().text
                #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"), "\(text)")
                #expect(text.contains("1\r\na") == row.response.contains("\r\n\r\n1\r\na"))
                // An end where more was due is told as the origin told it.
                let asItCame: Wire.End = way.isSecure ? .cutOff : .inOrder
                #expect(client.end == (row.error == "origin-closed" ? asItCame : .reset))
                let exchange = try proxy.traffic.exchange()
                #expect(exchange.error == row.error)
                #expect(exchange.status == 200)
                let connection = try proxy.traffic.connection()
                #expect(connection.outcome == .broken)
                #expect(connection.closedBy == .origin)
                #expect(!connection.cause.isEmpty)
            }
        }

        /// A client of HTTP/1.0 does not know chunks: it would take an end in order for theirs.
        @Test func chunksThatEndEarlyAreNoWholeContentForAnOldClient() throws {
            try withProxy { proxy in
                let origin = try proxy.origin(.plain) { wire, _ in
                    _ = try wire.readHead()
                    try wire.send("\(Self.chunks)1\r\na\r\n")
                    try wire.finish()
                    _ = try wire.readToEnd()
                }
                let client = try Way.absoluteForm.open(proxy, origin)
                let target = Way.absoluteForm.target("/", origin)
                try client.send("GET \(target) HTTP/1.0\r\nHost: localhost\r\n\r\n")
                #expect(try client.readToEnd().text.hasSuffix("\r\n\r\na"))
                #expect(client.end == .reset)
            }
        }

        /// What ends with TLS is whole only if TLS says so (RFC 9112 §9.8).
        @Test(arguments: Way.allCases.filter(\.isSecure), [false, true])
        func endWithoutCloseNotifyIsPassedOn(_ way: Way, isWhole: Bool) throws {
            try withProxy { proxy in
                let origin = try proxy.origin(way.kind) { wire, _ in
                    _ = try wire.readHead()
                    try wire.send("HTTP/1.1 200 OK\r\n\r\nhello")
                    if isWhole { try wire.finish() } else { wire.hangUp() }
                    _ = try wire.readToEnd()
                }
                let client = try way.open(proxy, origin)
                #expect(try client.get("/").body.text == "hello")
                #expect(client.end == (isWhole ? .inOrder : .cutOff))
                let exchange = try proxy.traffic.exchange()
                #expect(exchange.error == (isWhole ? nil : "origin-truncated"))
                #expect(proxy.traffic.body(exchange, .response).text == "hello")
            }
        }

        /// Neither makes the socket readable once more.
        @Test(arguments: Way.allCases.filter(\.isSecure), [false, true])
        func endRightBehindTheContentIsSeen(_ way: Way, isWhole: Bool) throws {
            try withProxy { proxy in
                let origin = try proxy.origin(way.kind) { wire, _ in
                    _ = try wire.readHead()
                    let broken: [UInt8] = [23, 3, 3, 0, 20] + [UInt8](repeating: 7, count: 20)
                    try wire.sendLast(
                        [UInt8]("HTTP/1.1 200 OK\r\n\r\nhello".utf8),
                        then: isWhole ? nil : broken)
                    // The proxy says with an alert what it thinks of a broken record.
                    if isWhole { try wire.expectEnd() } else { _ = try wire.receive() }
                }
                let client = try way.open(proxy, origin)
                try client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
                let all = try client.readToEnd().text
                let exchange = try proxy.traffic.exchange()
                if isWhole {
                    #expect(all.hasSuffix("hello"))
                    #expect(client.end == .inOrder)
                    #expect(exchange.error == nil)
                } else {
                    #expect(client.end == .reset)
                    #expect(exchange.error == "origin-closed")
                }
            }
        }

        @Test(arguments: ["", "HTTP/1.1 2", "HTTP/1.1 200 OK\r\nContent-Le"])
        func originThatGivesUpGets502(_ start: String) throws {
            try withProxy { proxy in
                let origin = try proxy.origin { wire, _ in
                    _ = try wire.readHead()
                    try wire.send(start)
                }
                let client = try proxy.connect()
                let response = try client.get("http://\(origin.authority)/")
                #expect(response.status == 502)
                #expect(response.field("sallyport-error") == "origin-closed")
                #expect(try proxy.traffic.exchange().error == "origin-closed")
                #expect(origin.acceptedCount == 1)
            }
        }

        @Test func originThatResetsGets502() throws {
            try withProxy { proxy in
                let origin = try proxy.origin { wire, _ in
                    _ = try wire.readHead()
                    wire.reset()
                }
                let client = try proxy.connect()
                #expect(try client.get("http://\(origin.authority)/").status == 502)
                #expect(try proxy.traffic.exchange().error == "origin-closed")
            }
        }
    }
}
