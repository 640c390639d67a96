import Base
import ContentServer
import HTTPModel
import HTTPServer
import Testing

struct ContentServerTests {
    private static let server = ContentServer(ContentServerConfiguration())

    private static func answer(
        _ method: String, _ path: String, _ headers: [(String, String)] = [], body: String = "",
        scheme: ServerRequest.Scheme = .http
    ) async throws -> ServerResponse {
        await server.answer(
            try request(method, path, headers, scheme: scheme), RequestBody([UInt8](body.utf8)))
    }

    @Test(arguments: [
        ("GET", "/", 200, "text/html; charset=utf-8"),
        ("HEAD", "/", 200, "text/html; charset=utf-8"),
        ("GET", "/assets/1/1k", 200, "application/octet-stream"),
        ("GET", "/assets/1/20g", 200, "application/octet-stream"),
        (
            "GET", "/assets/18446744073709551615/9223372036854775807", 200,
            "application/octet-stream"
        ),
        ("GET", "/assets/1/1k?type=text/html", 200, "text/html"),
        ("GET", "/assets/1/1k?type=video/mp4", 200, "video/mp4"),
        ("GET", "/assets/1/1k?type=x", 400, "text/plain; charset=utf-8"),
        ("GET", "/assets/1/1k?type=a/b%0d%0ac:d", 400, "text/plain; charset=utf-8"),
        ("GET", "/assets/x/1k", 404, "text/plain; charset=utf-8"),
        ("GET", "/assets/18446744073709551616/1", 404, "text/plain; charset=utf-8"),
        ("GET", "/assets/1/9223372036854775808", 404, "text/plain; charset=utf-8"),
        ("POST", "/assets/1/1k", 405, "text/plain; charset=utf-8"),
        ("GET", "/assets/1/1k/sha256", 200, "text/plain; charset=utf-8"),
        ("GET", "/assets/1/1t/sha256", 422, "text/plain; charset=utf-8"),
        ("GET", "/gallery/0", 200, "text/html; charset=utf-8"),
        ("GET", "/gallery/50", 200, "text/html; charset=utf-8"),
        ("GET", "/gallery/1001", 404, "text/plain; charset=utf-8"),
        ("GET", "/gallery/50/0.png", 200, "image/png"),
        ("GET", "/gallery/50/1.svg", 200, "image/svg+xml"),
        ("GET", "/gallery/50/2.css", 200, "text/css; charset=utf-8"),
        ("GET", "/gallery/50/3.js", 200, "text/javascript; charset=utf-8"),
        ("GET", "/gallery/50/3.css", 404, "text/plain; charset=utf-8"),
        ("GET", "/gallery/50/50.css", 404, "text/plain; charset=utf-8"),
        ("GET", "/gallery/50/00.png", 404, "text/plain; charset=utf-8"),
        ("GET", "/status/200", 200, "text/plain; charset=utf-8"),
        ("DELETE", "/status/503", 503, "text/plain; charset=utf-8"),
        ("GET", "/status/101", 400, "text/plain; charset=utf-8"),
        ("GET", "/status/600", 400, "text/plain; charset=utf-8"),
        ("GET", "/status/x", 400, "text/plain; charset=utf-8"),
        ("GET", "/status/204", 204, ""),
        ("GET", "/login", 200, "text/html; charset=utf-8"),
        ("PUT", "/login", 405, "text/plain; charset=utf-8"),
        ("GET", "/account", 401, "application/json"),
        ("GET", "/basic/alice", 401, "text/plain; charset=utf-8"),
        ("GET", "/api/echo", 200, "application/json"),
        ("GET", "/stream/10", 200, "application/json"),
        ("GET", "/stream/-1", 400, "text/plain; charset=utf-8"),
        ("GET", "/none", 404, "text/plain; charset=utf-8"),
    ])
    func answers(_ method: String, _ path: String, _ status: Int, _ type: String) async throws {
        let response = try await Self.answer(method, path)
        #expect(response.status == status)
        #expect(response.first("Content-Type") ?? "" == type)
    }

    @Test func everyStatusHasItsFields() async throws {
        for status in 200...599 {
            let response = try await Self.answer("GET", "/status/\(status)")
            #expect(response.status == status)
            if (300...308).contains(status), status != 304 {
                #expect(response.first("Location") == "/")
            }
        }
        #expect(try await Self.answer("GET", "/status/401").first("WWW-Authenticate") != nil)
    }

