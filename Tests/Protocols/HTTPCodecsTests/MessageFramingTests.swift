import HTTPModel
import Testing

@testable import HTTPCodecs

struct FramingRow: Sendable, CustomTestStringConvertible {
    var name: String
    var start: String
    var fields: String
    var expected: String
    var testDescription: String { name }

    init(_ name: String, _ start: String, _ fields: String, _ expected: String) {
        self.name = name
        self.start = start
        self.fields = fields
        self.expected = expected
    }
}

private func described(_ framing: () throws(HTTP1Violation) -> BodyFraming) -> String {
    do throws(HTTP1Violation) {
        return "\(try framing())"
    } catch {
        return "\(error.code) \(error.status) \(error.isSmuggling)"
    }
}

private let post = "POST / HTTP/1.1\r\nHost: a"
private let oldPost = "POST / HTTP/1.0"

@Suite struct MessageFramingTests {
    static let requests: [FramingRow] = [
        .init("neither", post, "", "none"),
        .init("GET with neither", "GET / HTTP/1.1\r\nHost: a", "", "none"),
        .init("length", post, "Content-Length: 5", "length(5)"),
        .init("length in 1.0", oldPost, "Content-Length: 5", "length(5)"),
        .init("GET with a length", "GET / HTTP/1.1\r\nHost: a", "Content-Length: 5", "length(5)"),
        .init("length 0", post, "Content-Length: 0", "none"),
        .init("leading zeros", post, "content-LENGTH: 0005", "length(5)"),
        .init(
            "longest", post, "Content-Length: 9223372036854775807", "length(9223372036854775807)"),
        .init("chunked", post, "Transfer-Encoding: chunked", "chunked"),
        .init("chunked in any case", post, "transfer-encoding: ChunKED", "chunked"),
        .init(
            "fields that look alike", post, "X-Content-Length: 5\r\nContent-Length2: 6", "none"),
        .init("CONNECT", "CONNECT a:1 HTTP/1.1\r\nHost: a:1", "", "none"),
        .init(
            "CONNECT, length 0", "CONNECT a:1 HTTP/1.1\r\nHost: a:1", "Content-Length: 0", "none"),
    ]

