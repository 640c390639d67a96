import Base
import HTTP2
import HTTP2Frames
import HTTPCodecs
import HTTPModel
import HTTPServer
import Sockets
import TLS
import Testing
import Transport

/// What the server says over HTTP/2: through the same routes, and the same code, as over HTTP/1.
struct HTTP2ServerTests {
    static let answer: Answer = { request, body in
        switch request.path.raw.text {
        case "/early":
            await body.inform(103, [ResponseField("Link", "</a>"), ResponseField("Upgrade", "x")])
            let buffer = ByteBuffer(capacity: 16)
            do throws(Failure) {
                while try await body.read(into: buffer) > 0 {
                    await body.inform(104, [ResponseField("Upload-Offset", "\(body.count)")])
                    buffer.removeAll()
                }
            } catch {
                return .plain(400)
            }
            return ServerResponse(200, type: "text/plain", "\(body.trailers.lines)")
        case "/facts":
            let client = request.connection
            let security = client.security
            return ServerResponse(
                200, type: "text/plain",
                "\(client.number) \(request.version.text) \(security?.serverName ?? "-")"
                    + " \(security?.applicationProtocol ?? "-") \(security?.version ?? "-")"
                    + " \(security?.clientChain.count ?? -1) \(security?.isClientVerified ?? false)"
            )
        default: return await HTTPServerTaskTests.answer(request, body)
        }
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let request: String
        var fields: [(String, String)] = []
        var content: String?
        var trailers: [(String, String)] = []
        let expected: Fetched

        init(
            _ name: String, _ request: String, fields: [(String, String)] = [],
            content: String? = nil, trailers: [(String, String)] = [], _ expected: Fetched
        ) {
            testDescription = name
            self.request = request
            self.fields = fields
            self.content = content
            self.trailers = trailers
            self.expected = expected
        }
    }

    private static let plain = "content-type=text/plain; charset=utf-8"

    static let rows = [
        Row("one", "GET /", Fetched(status: 200, fields: ["content-length=2"], content: "ok")),
        Row("HEAD", "HEAD /", Fetched(status: 200, fields: ["content-length=2"])),
        Row(
            "content", "POST /echo", content: "abc",
            Fetched(status: 200, fields: ["content-length=3"], content: "abc")),
        Row(
            "content that nobody reads", "POST /", content: "abc",
            Fetched(status: 200, fields: ["content-length=2"], content: "ok")),
        Row(
            "a stream with trailers", "GET /stream",
            Fetched(status: 200, content: "onethree", trailers: ["count=2"])),
        Row(
            "interim responses while content comes, and its trailers", "POST /early",
            content: String(repeating: "x", count: 20), trailers: [("digest", "y")],
            Fetched(
                interims: ["103 link=</a>", "104 upload-offset=16", "104 upload-offset=20"],
                status: 200, fields: ["content-type=text/plain", "content-length=12"],
                content: "[\"digest=y\"]")),
        Row(
            "host", "GET /host",
            Fetched(
                status: 200, fields: ["content-type=text/plain", "content-length=11"],
                content: "origin.test")),
        Row(
            "less than announced", "GET /short",
            Fetched(
                status: 200, fields: ["content-length=10"], content: "\u{1}\u{2}",
                failure: .reset(HTTP2ErrorCode.internalError))),
        Row(
            "a cut", "GET /cut",
            Fetched(
                status: 200, fields: ["content-length=10"], content: "half",
                failure: .reset(HTTP2ErrorCode.internalError))),
        Row(
            "another expectation", "GET /", fields: [("expect", "tea")],
            Fetched(
                status: 417, fields: [plain, "content-length=23"],
                content: "417 Expectation Failed\n")),
        Row(
            "broken escape", "GET /%zz",
            Fetched(
                status: 400, fields: [plain, "content-length=16"], content: "400 Bad Request\n")
        ),
    ]

    @Test(arguments: rows, [Wire.http2, .http2Secure])
    func answers(_ row: Row, _ wire: Wire) async throws {
        let authority = wire.isSecure ? try testAuthority() : nil
        let security = authority.map { HTTPServer.Port.Security.tls($0) } ?? .plain
        let ended = try await withServer(Self.answer, security: security) { laboratory in
            let fetched = try await laboratory.overHTTP2(trusting: authority) { connection in
                try await connection.fetch(
                    row.request, row.fields, content: row.content.map { [UInt8]($0.utf8) },
                    trailers: row.trailers)
            }
            #expect(fetched == row.expected)
        }
        #expect(ended)
    }