    @Test func digestsAssets() async throws {
        let response = try await Self.answer("GET", "/assets/0/3m/sha256")
        // sha256sum of 3 MiB of SplitMix64 seeded with 0, lowest byte first, by another program.
        #expect(
            try await response.content(room: 10).text
                == "344c8a780187fca11891d3d8e296893c7575532d35803985adbe8a505d67999f\n")
        #expect(response.body.length == 65)
        let empty = try await Self.answer("GET", "/assets/7/0/sha256")
        #expect(
            try await empty.content().text
                == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n")
    }

    @Test func servesTheFarEndOfAHugeAsset() async throws {
        let path = "/assets/3/9223372036854775807"
        let response = try await Self.answer("GET", path, [("Range", "bytes=-3")])
        #expect(response.status == 206)
        #expect(
            response.first("Content-Range")
                == "bytes 9223372036854775804-9223372036854775806/9223372036854775807")
        let top = UInt64(Int64.max)
        #expect(
            try await response.content() == GeneratedContentTests.bytes(seed: 3, top - 3..<top))
    }

    @Test func galleryNamesItsItems() async throws {
        let page = try await Self.answer("GET", "/gallery/50").content().text
        var count = 0
        for link in page.split(separator: "\"") where link.hasPrefix("/gallery/50/") {
            count += 1
            #expect(try await Self.answer("GET", String(link)).status == 200)
        }
        #expect(count == 50)
    }

    /// Checked with another decoder: a PNG's parts have checksums of their own.
    @Test func drawsPixels() async throws {
        let image = try await Self.answer("GET", "/gallery/1/0.png").content()
        #expect(image.prefix(8).hex == "89504e470d0a1a0a")
        #expect(image.hex.hasSuffix("0000000049454e44ae426082"))
        // Signature, header, and a stored block of 16 rows of 49 bytes with its frames, end.
        let count = 8 + 25 + (12 + 11 + 784) + 12
        #expect(image.count == count)
    }

    @Test(arguments: [
        ("username=alice&password=alice", 200, "{\"authenticated\":true,\"user\":\"alice\"}\n"),
        ("password=a+%22b&username=a+%22b", 200, "{\"authenticated\":true,\"user\":\"a \\\"b\"}\n"),
        ("username=alice&password=bob", 401, "{\"error\":\"wrong name or password\"}\n"),
        ("username=&password=", 401, "{\"error\":\"wrong name or password\"}\n"),
        ("username=alice", 401, "{\"error\":\"wrong name or password\"}\n"),
        ("", 401, "{\"error\":\"wrong name or password\"}\n"),
    ])
    func logsIn(_ form: String, _ status: Int, _ text: String) async throws {
        let response = try await Self.answer("POST", "/login", body: form)
        #expect(response.status == status)
        #expect(try await response.content().text == text)
        #expect((response.first("Set-Cookie") != nil) == (status == 200))
        guard let cookie = response.first("Set-Cookie") else { return }
        let pair = String(cookie.prefix { $0 != ";" })
        let account = try await Self.answer("GET", "/account", [("Cookie", "a=b; \(pair)")])
        #expect(account.status == 200)
        #expect(try await account.content().text == text)
        let forged = try await Self.answer("GET", "/account", [("Cookie", pair + "0")])
        #expect(forged.status == 401)
    }

    @Test func marksCookiesSecureOverTLS() async throws {
        let form = "username=a&password=a"
        let plain = try await Self.answer("POST", "/login", body: form)
        #expect(plain.first("Set-Cookie")?.hasSuffix("; HttpOnly; SameSite=Lax") == true)
        let secure = try await Self.answer("POST", "/login", body: form, scheme: .https)
        #expect(secure.first("Set-Cookie")?.hasSuffix("; Secure") == true)
    }

    @Test func limitsForms() async throws {
        let form = "username=" + String(repeating: "a", count: 70_000)
        #expect(try await Self.answer("POST", "/login", body: form).status == 413)
    }

    @Test(arguments: [
        ("Basic YWxpY2U6YWxpY2U=", 200), ("basic YWxpY2U6YWxpY2U=", 200),
        ("Basic  YWxpY2U6YWxpY2U=", 200), ("Basic YWxpY2U6Ym9i", 401), ("Basic", 401),
        ("Basic !!!", 401), ("Bearer YWxpY2U6YWxpY2U=", 401), ("YWxpY2U6YWxpY2U=", 401),
    ])
    func authenticates(_ credentials: String, _ status: Int) async throws {
        let response = try await Self.answer(
            "GET", "/basic/alice", [("Authorization", credentials)])
        #expect(response.status == status)
        #expect((response.first("WWW-Authenticate") != nil) == (status == 401))
    }

    @Test func echoes() async throws {
        let response = try await Self.answer(
            "POST", "/api/echo?a=%22", [("X-One", "a\"b"), ("x-one", "\\")], body: "h\u{1}\n")
        #expect(
            try await response.content().text == """
                {"method":"POST","scheme":"http","version":"HTTP/1.1","path":"/api/echo",\
                "query":"a=%22","headers":[["X-One","a\\"b"],["x-one","\\\\"]],"bodyLength":3,\
                "body":"h\\u0001\\n"}

                """)
    }

    @Test(arguments: [1, 5, 4096])
    func streamsLines(room: Int) async throws {
        let response = try await Self.answer("GET", "/stream/3")
        #expect(response.body.length == nil)
        #expect(response.first("Trailer") == "Line-Count")
        #expect(
            try await response.content(room: room).text
                == (0..<3).map {
                    "{\"args\": {}, \"headers\": {}, \"origin\": \"192.0.2.1\", "
                        + "\"url\": \"http://origin.test/stream/3\", \"id\": \($0)}\n"
                }.joined())
        #expect(response.body.source.trailers == [ResponseField("Line-Count", "3")])
    }

    /// What is sent again without another call is in the journal as the first was.
    @Test func writesRepetitionsDown() async throws {
        let server = ContentServer(ContentServerConfiguration())
        let answer = { (path: String, peer: String) in
            await server.answer(
                try request("GET", path, [("Range", "bytes=1-2")], from: peer), RequestBody([]))
        }
        let first = try await answer("/assets/1/1k", "192.0.2.1")
        first.onEnd?(SentResponse(end: .whole, count: 2, acknowledged: 2))
        let repetition = try #require(first.repetition)
        for (number, peer) in [(1, "192.0.2.1"), (2, "192.0.2.1"), (3, "192.0.2.2")] {
            let connection = ClientConnection(
                number: UInt64(number), peer: "\(peer):9", host: peer)
            let end = try #require(repetition(connection))
            end(SentResponse(end: .whole, count: 2, acknowledged: 1))
        }
        let records = server.journal.contents().records
        let places = records.map { "\($0.client) \($0.ordinal) \($0.connection)" }
        #expect(
            places == ["192.0.2.1 1 1", "192.0.2.1 2 1", "192.0.2.1 3 2", "192.0.2.2 1 1"])
        #expect(Set(records.map(\.contentRange)) == ["bytes 1-2/1024"])
        #expect(records.map(\.sent?.acknowledged) == [2, 1, 1, 1])

        let labelled = try await answer("/assets/1/1k?sallyport-client=x", "192.0.2.1")
        let other = ClientConnection(number: 9, peer: "192.0.2.9:9", host: "192.0.2.9")
        _ = labelled.repetition?(other)
        #expect(server.journal.contents().records.filter { $0.client == "x" }.count == 2)
    }

    /// Paths are as people write them, with the first slash and without.
    @Test(arguments: [("/assets/*", 2), ("assets/*", 2), ("*7/*", 1), ("feeds/*", 0)])
    func listsRequestsByPath(_ pattern: String, _ count: Int) async throws {
        let server = ContentServer(ContentServerConfiguration())
        for path in ["/assets/1/1k", "/assets/7/1k"] {
            let response = await server.answer(try request("GET", path), RequestBody([]))
            response.onEnd?(SentResponse(end: .whole, count: 1024, acknowledged: 1024))
        }
        let list = await server.answer(
            try request(
                "GET", "/.sallyport/journal?format=canonical&path=\(pattern)",
                host: "127.0.0.1", from: "127.0.0.1"), RequestBody([]))
        let text = try await list.content(room: 1000).text
        #expect(text.ranges(of: "/1k").count == count, "\(text)")
    }

    /// Whether TLS or the request names the host.
    @Test(arguments: [
        ("client-certificate-required.sallyport.test", "origin.test", 403),
        ("origin.test", "client-certificate-required.sallyport.test", 403),
        (nil, "client-certificate-required.sallyport.test", 403),
        ("client-certificate.sallyport.test", "client-certificate.sallyport.test", 200),
    ])
    func servesNobodyWithoutTheCertificate(
        _ name: String?, _ host: String, _ status: Int
    ) async throws {
        let connection = { (isVerified: Bool) in
            ClientConnection(
                number: 9, peer: "192.0.2.9:9", host: "192.0.2.9",
                security: ClientConnection.Security(
                    serverName: name, applicationProtocol: nil, version: "TLSv1.3", cipher: "",
                    isClientVerified: isVerified))
        }
        let answer = { (connection: ClientConnection) in
            await Self.server.answer(
                ServerRequest(
                    method: .get, path: try #require(RequestPath("/assets/1/1k".utf8)),
                    host: host, version: .http11, fields: fields([]), connection: connection,
                    receivedAt: Timestamp(microseconds: 0)), RequestBody([]))
        }
        #expect(try await answer(connection(false)).status == status)
        let verified = try await answer(connection(true))
        #expect(verified.status == 200)
        // Nor is what is sent again.
        #expect((verified.repetition?(connection(false)) == nil) == (status == 403))
    }

    @Test(arguments: [
        ("/assets/1/1k?digest=repr", ContentServerConfiguration()),
        ("/faults/cut:1/assets/1/1k", ContentServerConfiguration()),
        ("/status/200", ContentServerConfiguration()),
        ("/assets/1/1k", faulty),
    ])
    func answersAnew(_ path: String, _ configuration: ContentServerConfiguration) async throws {
        let response = await ContentServer(configuration).answer(
            try request("GET", path), RequestBody([]))
        #expect(response.repetition == nil)
    }

    private static var faulty: ContentServerConfiguration {
        var configuration = ContentServerConfiguration()
        do {
            configuration.scenario = try Scenario.read(
                [UInt8]("[rule]\npath = /none\nfault = cut:1\n".utf8), path: "x")
        } catch {
            Issue.record(error)
        }
        return configuration
    }
}
