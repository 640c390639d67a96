import Base
import HTTPServer
import Sockets
import Synchronization
import TLS
import Testing
import Transport

struct HTTPServerTests {
    private static let request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
    private static let answer: Answer = { request, _ in
        ServerResponse(200, type: "text/plain", "\(request.scheme) \(request.host ?? "")")
    }

    @Test(arguments: ["origin.test", "127.0.0.1"])
    func servesTLS(_ name: String) async throws {
        let authority = try testAuthority()
        try await withServer(Self.answer, security: .tls(authority)) { laboratory in
            let client = try await laboratory.connectSecurely(to: name, trusting: authority)
            let stream = try #require(client.stream as? TLSStream)
            #expect(stream.session.isHandshakeDone)
            try await client.send("GET / HTTP/1.1\r\nHost: \(name)\r\nConnection: close\r\n\r\n")
            #expect(try await client.receiveAll().hasSuffix("\r\n\r\nhttps \(name)"))
            #expect(client.stream.endedInOrder)
        }
    }

    @Test func tellsPlainClientsOfATLSPort() async throws {
        try await withServer(Self.answer, security: .tls(testAuthority())) { laboratory in
            let response = try await laboratory.exchange(Self.request)
            #expect(response.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
        }
    }

    @Test(arguments: [
        [UInt8](), [22], [22, 3, 1], [22, 3, 1, 0, 5, 1, 0, 0, 1, 0], [22, 3, 1, 0xFF, 0xFF, 2],
        [22, 0xFF, 0xFF, 0, 0], [0x80, 0x2E, 1, 3, 1],
    ])
    func survivesBrokenHellos(_ hello: [UInt8]) async throws {
        let ended = try await withServer(Self.answer, security: .tls(testAuthority())) {
            laboratory in
            let client = try await laboratory.connect()
            let buffer = ByteBuffer(capacity: 64)
            buffer.append(hello)
            try await client.stream.write(buffer)
            await client.stream.finish()
            let response = try await client.receiveAll()
            #expect(!response.contains("200"))
        }
        #expect(ended)
    }

    @Test func servesManyAtOnce() async throws {
        try await withServer(Self.answer) { laboratory in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<50 {
                    group.addTask(executorPreference: laboratory.loop) {
                        let text = try await laboratory.exchange(Self.request + Self.request)
                        #expect(text.split(separator: "http a").count == 2)
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    /// What waits for a request ends at once, without being cut.
    @Test func drainsIdleConnections() async throws {
        let ended = try await withServer(Self.answer) { laboratory in
            let client = try await laboratory.connect()
            try await client.send(Self.request)
            _ = try await client.receive(through: "http a")
            laboratory.server.stop(grace: 60_000)
            #expect(try await client.receiveAll() == "")
            await #expect(throws: SystemError.self) { _ = try await laboratory.connect() }
        }
        #expect(ended)
    }

    /// An exchange under way is finished, and says that it is the last.
    @Test func finishesExchanges() async throws {
        let answer: Answer = { _, body in
            do {
                return ServerResponse(200, body: .bytes(try await body.collect(byteLimit: 10)))
            } catch {
                return .plain(400)
            }
        }
        let ended = try await withServer(answer) { laboratory in
            let client = try await laboratory.connect()
            try await client.send(
                "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
            _ = try await client.receive(through: "100 Continue\r\n\r\n")
            laboratory.server.stop(grace: 60_000)
            await laboratory.untilRound()
            try await client.send("ab")
            #expect(
                try await client.receiveAll()
                    == "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nab")
        }
        #expect(ended)
    }

    /// What does not end in time is cut, and told of.
    @Test func cutsAtTheDeadline() async throws {
        let counter = Counter()
        let answer: Answer = { _, _ in
            ServerResponse(200, body: .stream(length: 1 << 40, Endless(counter)))
        }
        let ended = try await withServer(answer) { laboratory in
            let client = try await laboratory.connect()
            try await client.send(Self.request)
            try await client.skip(1)
            laboratory.server.stop(grace: 10)
            await #expect(throws: StreamFailure.reset) {
                while true { try await client.skip(1 << 20) }
            }
        }
        #expect(!ended)
    }

    @Test func namesAPortThatIsTaken() throws {
        let loop = try EventLoop(index: 0)
        let local = try #require(SocketAddress(literal: "127.0.0.1", port: 0))
        let first = try HTTPServer(ports: [.init(local)], loops: [loop], answer: Self.answer)
        #expect(throws: Failure.self) {
            try HTTPServer(ports: [.init(first.addresses[0])], loops: [loop], answer: Self.answer)
        }
    }
}

extension Laboratory {
    /// Waits until the loop has run what other threads gave it before.
    func untilRound() async {
        await withCheckedContinuation { continuation in
            loop.execute { continuation.resume() }
        }
    }
}
