import Base
import HTTPModel
import HTTPServer
import Testing
import Transport

struct HTTPServerTaskTests {
    /// What the tests ask for: echoes, streams, and sources that break.
    static let answer: Answer = { request, body in
        switch request.path.raw.text {
        case "/echo":
            do throws(Failure) {
                let content = try await body.collect(byteLimit: 1 << 20)
                return ServerResponse(200, body: .bytes(content))
            } catch {
                return .plain(error.code == "request-too-large" ? 413 : 400)
            }
        case "/stream": return ServerResponse(200, body: .stream(length: nil, Pieces()))
        case "/short": return ServerResponse(200, body: .stream(length: 10, BytesSource([1, 2])))
        case "/long":
            return ServerResponse(200, body: .stream(length: 1, BytesSource([0x61, 0x62])))
        case "/cut": return ServerResponse(200, body: .stream(length: 10, Broken(.close)))
        case "/cut-chunks": return ServerResponse(200, body: .stream(length: nil, Broken(.close)))
        case "/reset": return ServerResponse(200, body: .stream(length: 10, Broken(.reset)))
        case "/host": return ServerResponse(200, type: "text/plain", request.host ?? "none")
        default: return ServerResponse(200, body: .bytes([0x6F, 0x6B]))
        }
    }

    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let request: String
        let expected: String

