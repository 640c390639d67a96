import Base
import ContentServer
import Contents
import HTTPCodecs
import HTTPServer
import Testing

/// httpbin's routes, in the shapes that suites of tests know.
struct HttpbinTests {
    private static let server = ContentServer(ContentServerConfiguration())

    private static func answer(
        _ method: String, _ path: String, _ headers: [(String, String)] = [], body: [UInt8] = []
    ) async throws -> ServerResponse {
        await server.answer(try request(method, path, headers), RequestBody(body))
    }

    @Test(arguments: [
        ("GET", "/get", 200, "application/json"),
        ("POST", "/get", 405, "text/plain; charset=utf-8"),
        ("GET", "/post", 405, "text/plain; charset=utf-8"),
        ("PUT", "/put", 200, "application/json"), ("PATCH", "/patch", 200, "application/json"),
        ("DELETE", "/delete", 200, "application/json"),
        ("DELETE", "/anything/a/b", 200, "application/json"),
        ("GET", "/headers", 200, "application/json"), ("GET", "/ip", 200, "application/json"),
        ("GET", "/user-agent", 200, "application/json"),
        ("GET", "/status/200:1,500:0", 200, "text/plain; charset=utf-8"),
        ("GET", "/status/500:0", 400, "text/plain; charset=utf-8"),
        ("GET", "/status/200,x", 400, "text/plain; charset=utf-8"),
        ("GET", "/status/200:nan", 400, "text/plain; charset=utf-8"),
        ("GET", "/redirect/0", 404, "text/plain; charset=utf-8"),
        ("GET", "/redirect-to", 400, "text/plain; charset=utf-8"),
        ("GET", "/redirect-to?url=/x&status_code=200", 400, "text/plain; charset=utf-8"),
        ("GET", "/cookies", 200, "application/json"),
        ("GET", "/basic-auth/a/b", 401, ""),
        ("GET", "/hidden-basic-auth/a/b", 404, "text/plain; charset=utf-8"),
        ("GET", "/bearer", 401, ""), ("GET", "/bytes/10", 200, "application/octet-stream"),
        ("GET", "/bytes/x", 400, "text/plain; charset=utf-8"),
        ("GET", "/stream-bytes/10", 200, "application/octet-stream"),
        ("GET", "/range/26", 200, "application/octet-stream"),
        ("GET", "/base64/aGVsbG8=", 200, "text/html; charset=utf-8"),
        ("GET", "/base64/!", 400, "text/plain; charset=utf-8"),
        ("GET", "/uuid", 200, "application/json"), ("GET", "/cache", 200, "application/json"),
        ("GET", "/cache/60", 200, "application/json"),
        ("GET", "/etag/x", 200, "application/json"),
        ("GET", "/response-headers?a=b", 200, "application/json"),
        ("GET", "/encoding/utf8", 200, "text/html; charset=utf-8"),
        ("GET", "/html", 200, "text/html; charset=utf-8"), ("GET", "/xml", 200, "application/xml"),
        ("GET", "/json", 200, "application/json"), ("GET", "/robots.txt", 200, "text/plain"),
        ("GET", "/deny", 200, "text/plain"),
        ("GET", "/forms/post", 200, "text/html; charset=utf-8"),
        ("GET", "/image", 200, "image/png"), ("GET", "/image/png", 200, "image/png"),
        ("GET", "/image/jpeg", 200, "image/jpeg"), ("GET", "/image/webp", 200, "image/webp"),
        ("GET", "/image/svg", 200, "image/svg+xml"), ("GET", "/image/gif", 406, "application/json"),
        ("GET", "/delay/0.01", 200, "application/json"),
        ("POST", "/delay/0", 200, "application/json"),
        ("GET", "/delay/-1", 400, "text/plain; charset=utf-8"),
        ("GET", "/delay/nan", 400, "text/plain; charset=utf-8"),
        ("GET", "/drip?numbytes=5&duration=0.1&delay=0", 200, "application/octet-stream"),
        ("GET", "/drip?numbytes=0", 400, "text/plain; charset=utf-8"),
        ("GET", "/drip?numbytes=99999999999", 400, "text/plain; charset=utf-8"),
        ("GET", "/drip?duration=inf", 400, "text/plain; charset=utf-8"),
        ("GET", "/links/3", 302, ""), ("GET", "/links/3/1", 200, "text/html; charset=utf-8"),
    ])
    func answers(_ method: String, _ path: String, _ status: Int, _ type: String) async throws {
        for prefix in ["", "/httpbin"] {
            let response = try await Self.answer(method, prefix + path)
            #expect(response.status == status)
            #expect(response.first("Content-Type") ?? "" == type)
        }
    }

