import Base
import Testing
import Traffic

@testable import Proxy

extension ProxyTests {
    /// What a client must not send, and what it gets for it.
    @Suite struct MalformedRequests {
        struct Row: CustomTestStringConvertible, Sendable {
            let testDescription: String
            /// `@` stands for the origin's authority.
            let request: String
            let status: Int
            /// Of the violation, as the answer has it.
            let code: String
            /// Of the record.
            let error: String
            /// Whether the head was good, so that the origin has seen it.
            var headPasses = false

            init(
                _ name: String, _ request: String, _ status: Int, _ code: String,
                _ error: String = "request-smuggling", headPasses: Bool = false
            ) {
                testDescription = name
                self.request = request
                self.status = status
                self.code = code
                self.error = error
                self.headPasses = headPasses
            }

            func bytes(_ origin: ScriptedOrigin) -> [UInt8] {
                [UInt8](request.replacing("@", with: origin.authority).utf8)
            }
        }

        private static let start = "POST http://@/ HTTP/1.1\r\nHost: @\r\n"
        private static let evil = "GET http://@/evil HTTP/1.1\r\nHost: @\r\n\r\n"

        static let framing: [Row] = [
            Row(
                "both lengths",
                "\(start)Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n\(evil)",
                400, "both-lengths"),
            Row(
                "both lengths, the other way round",
                "\(start)Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n\(evil)",
                400, "both-lengths"),
            Row(
                "two lengths", "\(start)Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcd\(evil)",
                400, "duplicate-content-length"),
            Row(
                "the same length twice",
                "\(start)Content-Length: 4\r\nContent-Length: 4\r\n\r\nabcd", 400,
                "duplicate-content-length"),
            Row(
                "list of lengths", "\(start)Content-Length: 4, 4\r\n\r\nabcd", 400,
                "duplicate-content-length"),
            Row(
                "signed length", "\(start)Content-Length: +4\r\n\r\nabcd", 400,
                "invalid-content-length"),
            Row(
                "negative length", "\(start)Content-Length: -1\r\n\r\n", 400,
                "invalid-content-length"),
            Row(
                "hexadecimal length", "\(start)Content-Length: 0x4\r\n\r\nabcd", 400,
                "invalid-content-length"),
            Row(
                "length past 2^63", "\(start)Content-Length: 99999999999999999999\r\n\r\n", 400,
                "invalid-content-length"),
            Row("empty length", "\(start)Content-Length:\r\n\r\n", 400, "invalid-content-length"),
            Row(
                "coding in HTTP/1.0",
                "POST http://@/ HTTP/1.0\r\nHost: @\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                400, "transfer-encoding-in-http10"),
            Row(
                "chunked twice",
                "\(start)Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", 400,
                "chunked-twice"),
            Row(
                "chunked not last", "\(start)Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n",
                400, "chunked-not-final"),
            Row(
                "identity", "\(start)Transfer-Encoding: identity\r\n\r\n", 400,
                "chunked-not-final"),
            Row(
                "chunked with a control character",
                "\(start)Transfer-Encoding: \u{b}chunked\r\n\r\n0\r\n\r\n", 400,
                "invalid-field-value", "bad-request"),
            Row(
                "unknown coding", "\(start)Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501,
                "unsupported-transfer-coding", "bad-request"),
            Row(
                "CONNECT with content",
                "CONNECT @ HTTP/1.1\r\nHost: @\r\nContent-Length: 4\r\n\r\nabcd", 400,
                "connect-with-content"),
        ]

        static let lines: [Row] = [
            Row("bare LF everywhere", "GET http://@/ HTTP/1.1\nHost: @\n\n", 400, "bare-lf"),
            Row("bare LF in a field", "\(start)X: 1\nY: 2\r\n\r\n", 400, "bare-lf"),
            Row("bare LF at the end", "\(start)X: 1\r\n\n", 400, "bare-lf"),
            Row("bare CR", "\(start)X: 1\rContent-Length: 4\r\n\r\nabcd", 400, "bare-cr"),
            Row("folded field", "\(start)X: 1\r\n Content-Length: 4\r\n\r\nabcd", 400, "obs-fold"),
            Row(
                "fold before the first field", "GET http://@/ HTTP/1.1\r\n Host: @\r\n\r\n", 400,
                "obs-fold"),
            Row(
                "space before the colon", "\(start)Content-Length : 4\r\n\r\nabcd", 400,
                "space-before-colon"),
            Row(
                "tab before the colon", "\(start)Transfer-Encoding\t: chunked\r\n\r\n", 400,
                "space-before-colon"),
            Row("two hosts", "\(start)Host: other\r\n\r\n", 400, "duplicate-host"),
            Row(
                "no host", "GET http://@/ HTTP/1.1\r\nX: 1\r\n\r\n", 400, "missing-host",
                "bad-request"),
            Row("no colon", "\(start)X\r\n\r\n", 400, "invalid-field-name", "bad-request"),
            Row("empty name", "\(start): x\r\n\r\n", 400, "invalid-field-name", "bad-request"),
            Row(
                "name that is no token", "\(start)X(y): x\r\n\r\n", 400, "invalid-field-name",
                "bad-request"),
            Row(
                "NUL in a value", "\(start)X: a\0b\r\n\r\n", 400, "invalid-field-value",
                "bad-request"),
            Row(
                "NUL in a name", "\(start)X\0: b\r\n\r\n", 400, "invalid-field-name", "bad-request"),
            Row(
                "NUL in the target", "GET http://@/\0 HTTP/1.1\r\nHost: @\r\n\r\n", 400,
                "invalid-target", "bad-request"),
            Row(
                "two spaces", "GET  http://@/ HTTP/1.1\r\nHost: @\r\n\r\n", 400, "invalid-target",
                "bad-request"),
            Row(
                "tab in the line", "GET\thttp://@/ HTTP/1.1\r\nHost: @\r\n\r\n", 400,
                "invalid-method", "bad-request"),
            Row("HTTP/0.9", "GET http://@/\r\n\r\n", 400, "invalid-request-line", "bad-request"),
            Row(
                "version 2.0", "GET http://@/ HTTP/2.0\r\nHost: @\r\n\r\n", 505,
                "unsupported-version", "bad-request"),
            Row(
                "version 1.2", "GET http://@/ HTTP/1.2\r\nHost: @\r\n\r\n", 505,
                "unsupported-version", "bad-request"),
            Row(
                "version in lower case", "GET http://@/ http/1.1\r\nHost: @\r\n\r\n", 400,
                "invalid-request-line", "bad-request"),
            Row(
                "words behind the version", "GET http://@/ HTTP/1.1 x\r\nHost: @\r\n\r\n", 400,
                "invalid-request-line", "bad-request"),
            Row(
                "long URL",
                "GET http://@/\(String(repeating: "a", count: 70_000)) HTTP/1.1\r\nHost: @\r\n\r\n",
                414, "line-too-long", "bad-request"),
            Row(
                "long field", "\(start)X: \(String(repeating: "a", count: 70_000))\r\n\r\n", 431,
                "head-too-large", "bad-request"),
            Row(
                "big head",
                start
                    + String(
                        repeating: "X: \(String(repeating: "a", count: 9990))\r\n", count: 8)
                    + "\r\n", 431, "head-too-large", "bad-request"),
            Row(
                "many fields", "\(start)\(String(repeating: "X: 1\r\n", count: 1_001))\r\n", 431,
                "too-many-fields", "bad-request"),
        ]

        static let targets: [Row] = [
            Row(
                "origin form", "GET / HTTP/1.1\r\nHost: @\r\n\r\n", 400, "not-a-proxy-request",
                "not-a-proxy-request"),
            Row(
                "asterisk form", "OPTIONS * HTTP/1.1\r\nHost: @\r\n\r\n", 400,
                "not-a-proxy-request", "not-a-proxy-request"),
            Row(
                "asterisk for GET", "GET * HTTP/1.1\r\nHost: @\r\n\r\n", 400, "invalid-target",
                "bad-request"),
            Row(
                "no scheme", "GET @ HTTP/1.1\r\nHost: @\r\n\r\n", 400, "invalid-target",
                "bad-request"),
            Row(
                "ftp", "GET ftp://@/ HTTP/1.1\r\nHost: @\r\n\r\n", 400, "unsupported-scheme",
                "bad-request"),
            Row(
                "no host in the URL", "GET http:/// HTTP/1.1\r\nHost: @\r\n\r\n", 400,
                "invalid-target", "bad-request"),
            Row(
                "port that is none", "GET http://localhost:99999/ HTTP/1.1\r\nHost: @\r\n\r\n", 400,
                "invalid-target", "bad-request"),
            Row(
                "number for a host", "GET http://2130706433/ HTTP/1.1\r\nHost: @\r\n\r\n", 400,
                "invalid-target", "bad-request"),
            Row(
                "two at signs", "GET http://a\u{40}b\u{40}localhost/ HTTP/1.1\r\nHost: x\r\n\r\n",
                400, "invalid-target", "bad-request"),
            Row(
                "CONNECT without a port", "CONNECT localhost HTTP/1.1\r\nHost: @\r\n\r\n", 400,
                "invalid-target", "bad-request"),
            Row(
                "CONNECT to a URL", "CONNECT http://@/ HTTP/1.1\r\nHost: @\r\n\r\n", 400,
                "invalid-target", "bad-request"),
            Row(
                "CONNECT to port 0", "CONNECT localhost:0 HTTP/1.1\r\nHost: @\r\n\r\n", 400,
                "invalid-target", "bad-request"),
        ]

        private static let chunks = "\(start)Transfer-Encoding: chunked\r\n\r\n"

        static let content: [Row] = [
            Row("no size", "\(chunks)x\r\n", 400, "invalid-chunk-size", headPasses: true),
            Row("signed size", "\(chunks)+1\r\na\r\n", 400, "invalid-chunk-size", headPasses: true),
            Row("0x", "\(chunks)0x1\r\na\r\n", 400, "invalid-chunk-size", headPasses: true),
            Row(
                "size past 2^63", "\(chunks)ffffffffffffffff\r\na\r\n", 400, "invalid-chunk-size",
                headPasses: true),
            Row("size with bare LF", "\(chunks)1\na\r\n", 400, "bare-lf", headPasses: true),
            Row(
                "content that is too long", "\(chunks)1\r\nab\r\n", 400, "missing-chunk-end",
                headPasses: true),
            Row(
                "extension with bare LF", "\(chunks)1;x\ny\r\na\r\n", 400, "bare-lf",
                headPasses: true),
            Row(
                "control character in an extension", "\(chunks)1;\u{1}\r\na\r\n", 400,
                "invalid-chunk-extension", headPasses: true),
            Row(
                "bad trailer", "\(chunks)0\r\nX : 1\r\n\r\n", 400, "space-before-colon",
                headPasses: true),
            Row(
                "folded trailer", "\(chunks)0\r\nX: 1\r\n y\r\n\r\n", 400, "obs-fold",
                headPasses: true),
            Row(
                "endless size line", "\(chunks)1;\(String(repeating: "x", count: 5000))", 400,
                "chunk-line-too-long", "bad-request", headPasses: true),
        ]

        /// In one piece, and byte by byte.
        @Test(arguments: framing + lines + targets + content, [false, true])
        func isAnsweredAndRecorded(_ row: Row, inPieces: Bool) throws {
            // Thousands of segments show nothing that dozens do not.
            if inPieces, row.request.utf8.count > 2000 { return }
            try withProxy(.limit(\.headSize, 65_536)) { proxy in
                let heard = Heard()
                let origin = try proxy.origin { wire, _ in
                    heard.note(try wire.readToEnd().text)
                }
                let bytes = row.bytes(origin)
                let client = try proxy.connect()
                if inPieces {
                    for byte in bytes where client.end == nil { try client.sendIfTaken([byte]) }
                } else {
                    try client.send(bytes)
                }
                let response = try client.readResponse()
                #expect(response.status == row.status)
                #expect(response.field("sallyport-error") == row.code)
                #expect(
                    response.field("connection") == "close" || row.code == "not-a-proxy-request")
                try client.finish()
                try client.expectEnd()
                let exchange = try proxy.traffic.exchange()
                #expect(exchange.status == row.status)
                #expect(exchange.error == row.error)
                #expect(exchange.errorDetail?.isEmpty == false)
                #expect(exchange.answeredByTool)
                #expect(!exchange.requestHead.isEmpty)
                #expect(exchange.requestHead == Array(bytes.prefix(exchange.requestHead.count)))
                let connection = try proxy.traffic.connection()
                if row.code != "not-a-proxy-request" {
                    #expect(connection.outcome == .refused)
                    #expect(connection.cause.contains(row.code))
                    #expect(connection.closedBy == .tool)
                }
                #expect(proxy.traffic.content.finalExchanges.count == 1)
                if row.headPasses {
                    heard.wait()
                    let all = heard.lines.joined()
                    #expect(all.hasSuffix("Transfer-Encoding: chunked\r\n\r\n") || inPieces)
                } else {
                    origin.stop()
                    #expect(origin.acceptedCount == 0)
                    #expect(heard.lines == [])
                }
            }
        }