    /// The same interim responses in HTTP/1.1; a client of HTTP/1.0 gets none (RFC 9110 §15.2).
    @Test(arguments: [
        (
            "1.1",
            "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nUpgrade: x\r\n\r\n"
                + "HTTP/1.1 104 Upload Resumption Supported\r\nUpload-Offset: 3\r\n\r\n"
        ), ("1.0", ""),
    ])
    func informs(_ version: String, _ interims: String) async throws {
        try await withServer(Self.answer) { laboratory in
            let response = try await laboratory.exchange(
                "POST /early HTTP/\(version)\r\nHost: a\r\nContent-Length: 3\r\n"
                    + "Connection: close\r\n\r\nabc")
            #expect(
                response
                    == interims + "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                    + "Content-Length: 2\r\nConnection: close\r\n\r\n[]")
        }
    }

    @Test func tellsTrailersOfChunks() async throws {
        try await withServer(Self.answer) { laboratory in
            let response = try await laboratory.exchange(
                "POST /early HTTP/1.0\r\nHost: a\r\n\r\n"
                    .replacing("1.0", with: "1.1")
                    .replacing("\r\n\r\n", with: "\r\nTransfer-Encoding: chunked\r\n\r\n")
                    + "1\r\na\r\n0\r\nDigest: y\r\n\r\n")
            #expect(response.hasSuffix("\r\n\r\n[\"Digest=y\"]"))
        }
    }

    @Test func continues() async throws {
        try await withServer(Self.answer) { laboratory in
            let fetched = try await laboratory.overHTTP2 { connection in
                let stream = try connection.open(
                    "POST /echo", [("expect", "100-continue"), ("content-length", "2")],
                    ends: false)
                #expect(try await stream.nextHead()?.status == 100)
                let buffer = ByteBuffer(capacity: 2)
                buffer.append("ab")
                try await stream.write(buffer)
                stream.end()
                return await stream.receiveAll()
            }
            #expect(fetched.content == "ab")
            #expect(fetched.interims.isEmpty)
        }
    }

    /// Connections are counted over all ports, and TLS tells what it knows of the client.
    @Test func tellsOfTheConnection() async throws {
        let (authority, key) = try testAuthorityAndKey()
        let identity = try ClientIdentity.read(
            authority.certificate.pem + key, name: "ca", passwords: [])
        let security = HTTPServer.Port.Security.tls(
            authority, hosts: AskingHosts(authorities: [authority.certificate]))
        try await withServer(Self.answer, security: security) { laboratory in
            for (number, identity) in [(1, nil), (2, identity)] {
                let client = try await laboratory.connectSecurely(
                    to: "origin.test", trusting: authority, as: identity)
                for _ in 0..<2 {
                    try await client.send("GET /facts HTTP/1.1\r\nHost: a\r\n\r\n")
                    // An authority's own certificate is none of a client (RFC 5280 §4.2.1.3).
                    _ = try await client.receive(
                        through: "\r\n\r\n\(number) HTTP/1.1 origin.test http/1.1 TLSv1.3"
                            + " \(number - 1) false")
                }
                client.stream.close()
            }
            let fetched = try await laboratory.overHTTP2(trusting: authority) { connection in
                try await connection.fetch("GET /facts")
            }
            #expect(fetched.content == "3 HTTP/2 origin.test h2 TLSv1.3 0 false")
        }
    }

    /// The preface may come in any pieces; what only begins like it is a request of HTTP/1.
    @Test func seesThePrefaceAtEveryCut() async throws {
        try await withServer(Self.answer) { laboratory in
            let bytes = Frame.preface + Frame.headers(1, Frame.get(scheme: "http")).bytes
            for cut in 1..<Frame.preface.count {
                let client = try await laboratory.connect()
                try await client.send(bytes: Array(bytes[..<cut]))
                await laboratory.untilRound()
                try await client.send(bytes: Array(bytes[cut...]))
                #expect(try await client.receive(until: { $0.type == 0 })?.payload.text == "ok")
                client.stream.close()
            }
            let response = try await laboratory.exchange("PRI * HTTP/2.0\r\n\r\n")
            #expect(response.hasPrefix("HTTP/1.1 505 "))
        }
    }