    @Test func tellsARequest() async throws {
        let response = try await Self.answer(
            "POST", "/anything/x?a=1&a=2&b=%C3%A9",
            [
                ("Host", "bin.test:81"), ("content-TYPE", "application/json"), ("x-a", "1"),
                ("X-A", "2"),
            ],
            body: [UInt8](" { \"k\" : [15, null] } ".utf8))
        #expect(
            try await response.content().text == """
                {
                  "args": {"a":["1","2"],"b":"é"},
                  "data": " { \\"k\\" : [15, null] } ",
                  "files": {},
                  "form": {},
                  "headers": {"Host":"bin.test:81","Content-Type":"application/json","X-A":"1,2"},
                  "json": {"k":[15,null]},
                  "method": "POST",
                  "origin": "192.0.2.1",
                  "url": "http://bin.test:81/anything/x?a=1&a=2&b=%C3%A9"
                }

                """)
    }

    @Test(arguments: [
        ("application/x-www-form-urlencoded", "a=1&b=x+y", "\"form\": {\"a\":\"1\",\"b\":\"x y\"}"),
        ("application/x-www-form-urlencoded; charset=utf-8", "a=1", "\"form\": {\"a\":\"1\"}"),
        ("text/plain", "hello", "\"data\": \"hello\""),
        ("text/plain", "{", "\"json\": null"),
        (
            "multipart/form-data; boundary=x",
            "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--x\r\n"
                + "Content-Disposition: form-data; name=\"f\"; filename=\"f.txt\"\r\n\r\ntext\r\n--x--\r\n",
            "\"files\": {\"f\":\"text\"},\n  \"form\": {\"a\":\"1\"}"
        ),
    ])
    func tellsContents(_ type: String, _ body: String, _ expected: String) async throws {
        let response = try await Self.answer(
            "POST", "/post", [("Content-Type", type)], body: [UInt8](body.utf8))
        let text = try await response.content().text
        #expect(text.contains(expected), "\(text)")
        #expect(!text.contains("\"method\""))
    }

    @Test func tellsBinaryAsBase64() async throws {
        let response = try await Self.answer("POST", "/post", body: [0xFF, 0])
        #expect(
            try await response.content().text.contains(
                "\"data\": \"data:application/octet-stream;base64,/wA=\""))
    }

    @Test(arguments: [
        ("/redirect/2", "/relative-redirect/1"), ("/redirect/1", "/get"),
        ("/redirect/3?absolute=true", "http://bin.test/absolute-redirect/2"),
        ("/absolute-redirect/1", "http://bin.test/get"),
        ("/relative-redirect/18446744073709551615", "/relative-redirect/18446744073709551614"),
        ("/httpbin/redirect/2", "/httpbin/relative-redirect/1"),
        ("/redirect-to?url=http%3A%2F%2Fa.test%2F%0d%0a", "http://a.test/%0D%0A"),
        ("/cookies/set?a=b", "/cookies"), ("/httpbin/cookies/delete?a", "/httpbin/cookies"),
        ("/links/3", "/links/3/0"),
    ])
    func redirects(_ path: String, _ location: String) async throws {
        let response = try await Self.answer("GET", path, [("Host", "bin.test")])
        #expect(response.status == 302)
        #expect(response.first("Location") == location)
    }

    @Test(arguments: [
        ("/cookies/set?a=b&c=d", ["a=b; Path=/", "c=d; Path=/"]),
        ("/cookies/set/a/b", ["a=b; Path=/"]),
        (
            "/cookies/set/a/b?samesite=Strict&secure&httponly&max-age=5",
            ["a=b; Path=/; SameSite=Strict; Secure; HttpOnly; Max-Age=5"]
        ),
        ("/cookies/set/a/b?expires=0", ["a=b; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT"]),
        ("/cookies/set?a=b;%20Domain=x", ["a=bDomain=x; Path=/"]),
        (
            "/cookies/delete?a",
            ["a=; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=0; Path=/"]
        ),
    ])
    func setsCookies(_ path: String, _ cookies: [String]) async throws {
        let response = try await Self.answer("GET", path)
        #expect(
            response.fields.filter { $0.name == "Set-Cookie" }.map(\.value) == cookies)
    }

    @Test func showsCookies() async throws {
        let response = try await Self.answer("GET", "/cookies", [("Cookie", "a=1; b=\"x\"")])
        #expect(
            try await response.content().text == "{\"cookies\":{\"a\":\"1\",\"b\":\"\\\"x\\\"\"}}\n"
        )
    }

    @Test(arguments: [
        ("/basic-auth/me/pass", "Basic bWU6cGFzcw==", 200),
        ("/basic-auth/me/other", "Basic bWU6cGFzcw==", 401),
        ("/hidden-basic-auth/me/pass", "Basic bWU6cGFzcw==", 200),
        ("/bearer", "Bearer abc", 200), ("/bearer", "bearer abc", 401),
    ])
    func logsIn(_ path: String, _ authorization: String, _ status: Int) async throws {
        let response = try await Self.answer("GET", path, [("Authorization", authorization)])
        #expect(response.status == status)
    }

    @Test(arguments: [
        ("/gzip", ContentCoding.gzip, "gzipped"), ("/deflate", .deflate, "deflated"),
        ("/brotli", .brotli, "brotli"), ("/zstd", .zstd, "zstd"),
    ])
    func codes(_ path: String, _ coding: ContentCoding, _ name: String) async throws {
        let response = try await Self.answer("GET", path)
        #expect(response.first("Content-Encoding") == coding.rawValue)
        let (content, outcome) = ContentDecoder.decode(
            try await response.content(), [coding], outputLimit: 10_000)
        #expect(outcome == .complete)
        #expect(content.text.contains("\"\(name)\": true"))
        #expect(JSONDocument(content) != nil)
    }

    @Test(
        arguments: [
            ([], 200, "abcdefghijklmnopqrstuvwxyzabcd"), ([("Range", "bytes=25-27")], 206, "zab"),
            ([("Range", "bytes=-2")], 206, "cd"), ([("Range", "bytes=30-")], 416, nil),
            ([("Range", "bytes=0-1"), ("If-Range", "\"range30\"")], 206, "ab"),
            ([("If-None-Match", "\"range30\"")], 304, nil),
        ] as [([(String, String)], Int, String?)])
    func sendsRanges(
        _ headers: [(String, String)], _ status: Int, _ text: String?
    ) async throws {
        let response = try await Self.answer("GET", "/range/30", headers)
        #expect(response.status == status)
        if let text { #expect(try await response.content(room: 7).text == text) }
    }

    @Test func answersConditions() async throws {
        let field = [("If-None-Match", "\"x\"")]
        #expect(try await Self.answer("GET", "/etag/x", field).status == 304)
        #expect(try await Self.answer("GET", "/etag/y", field).status == 200)
        #expect(try await Self.answer("GET", "/etag/y", [("If-Match", "\"x\"")]).status == 412)
        #expect(try await Self.answer("GET", "/cache", field).status == 304)
        let cached = try await Self.answer("GET", "/cache/60")
        #expect(cached.first("Cache-Control") == "public, max-age=60")
    }

    @Test func setsFields() async throws {
        let response = try await Self.answer(
            "GET", "/response-headers?X-A=1&Content-Type=text/plain&X%0d%0aB=2&X-C=3%0d%0aX-D:4")
        #expect(response.first("X-A") == "1")
        #expect(response.first("Content-Type") == "text/plain")
        #expect(response.fields.allSatisfy { !$0.name.contains("B") })
        #expect(response.first("X-C") == "3  X-D:4")
    }

    /// Drawn from the seed, so that another run gets the same in the same order.
    @Test func drawsStatuses() async throws {
        var runs: Set<[Int]> = []
        for _ in 0..<2 {
            let server = ContentServer(ContentServerConfiguration())
            var statuses: [Int] = []
            for _ in 0..<100 {
                statuses.append(
                    await server.answer(
                        try request("GET", "/status/200:3,503"), RequestBody([])
                    ).status)
            }
            #expect((60...90).contains(statuses.count { $0 == 200 }))
            #expect(Set(statuses) == [200, 503])
            runs.insert(statuses)
        }
        #expect(runs.count == 1)
    }

    @Test func drawsFromSeeds() async throws {
        let uuid = try await Self.answer("GET", "/uuid?seed=5").content().text
        #expect(uuid == (try await Self.answer("GET", "/uuid?seed=5").content().text))
        #expect(uuid != (try await Self.answer("GET", "/uuid?seed=6").content().text))
        #expect(uuid.utf8.count == 48)
        let bytes = try await Self.answer("GET", "/bytes/100?seed=5").content()
        #expect(bytes == GeneratedContentTests.bytes(seed: 5, 0..<100))
    }

    /// A folder's own files come first; only below the prefix is httpbin there then.
    @Test func yieldsToAFolder() async throws {
        var configuration = ContentServerConfiguration()
        configuration.folder = try Folder(path: "/proc/self/fdinfo")
        let server = ContentServer(configuration)
        for (path, status) in [("/get", 404), ("/httpbin/get", 200), ("/status/418", 418)] {
            let response = await server.answer(try request("GET", path), RequestBody([]))
            #expect(response.status == status, "\(path)")
        }
    }
}