        /// Shapes that look odd and are good.
        static let good = [
            ("userinfo", "GET http://user:pass\u{40}@/ HTTP/1.1\r\nHost: @\r\n\r\n"),
            ("empty lines first", "\r\n\r\nGET http://@/ HTTP/1.1\r\nHost: @\r\n\r\n"),
            ("scheme in upper case", "GET HTTP://@/ HTTP/1.1\r\nHost: @\r\n\r\n"),
            ("no path", "GET http://@ HTTP/1.1\r\nHost: @\r\n\r\n"),
            ("query without a path", "GET http://@?x HTTP/1.1\r\nHost: @\r\n\r\n"),
            ("no host in HTTP/1.0", "GET http://@/ HTTP/1.0\r\n\r\n"),
            ("empty host", "GET http://@/ HTTP/1.1\r\nHost:\r\n\r\n"),
            ("length 0", "GET http://@/ HTTP/1.1\r\nHost: @\r\nContent-Length: 0\r\n\r\n"),
            (
                "coding in upper case",
                "PUT http://@/ HTTP/1.1\r\nHost: @\r\nTransfer-Encoding: CHUNKED\r\n\r\n0\r\n\r\n"
            ),
        ]

        @Test(arguments: good)
        func oddButGood(_ name: String, _ request: String) throws {
            try withProxy { proxy in
                let origin = try proxy.origin { wire, _ in
                    _ = try wire.readHead()
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
                    _ = try wire.readToEnd()
                }
                let client = try proxy.connect()
                let isUserinfo = name == "userinfo"
                let text =
                    isUserinfo
                    ? request.replacing("\u{40}@", with: "\u{40}\(origin.authority)")
                        .replacing("Host: @", with: "Host: \(origin.authority)")
                    : request.replacing("@", with: origin.authority)
                try client.send(text)
                #expect(try client.readResponse().body.text == "hello")
                let exchange = try proxy.traffic.exchange()
                #expect(
                    exchange.requestHead.text == String(text.drop { $0 == "\r\n" })
                        || name.hasPrefix("coding"))
            }
        }
    }
}