    static let refusedRequests: [FramingRow] = [
        .init(
            "CL.TE", post, "Content-Length: 5\r\nTransfer-Encoding: chunked",
            "both-lengths 400 true"),
        .init(
            "TE.CL", post, "Transfer-Encoding: chunked\r\nContent-Length: 5",
            "both-lengths 400 true"),
        .init(
            "CL 0 and TE", post, "Content-Length: 0\r\nTransfer-Encoding: chunked",
            "both-lengths 400 true"),
        .init(
            "CL and TE identity", post, "Content-Length: 5\r\nTransfer-Encoding: identity",
            "both-lengths 400 true"),
        .init(
            "CL and empty TE", post, "Content-Length: 5\r\nTransfer-Encoding:",
            "both-lengths 400 true"),
        .init(
            "two equal CLs", post, "Content-Length: 5\r\nContent-Length: 5",
            "duplicate-content-length 400 true"),
        .init(
            "two CLs", post, "Content-Length: 5\r\nContent-Length: 6",
            "duplicate-content-length 400 true"),
        .init("list", post, "Content-Length: 5, 5", "duplicate-content-length 400 true"),
        .init(
            "list without space", post, "Content-Length: 5,6", "duplicate-content-length 400 true"),
        .init("comma behind", post, "Content-Length: 5,", "duplicate-content-length 400 true"),
        .init("empty CL", post, "Content-Length:", "invalid-content-length 400 true"),
        .init("plus", post, "Content-Length: +5", "invalid-content-length 400 true"),
        .init("minus", post, "Content-Length: -5", "invalid-content-length 400 true"),
        .init("hexadecimal", post, "Content-Length: 0x5", "invalid-content-length 400 true"),
        .init("hex digits", post, "Content-Length: a", "invalid-content-length 400 true"),
        .init("underscore", post, "Content-Length: 1_0", "invalid-content-length 400 true"),
        .init("fraction", post, "Content-Length: 5.0", "invalid-content-length 400 true"),
        .init("exponent", post, "Content-Length: 1e1", "invalid-content-length 400 true"),
        .init("quoted", post, "Content-Length: \"5\"", "invalid-content-length 400 true"),
        .init("space within", post, "Content-Length: 5 5", "invalid-content-length 400 true"),
        .init("tab within", post, "Content-Length: 5\t5", "invalid-content-length 400 true"),
        .init("Arabic digit", post, "Content-Length: \u{0665}", "invalid-content-length 400 true"),
        .init(
            "2^63", post, "Content-Length: 9223372036854775808", "invalid-content-length 400 true"),
        .init(
            "2^64", post, "Content-Length: 18446744073709551616",
            "invalid-content-length 400 true"),
        .init(
            "2^64 + 5", post, "Content-Length: 18446744073709551621",
            "invalid-content-length 400 true"),
        .init(
            "TE in 1.0", oldPost, "Transfer-Encoding: chunked",
            "transfer-encoding-in-http10 400 true"),
        .init(
            "gzip, chunked", post, "Transfer-Encoding: gzip, chunked",
            "unsupported-transfer-coding 501 false"),
        .init(
            "gzip, chunked in two lines", post,
            "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked",
            "unsupported-transfer-coding 501 false"),
        .init(
            "identity, chunked", post, "Transfer-Encoding: identity, chunked",
            "unsupported-transfer-coding 501 false"),
        .init("gzip", post, "Transfer-Encoding: gzip", "chunked-not-final 400 true"),
        .init("xchunked", post, "Transfer-Encoding: xchunked", "chunked-not-final 400 true"),
        .init("chunkedx", post, "Transfer-Encoding: chunkedx", "chunked-not-final 400 true"),
        .init("identity", post, "Transfer-Encoding: identity", "chunked-not-final 400 true"),
        .init(
            "chunked, identity", post, "Transfer-Encoding: chunked, identity",
            "chunked-not-final 400 true"),
        .init(
            "chunked, gzip", post, "Transfer-Encoding: chunked, gzip",
            "chunked-not-final 400 true"),
        .init(
            "chunked and identity in two lines", post,
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
            "chunked-not-final 400 true"),
        .init(
            "chunked, chunked", post, "Transfer-Encoding: chunked, chunked",
            "chunked-twice 400 true"),
        .init(
            "chunked in two lines", post,
            "Transfer-Encoding: chunked\r\ntransfer-encoding: chunked", "chunked-twice 400 true"),
        .init("empty TE", post, "Transfer-Encoding:", "invalid-transfer-encoding 400 true"),
        .init("comma", post, "Transfer-Encoding: ,", "invalid-transfer-encoding 400 true"),
        .init(
            "comma before", post, "Transfer-Encoding: ,chunked",
            "invalid-transfer-encoding 400 true"),
        .init(
            "comma behind", post, "Transfer-Encoding: chunked,",
            "invalid-transfer-encoding 400 true"),
        .init(
            "quoted", post, "Transfer-Encoding: \"chunked\"", "invalid-transfer-encoding 400 true"),
        .init(
            "parameter", post, "Transfer-Encoding: chunked;q=1",
            "invalid-transfer-encoding 400 true"),
        .init(
            "space within", post, "Transfer-Encoding: chunked gzip",
            "invalid-transfer-encoding 400 true"),
        .init(
            "no-break space", post, "Transfer-Encoding: \u{A0}chunked",
            "invalid-transfer-encoding 400 true"),
        .init(
            "colon", post, "Transfer-Encoding: : chunked", "invalid-transfer-encoding 400 true"),
        .init(
            "CONNECT with a length", "CONNECT a:1 HTTP/1.1\r\nHost: a:1", "Content-Length: 5",
            "connect-with-content 400 true"),
        .init(
            "CONNECT with chunks", "CONNECT a:1 HTTP/1.1\r\nHost: a:1",
            "Transfer-Encoding: chunked", "connect-with-content 400 true"),
    ]

