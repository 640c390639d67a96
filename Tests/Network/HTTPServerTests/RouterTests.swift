import Base
import HTTPModel
import HTTPServer
import Testing

struct RouterTests {
    private static func named(_ name: String) -> Answer {
        { request, _ in
            let match = request.match
            let rest = match.rest.map(\.text).joined(separator: "|")
            return ServerResponse(
                200, type: "text/plain", "\(name) \(match["a"].text) \(match["b"].text) \(rest)")
        }
    }

    private static let router = Router([
        Route([.get], "/", answer: named("root")),
        Route([.get], "/items/:a", answer: named("item")),
        Route([.put, .delete], "/items/:a", answer: named("change")),
        Route([.post], "/items", answer: named("add")),
        Route([.get], "/items/:a/parts/:b", answer: named("part")),
        Route([.get], "/files/*", answer: named("files")),
        Route([.options], "/own", answer: named("own")),
        Route([.head], "/only-head", answer: named("head")),
    ])

    @Test(arguments: [
        ("GET", "/", 200, "root   "),
        ("GET", "/?a=b", 200, "root   "),
        ("GET", "/items/7", 200, "item 7  "),
        ("HEAD", "/items/7", 200, "item 7  "),
        ("GET", "/items/a%20b", 200, "item a b  "),
        ("GET", "/items/a%2Fb", 200, "item a/b  "),
        ("PUT", "/items/7", 200, "change 7  "),
        ("DELETE", "/items/7", 200, "change 7  "),
        ("POST", "/items", 200, "add   "),
        ("GET", "/items/7/parts/8", 200, "part 7 8 "),
        ("GET", "/files", 200, "files   "),
        ("GET", "/files/", 200, "files   "),
        ("GET", "/files/a/b%20c", 200, "files   a|b c"),
        ("GET", "/files/..%2f..", 200, "files   ../.."),
        ("OPTIONS", "/own", 200, "own   "),
        ("HEAD", "/only-head", 200, "head   "),
    ])
    func routes(_ method: String, _ path: String, _ status: Int, _ text: String) async throws {
        let response = await Self.router.answer(
            try Self.request(method, path), RequestBody([]))
        #expect(response.status == status)
        guard case .bytes(let bytes) = response.body else { return }
        #expect(bytes.text == text)
    }

    @Test(arguments: [
        ("GET", "/none", 404, String?.none),
        ("GET", "/items/", 404, nil),
        ("GET", "/items//parts/8", 404, nil),
        ("GET", "/items/7/parts", 404, nil),
        ("GET", "//", 404, nil),
        ("POST", "/none", 404, nil),
        ("OPTIONS", "/none", 404, nil),
        ("GET", "/items", 405, "OPTIONS, POST"),
        ("POST", "/items/7", 405, "DELETE, GET, HEAD, OPTIONS, PUT"),
        ("get", "/items/7", 405, "DELETE, GET, HEAD, OPTIONS, PUT"),
        ("BREW", "/", 405, "GET, HEAD, OPTIONS"),
        ("GET", "/own", 405, "OPTIONS"),
        ("GET", "/only-head", 405, "HEAD, OPTIONS"),
        ("OPTIONS", "/items/7", 204, "DELETE, GET, HEAD, OPTIONS, PUT"),
        ("OPTIONS", "*", 204, "DELETE, GET, HEAD, OPTIONS, POST, PUT"),
        ("GET", "*", 400, nil),
    ])
    func refuses(_ method: String, _ path: String, _ status: Int, _ allow: String?) async throws {
        let response = await Self.router.answer(
            try Self.request(method, path), RequestBody([]))
        #expect(response.status == status)
        #expect(response.first("allow") == allow)
    }

    /// The first that matches answers, whether its first segment is given or may be any.
    @Test(arguments: [
        ("/a/x", "one"), ("/b/x", "two"), ("/a/y", "two"), ("/b/y", "two"), ("/a/z/z", "four"),
        ("/a", "four"), ("/", "four"), ("/b/y/z", "five"),
    ])
    func keepsTheOrder(_ path: String, _ name: String) async throws {
        let router = Router([
            Route([.get], "/a/x", answer: Self.named("one")),
            Route([.get], "/:a/:b", answer: Self.named("two")),
            Route([.get], "/a/y", answer: Self.named("three")),
            Route([.get], "/b/y/z", answer: Self.named("five")),
            Route([.get], "/*", answer: Self.named("four")),
        ])
        let response = await router.answer(try Self.request("GET", path), RequestBody([]))
        guard case .bytes(let bytes) = response.body else { return }
        #expect(bytes.text.hasPrefix(name))
    }

    @Test(arguments: ["", "a", "http://a/", "/%", "/%4", "/%4g", "/a/%zz", "?a", "#"])
    func refusesPaths(_ path: String) {
        #expect(RequestPath(path.utf8) == nil)
    }

    @Test func splitsPaths() throws {
        let path = try #require(RequestPath("/a%2Fb//c/?x=1&y=a+b%21&y=2#z".utf8))
        #expect(path.raw.text == "/a%2Fb//c/")
        #expect(path.query?.text == "x=1&y=a+b%21&y=2")
        #expect(path.segments.map(\.text) == ["a/b", "", "c", ""])
        #expect(path.queryValue("y")?.text == "a b!")
        #expect(path.queryValue("z") == nil)
        #expect(RequestPath("/".utf8)?.segments == [])
        #expect(RequestPath("/?".utf8)?.query == [])
    }

    @Test func tamesFields() {
        #expect(ResponseField("A", "b\r\nC: d\u{0}").value == "b  C: d ")
    }

    static func request(
        _ method: String, _ path: String, _ fields: Fields = .none
    ) throws -> ServerRequest {
        ServerRequest(
            method: RequestMethod(method.utf8), path: try #require(RequestPath(path.utf8)),
            host: nil, version: .http11, fields: fields,
            connection: ClientConnection(number: 1, peer: "", host: ""),
            receivedAt: Timestamp(microseconds: 1_780_000_000_000_000))
    }
}