        init(_ name: String, _ request: String, _ expected: String) {
            testDescription = name
            self.request = request
            self.expected = expected
        }
    }

    static let rows: [Row] = [
        Row("one", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", ok),
        Row(
            "three at once", String(repeating: "GET / HTTP/1.1\r\nHost: a\r\n\r\n", count: 3),
            ok + ok + ok
        ),
        Row(
            "HEAD, then GET",
            "HEAD / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n" + ok
        ),
        Row(
            "close", "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\nGET / HTTP/1.1\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
        ),
        Row(
            "1.0", "GET / HTTP/1.0\r\n\r\nGET / HTTP/1.0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
        ),
        Row(
            "1.0 kept",
            "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\nGET / HTTP/1.0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok"
                + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
        ),
        Row(
            "content",
            "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"
                + "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc" + ok
        ),
        Row(
            "content in chunks",
            "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "2;x=y\r\nab\r\n1\r\nc\r\n0\r\nT: u\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc" + ok
        ),
        Row(
            "content that nobody reads",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabcGET / HTTP/1.1\r\nHost: a\r\n\r\n",
            ok + ok
        ),
        Row(
            "chunks that nobody reads",
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
        ),
        Row(
            "content that ends early",
            "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nab",
            "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n"
                + "Content-Length: 16\r\nConnection: close\r\n\r\n400 Bad Request\n"
        ),
        Row(
            "chunks that break",
            "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n"
                + "Content-Length: 16\r\nConnection: close\r\n\r\n400 Bad Request\n"
        ),
        Row(
            "a stream", "GET /stream HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "3\r\none\r\n5\r\nthree\r\n0\r\nCount: 2\r\n\r\n" + ok
        ),
        Row(
            "a stream for 1.0", "GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
            "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nonethree"
        ),
        Row(
            "less than announced", "GET /short HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n\u{1}\u{2}"
        ),
        Row("more than announced", "GET /long HTTP/1.1\r\nHost: a\r\n\r\n", ""),
        Row(
            "a cut", "GET /cut HTTP/1.1\r\nHost: a\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"
        ),
        Row(
            "a cut in chunks", "GET /cut-chunks HTTP/1.1\r\nHost: a\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"
        ),
        Row(
            "host", "GET /host HTTP/1.1\r\nHost: Origin.TEST:80\r\nConnection: close\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 11\r\n"
                + "Connection: close\r\n\r\norigin.test"
        ),
        Row(
            "absolute target",
            "GET http://other.test/host HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n"
                + "Connection: close\r\n\r\nother.test"
        ),
        Row("nothing", "", ""),
        Row("half a head", "GET / HTTP/1.1\r\nHost", ""),
    ]

    @Test(arguments: rows)
    func answers(_ row: Row) async throws {
        try await withServer(Self.answer) { laboratory in
            let response = try await laboratory.exchange(row.request)
            #expect(response == row.expected)
        }
    }

    static let refusals: [Row] = [
        Row("no request line", "hello\r\n\r\n", "HTTP/1.1 400 "),
        Row("no host", "GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 400 "),
        Row("two hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "HTTP/1.1 400 "),
        Row("a host that is none", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", "HTTP/1.1 400 "),
        Row("broken escape", "GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 400 "),
        Row("no path", "GET a HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 400 "),
        Row(
            "two lengths",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            "HTTP/1.1 400 "),
        Row(
            "length and chunks",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
            "HTTP/1.1 400 "),
        Row(
            "another coding",
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
            "HTTP/1.1 501 "),
        Row("CONNECT", "CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 501 "),
        Row("another version", "GET / HTTP/3.0\r\nHost: a\r\n\r\n", "HTTP/1.1 505 "),
        Row(
            "long target", "GET /" + String(repeating: "a", count: 9000) + " HTTP/1.1\r\n",
            "HTTP/1.1 414 "),
        Row(
            // Beyond the KiB in which the limit is passed: in between nothing is judged anew.
            "long field",
            "GET / HTTP/1.1\r\nHost: a\r\nA: " + String(repeating: "a", count: 18_000) + "\r\n",
            "HTTP/1.1 431 "),
        Row(
            "many fields",
            "GET / HTTP/1.1\r\nHost: a\r\n" + String(repeating: "A: b\r\n", count: 300)
                + "\r\n",
            "HTTP/1.1 431 "),
        Row(
            "large head",
            "GET / HTTP/1.1\r\nHost: a\r\n"
                + String(
                    repeating: "A: " + String(repeating: "b", count: 10_000) + "\r\n", count: 8),
            "HTTP/1.1 431 "),
        Row(
            "another expectation", "GET / HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n\r\n",
            "HTTP/1.1 417 "),
    ]

    @Test(arguments: refusals)
    func refuses(_ row: Row) async throws {
        try await withServer(Self.answer) { laboratory in
            let response = try await laboratory.exchange(row.request)
            #expect(response.hasPrefix(row.expected))
            #expect(response.contains("\r\nConnection: close\r\n"))
        }
    }

    @Test func readsByteByByte() async throws {
        try await withServer(Self.answer) { laboratory in
            let client = try await laboratory.connect()
            for character in "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab" {
                try await client.send(String(character))
            }
            await client.stream.finish()
            #expect(
                try await client.receiveAll() == "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab")
        }
    }

    @Test func takesLargeContent() async throws {
        let content = String(repeating: "0123456789", count: 50_000)
        try await withServer(Self.answer) { laboratory in
            let response = try await laboratory.exchange(
                "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: \(content.utf8.count)\r\n\r\n"
                    + content)
            #expect(response == "HTTP/1.1 200 OK\r\nContent-Length: 500000\r\n\r\n" + content)
        }
    }

    @Test func refusesTooLargeContentAtOnce() async throws {
        try await withServer(Self.answer) { laboratory in
            let client = try await laboratory.connect()
            try await client.send(
                "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999\r\n\r\nabc")
            let response = try await client.receiveAll()
            #expect(response.hasPrefix("HTTP/1.1 413 "))
            #expect(response.contains("\r\nConnection: close\r\n"))
        }
    }

    @Test func saysContinueWhenTheRouteReads() async throws {
        try await withServer(Self.answer) { laboratory in
            let client = try await laboratory.connect()
            let head = "Host: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"
            try await client.send("POST /echo HTTP/1.1\r\n" + head)
            #expect(
                try await client.receive(through: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
            try await client.send("ab")
            #expect(
                try await client.receive(through: "ab")
                    == "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab")
            // A route that does not read answers without it, and the connection ends.
            try await client.send("POST / HTTP/1.1\r\n" + head)
            #expect(
                try await client.receiveAll()
                    == "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
        }
    }

    @Test func needsNoContinueForContentThatIsThere() async throws {
        try await withServer(Self.answer) { laboratory in
            let response = try await laboratory.exchange(
                "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\nab"
            )
            #expect(response == "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab")
        }
    }

    @Test func resets() async throws {
        try await withServer(Self.answer) { laboratory in
            let client = try await laboratory.connect()
            try await client.send("GET /reset HTTP/1.1\r\nHost: a\r\n\r\n")
            await #expect(throws: StreamFailure.reset) { try await client.receiveAll() }
        }
    }

    @Test func timesOutInAHead() async throws {
        var limits = ServerLimits()
        limits.headTimeout = 20
        try await withServer(Self.answer, limits: limits) { laboratory in
            let client = try await laboratory.connect()
            try await client.send("GET / HT")
            #expect(try await client.receiveAll().hasPrefix("HTTP/1.1 408 Request Timeout\r\n"))
        }
    }

    @Test func closesIdleConnections() async throws {
        var limits = ServerLimits()
        limits.idleTimeout = 20
        try await withServer(Self.answer, limits: limits) { laboratory in
            let client = try await laboratory.connect()
            #expect(try await client.receiveAll() == "")
        }
    }

    @Test func timesOutInContent() async throws {
        var limits = ServerLimits()
        limits.bodyTimeout = 20
        try await withServer(Self.answer, limits: limits) { laboratory in
            let client = try await laboratory.connect()
            try await client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nab")
            #expect(try await client.receiveAll().hasPrefix("HTTP/1.1 400 "))
        }
    }

    /// A client that does not read stops the source, and is let go.
    @Test func pullsNoMoreThanTheClientTakes() async throws {
        var limits = ServerLimits()
        limits.writeTimeout = 50
        let endless = Counter()
        let answer: Answer = { _, _ in
            ServerResponse(200, body: .stream(length: 1 << 40, Endless(endless)))
        }
        try await withServer(answer, limits: limits) { laboratory in
            let client = try await laboratory.connect()
            try await client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            try await client.skip(1 << 20)
            await endless.untilReleased(laboratory.loop)
            client.stream.close()
        }
        #expect(endless.pulled > 1 << 20)
        #expect(endless.pulled < 64 << 20)
    }

    private final class Pieces: ResponseBodySource {
        private var rest = ["one", "three"]

        func read(into buffer: ByteBuffer) async throws(ResponseInterruption) -> Int {
            guard !rest.isEmpty else { return 0 }
            let piece = [UInt8](rest.removeFirst().utf8)
            buffer.append(piece)
            return piece.count
        }

        var trailers: [ResponseField] { [ResponseField("Count", "2")] }
    }

    private final class Broken: ResponseBodySource {
        private let ending: ResponseInterruption.Ending
        private var hasBegun = false

        init(_ ending: ResponseInterruption.Ending) {
            self.ending = ending
        }

        func read(into buffer: ByteBuffer) async throws(ResponseInterruption) -> Int {
            guard !hasBegun else {
                throw ResponseInterruption(ending, cause: Failure("x", party: .tool, "asked for"))
            }
            hasBegun = true
            buffer.append("half")
            return 4
        }
    }
}
