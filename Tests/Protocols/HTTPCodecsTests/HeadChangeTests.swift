import Base
import HTTPModel
import Testing

@testable import HTTPCodecs

/// Heads that are written with other values.
@Suite struct HeadChangeTests {
    /// What frames a message, belongs to a connection, or could break out of its line.
    static let refused: [(target: String?, name: String, value: String?)] = [
        (nil, "Content-Length", "5"), (nil, "content-length", nil), (nil, "Host", "other.test"),
        (nil, "Transfer-Encoding", "chunked"), (nil, "TRANSFER-ENCODING", nil),
        (nil, "Connection", "close"), (nil, "Upgrade", "websocket"), (nil, "Expect", nil),
        (nil, "Keep-Alive", "1"), (nil, "TE", "trailers"), (nil, "Trailer", "x"),
        (nil, "Proxy-Connection", "close"), (nil, "Proxy-Authorization", "Basic x"),
        (nil, "HTTP2-Settings", "AAA"), (nil, ":path", "/"), (nil, "", "x"), (nil, "a b", "x"),
        (nil, "a:", "x"), (nil, "x", "a\r\nb: c"), (nil, "x", "a\nb"), (nil, "x", "a\0b"),
        ("", "x", "y"), ("other", "x", "y"), ("http://other.test/", "x", "y"), ("*", "x", "y"),
        ("/a b", "x", "y"), ("/a\r\nb: c", "x", "y"), ("/a#b", "x", "y"), ("/ä", "x", "y"),
    ]

    @Test(arguments: refused)
    func refuses(_ row: (target: String?, name: String, value: String?)) {
        #expect(made(row.target, [(row.name, row.value)]) == nil)
    }

    static let requests:
        [(target: String?, fields: [(String, String?)], before: String, after: String)] = [
            (nil, [], "GET / HTTP/1.0|a: 1", "GET / HTTP/1.0|a: 1"),
            ("/b?c", [], "GET / HTTP/1.0|a: 1", "GET /b?c HTTP/1.0|a: 1"),
            ("/b", [], "GET http://a.test/ HTTP/1.0|a: 1", "GET /b HTTP/1.0|a: 1"),
            ("/b", [], "GET / HTTP/1.0", "GET /b HTTP/1.0"),
            (
                nil, [("A", "2")], "GET / HTTP/1.0|a:   1  |b:1 |c:  3",
                "GET / HTTP/1.0|a: 2|b:1 |c:  3"
            ),
            (nil, [("a", "2")], "GET / HTTP/1.0|A: 1|b: 1|a: 3", "GET / HTTP/1.0|A: 2|b: 1"),
            (nil, [("a", nil)], "GET / HTTP/1.0|A: 1|b: 1|a: 3", "GET / HTTP/1.0|b: 1"),
            (nil, [("a", nil)], "GET / HTTP/1.0|b: 1", "GET / HTTP/1.0|b: 1"),
            (nil, [("C", "")], "GET / HTTP/1.0|b: 1", "GET / HTTP/1.0|b: 1|C: "),
            (nil, [("C", "1")], "GET / HTTP/1.0", "GET / HTTP/1.0|C: 1"),
            (
                "/long/er", [("b", "2"), ("c", "3")], "GET /l HTTP/1.0|b: 1|d: 4",
                "GET /long/er HTTP/1.0|b: 2|d: 4|c: 3"
            ),
            ("/", [("d", nil)], "GET /long HTTP/1.0|b: 1|d: 4|e: 5", "GET / HTTP/1.0|b: 1|e: 5"),
        ]

    /// What comes of it is read as what it says, by the reader of the wire.
    @Test(arguments: requests)
    func changesRequests(
        _ row: (target: String?, fields: [(String, String?)], before: String, after: String)
    ) throws {
        let change = try #require(made(row.target, row.fields))
        let before = try head(row.before)
        let after = change.apply(to: before, path: Array("/".utf8)[...])
        #expect(after.raw.text == Self.wire(row.after))
        let read = try head(row.after)
        #expect(after.target.text == read.target.text && after.method.text == read.method.text)
        #expect(after.fields.pairs.map(\.name) == read.fields.pairs.map(\.name))
        #expect(after.fields.pairs.map(\.value) == read.fields.pairs.map(\.value))
        #expect(after.fields.slices.map(\.known) == read.fields.slices.map(\.known))
    }

    /// A target that is no path stays: CONNECT's, and that of OPTIONS for a whole server.
    @Test func leavesOtherTargets() throws {
        let change = try #require(made("/b", []))
        let head = try head("OPTIONS * HTTP/1.0|a: 1")
        #expect(change.apply(to: head, path: head.target).raw == head.raw)
        #expect(change.target(insteadOf: head.target) == nil)
    }

    @Test func changesResponses() throws {
        let change = try #require(made(nil, [("set-cookie", nil), ("X", "1")]))
        let text = Self.wire("HTTP/1.0 200 Fine|Set-Cookie: a=b|Content-Length: 5|Set-Cookie: c=d")
        let before = try #require(try ResponseReader.read(Array(text.utf8).span)?.head)
        let after = change.apply(to: before)
        #expect(after.raw.text == Self.wire("HTTP/1.0 200 Fine|Content-Length: 5|X: 1"))
        #expect(after.status == 200 && after.reason.text == "Fine")
        #expect(after.fields.first(.contentLength)?.text == "5")
    }

    private func made(_ target: String?, _ fields: [(String, String?)]) -> HeadChange? {
        HeadChange(
            target: target.map { Array($0.utf8) },
            fields.map { ($0.0, $0.1.map { Array($0.utf8) }) })
    }

    private static func wire(_ text: String) -> String {
        text.split(separator: "|").joined(separator: "\r\n") + "\r\n\r\n"
    }

    private func head(_ text: String) throws -> RequestHead {
        try #require(try RequestReader.read(Array(Self.wire(text).utf8).span)?.head)
    }
}