    /// Nobody waits for a client that does not read one of its streams.
    @Test func slowStreamsHoldNobody() async throws {
        var limits = ServerLimits()
        limits.writeTimeout = 200
        let endless = Counter()
        let answer: Answer = { request, body in
            request.path.raw.text == "/endless"
                ? ServerResponse(200, body: .stream(length: nil, Endless(endless)))
                : await Self.answer(request, body)
        }
        try await withServer(answer, limits: limits) { laboratory in
            try await laboratory.overHTTP2 { connection in
                let slow = try connection.open("GET /endless")
                _ = try await slow.nextHead()
                for _ in 0..<5 {
                    let fetched = try await connection.fetch("GET /")
                    #expect(fetched.content == "ok")
                }
                await endless.untilReleased(laboratory.loop)
                #expect(await slow.receiveAll().failure == .reset(HTTP2ErrorCode.cancel))
            }
        }
        #expect(endless.pulled < 4 << 20)
    }

    /// A client that shuts its window is let go, though the whole content fits into a buffer.
    @Test func shutWindowsEnd() async throws {
        var limits = ServerLimits()
        limits.writeTimeout = 50
        try await withServer(Self.answer, limits: limits) { laboratory in
            let client = try await laboratory.connect()
            let preface = [UInt8]("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
            try await client.send(
                bytes: preface + Frame.settings([(4, 0)]).bytes
                    + Frame.headers(1, Frame.get(scheme: "http")).bytes)
            let reset = try await client.receive(until: { $0.type == 3 })
            #expect(reset?.number() == HTTP2ErrorCode.cancel)
        }
    }

    @Test func timesOutInContent() async throws {
        var limits = ServerLimits()
        limits.bodyTimeout = 50
        try await withServer(Self.answer, limits: limits) { laboratory in
            try await laboratory.overHTTP2 { connection in
                let stream = try connection.open("POST /echo", ends: false)
                #expect(await stream.receiveAll().status == 400)
            }
        }
    }

    @Test func closesIdleConnections() async throws {
        var limits = ServerLimits()
        // The preface has to come in time on a machine that has other things to do.
        limits.idleTimeout = 2000
        try await withServer(Self.answer, limits: limits) { laboratory in
            let client = try await laboratory.connect()
            try await client.send(bytes: Frame.preface)
            #expect(try await client.receive(until: { $0.type == 7 })?.number(from: 4) == 0)
            #expect(try await client.receive(until: { _ in false }) == nil)
        }
    }

    /// A stop lets exchanges end, opens no new ones, and says so.
    @Test func drains() async throws {
        let ended = try await withServer(Self.answer) { laboratory in
            try await laboratory.overHTTP2 { connection in
                let stream = try connection.open("POST /echo", ends: false)
                _ = try await connection.fetch("GET /")
                await withCheckedContinuation { continuation in
                    connection.onGoingAway = { continuation.resume() }
                    laboratory.server.stop(grace: 60_000)
                }
                let buffer = ByteBuffer(capacity: 2)
                buffer.append("ab")
                try await stream.write(buffer)
                stream.end()
                #expect(await stream.receiveAll().content == "ab")
            }
        }
        #expect(ended)
    }

    @Test func endsFloods() async throws {
        try await withServer(Self.answer) { laboratory in
            let client = try await laboratory.connect()
            try await client.send(bytes: Frame.preface)
            for number in stride(from: UInt32(1), to: 4_001, by: 2) {
                let frames =
                    Frame.headers(number, Frame.get(scheme: "http")).bytes
                    + Frame.reset(number).bytes
                do {
                    try await client.send(bytes: frames)
                } catch {
                    break
                }
            }
            let goodbye = try await client.receive(until: { $0.type == 7 })
            // Of our own limit, or of the library's, which counts in another way.
            #expect(goodbye.map { $0.number(from: 4) != HTTP2ErrorCode.noError } == true)
        }
    }
}

extension TestClient {
    func send(bytes: [UInt8]) async throws {
        let buffer = ByteBuffer(capacity: max(1, bytes.count))
        buffer.append(bytes)
        try await stream.write(buffer)
    }

    /// Reads frames through the first that is asked for; `nil` at the server's end.
    func receive(until isWanted: (Frame) -> Bool) async throws -> Frame? {
        let buffer = ByteBuffer(capacity: 65_536)
        while true {
            while !frames.isEmpty {
                let frame = frames.removeFirst()
                if isWanted(frame) { return frame }
            }
            guard try await stream.read(into: buffer) > 0 else { return nil }
            frames += parser.take(buffer.copy)
            buffer.removeAll()
        }
    }
}

/// Sound hosts that ask for a client's certificate.
private struct AskingHosts: TLSHosts {
    let authorities: [Certificate]

    func host(for hello: ClientHello) async -> TLSHost { .sound(clientAuthorities: authorities) }
}