    @Test(arguments: requests + refusedRequests)
    func framesRequests(row: FramingRow) throws {
        let fields = row.fields.isEmpty ? "" : "\r\n\(row.fields)"
        let head = try requestHead("\(row.start)\(fields)\r\n\r\n")
        #expect(
            described { () throws(HTTP1Violation) in try MessageFraming.ofRequest(head) }
                == row.expected)
    }

    /// `start` is the method and the status.
    static let responses: [FramingRow] = [
        .init("length", "GET 200", "Content-Length: 5", "length(5)"),
        .init("length 0", "GET 200", "Content-Length: 0", "none"),
        .init("chunked", "GET 200", "Transfer-Encoding: chunked", "chunked"),
        .init("neither", "GET 200", "", "untilClose"),
        .init("error", "POST 500", "", "untilClose"),
        .init("HEAD", "HEAD 200", "", "none"),
        .init("HEAD with a length", "HEAD 200", "Content-Length: 5", "none"),
        .init("HEAD with chunks", "HEAD 200", "Transfer-Encoding: chunked", "none"),
        .init("interim", "GET 100", "", "none"),
        .init("early hints", "GET 103", "Content-Length: 5", "none"),
        .init("no content", "GET 204", "Content-Length: 5", "none"),
        .init("reset content", "GET 205", "Content-Length: 0", "none"),
        .init("not modified", "GET 304", "Content-Length: 5", "none"),
        .init("not modified with chunks", "GET 304", "Transfer-Encoding: chunked", "none"),
        .init("unasked switch", "GET 101", "Upgrade: websocket", "unasked-switch 400 true"),
        .init(
            "unasked switch with a length", "GET 101", "Content-Length: 5",
            "unasked-switch 400 true"),
        .init("tunnel", "CONNECT 200", "", "tunnel"),
        .init("tunnel by 204", "CONNECT 204", "", "tunnel"),
        .init("tunnel with a length", "CONNECT 299", "Content-Length: 5", "tunnel"),
        .init("tunnel with chunks", "CONNECT 200", "Transfer-Encoding: chunked", "tunnel"),
        .init("no tunnel", "CONNECT 407", "Content-Length: 5", "length(5)"),
        .init("no tunnel, interim", "CONNECT 100", "", "none"),
        .init("unknown class", "GET 999", "", "untilClose"),
        .init(
            "both", "GET 200", "Content-Length: 5\r\nTransfer-Encoding: chunked",
            "both-lengths 400 true"),
        .init(
            "both to HEAD", "HEAD 200", "Content-Length: 5\r\nTransfer-Encoding: chunked",
            "both-lengths 400 true"),
        .init(
            "two lengths and 304", "GET 304", "Content-Length: 5\r\nContent-Length: 5",
            "duplicate-content-length 400 true"),
        .init(
            "bad length and 204", "GET 204", "Content-Length: x",
            "invalid-content-length 400 true"),
        .init(
            "bad coding and 101", "GET 101", "Transfer-Encoding: x", "chunked-not-final 400 true"),
        .init(
            "gzip, chunked", "GET 200", "Transfer-Encoding: gzip, chunked",
            "unsupported-transfer-coding 501 false"),
    ]

    @Test(arguments: responses)
    func framesResponses(row: FramingRow) throws {
        let words = row.start.split(separator: " ")
        let methods: [Substring: KnownMethod] = [
            "GET": .get, "HEAD": .head, "POST": .post, "CONNECT": .connect,
        ]
        let method = try #require(methods[words[0]])
        let fields = row.fields.isEmpty ? "" : "\r\n\(row.fields)"
        let head = try responseHead("HTTP/1.1 \(words[1]) R\(fields)\r\n\r\n")
        #expect(
            described { () throws(HTTP1Violation) in
                try MessageFraming.ofResponse(
                    head, toMethod: method, offer: .none, isRequestWhole: true)
            } == row.expected)
    }

    /// `start` is the request's fields, and whether it is whole.
    static let switches: [FramingRow] = [
        .init("agreed", "Connection: Upgrade\r\nUpgrade: websocket", "websocket", "tunnel"),
        .init("in any case", "connection: UPGRADE\r\nUpgrade: WebSocket", "webSOCKET", "tunnel"),
        .init(
            "one of several", "Connection: a, upgrade\r\nUpgrade: a/1, b\r\nUpgrade: c", "b",
            "tunnel"),
        .init(
            "several", "Connection: upgrade\r\nUpgrade: a, b", "b, a", "tunnel"),
        .init("nothing asked", "Accept: */*", "websocket", "unasked-switch 400 true"),
        .init(
            "without the option", "Upgrade: websocket", "websocket", "unasked-switch 400 true"),
        .init(
            "with another option", "Connection: xupgrade-not\r\nUpgrade: websocket", "websocket",
            "unasked-switch 400 true"),
        .init(
            "the option alone", "Connection: upgrade", "websocket", "unasked-switch 400 true"),
        .init(
            "another protocol", "Connection: upgrade\r\nUpgrade: websocket", "h2c",
            "unasked-switch 400 true"),
        .init(
            "another version", "Connection: upgrade\r\nUpgrade: a/1", "a/2",
            "unasked-switch 400 true"),
        .init(
            "one more than asked", "Connection: upgrade\r\nUpgrade: a", "a, b",
            "unasked-switch 400 true"),
        .init(
            "a protocol without a name", "Connection: upgrade\r\nUpgrade: a", " , ",
            "unasked-switch 400 true"),
        .init(
            "before the end", "!Connection: upgrade\r\nUpgrade: a", "a",
            "early-switch 400 true"),
        .init(
            "unasked before the end", "!Accept: */*", "a", "unasked-switch 400 true"),
    ]

    @Test(arguments: switches)
    func judgesSwitches(row: FramingRow) throws {
        let isWhole = !row.start.hasPrefix("!")
        let fields = row.start.drop { $0 == "!" }
        let request = try #require(
            try RequestReader.read(
                [UInt8]("GET / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\n".utf8).span))
        let head = try responseHead(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: \(row.fields)\r\n\r\n")
        #expect(
            described { () throws(HTTP1Violation) in
                try MessageFraming.ofResponse(
                    head, toMethod: .get, offer: UpgradeOffer(of: request.head.fields),
                    isRequestWhole: isWhole)
            } == row.expected)
    }

    @Test func refusesChunksInAnOldResponse() throws {
        let head = try responseHead("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        #expect(throws: HTTP1Violation.transferEncodingInHTTP10) {
            try MessageFraming.ofResponse(
                head, toMethod: .get, offer: .none, isRequestWhole: true)
        }
    }
}
