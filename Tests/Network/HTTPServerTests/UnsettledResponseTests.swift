import Base
import HTTPServer
import Sockets
import Synchronization
import Testing
import Transport

/// What a socket took is not yet what a client got: whoever breaks off behind a response is told of.
struct UnsettledResponseTests {
    @Test(
        .timeLimit(.minutes(10)),
        arguments: [
            ("Host: a", true, false), ("Host: a", false, true),
            ("Host: a\r\nConnection: close", true, false),
            ("Host: a\r\nConnection: close", false, true),
        ], [nil, 400])
    func tellsOfBytesLeftUnread(
        _ row: (fields: String, reads: Bool, isDoubtful: Bool), _ cut: UInt64?
    ) async throws {
        let (fields, reads, isDoubtful) = row
        let ends = Mutex<[SentResponse]>([])
        let (told, teller) = AsyncStream.makeStream(of: Void.self)
        let content = [UInt8](repeating: 0x61, count: 1000)
        let answer: Answer = { _, _ in
            var response = ServerResponse(200, body: .bytes(content))
            if let cut {
                response.delivery = Delivery()
                response.delivery?.cut = Delivery.Cut(at: cut, .finish)
            }
            response.onEnd = { sent in
                ends.withLock { $0.append(sent) }
                teller.yield()
            }
            return response
        }
        try await withServer(answer) { laboratory in
            let client = try await laboratory.connect()
            try await client.send("GET / HTTP/1.1\r\n\(fields)\r\n\r\n")
            var tellings = told.makeAsyncIterator()
            _ = await tellings.next()
            if reads {
                _ = try await client.receive(through: "\r\n\r\n")
                _ = try await client.receive(count: cut.map(Int.init) ?? content.count)
            }
            client.stream.close()
            if isDoubtful { _ = await tellings.next() }
        }
        let known = ends.withLock { $0 }
        #expect(known.map(\.isDoubtful) == (isDoubtful ? [false, true] : [false]))
        let end = cut == nil ? SentResponse.End.whole : .cut
        #expect(known.allSatisfy { $0.end == end && $0.count == cut ?? 1000 })
    }

    /// The targets of the responses that were told of, and whether each was doubted.
    private final class Tellings: Sendable {
        private let all = Mutex<[(target: String, isDoubtful: Bool)]>([])
        private let stream = AsyncStream.makeStream(of: Void.self)

        /// - Parameter size: of `/a`; others are short.
        func answer(size: Int = 10) -> Answer {
            { request, _ in
                let target = request.path.raw.text
                let count = target == "/a" ? size : 10
                var response = ServerResponse(
                    200, body: .bytes([UInt8](repeating: 0x61, count: count)))
                response.onEnd = { [self] sent in
                    all.withLock { $0.append((target, sent.isDoubtful)) }
                    stream.continuation.yield()
                }
                return response
            }
        }

        var count: Int { all.withLock { $0.count } }

        var doubted: [String] { all.withLock { $0.filter(\.isDoubtful).map(\.target) } }

        func wait(for count: Int) async {
            var iterator = stream.stream.makeAsyncIterator()
            while self.count < count { _ = await iterator.next() }
        }
    }

    private static func get(_ target: String, _ count: Int = 1) -> String {
        String(repeating: "GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n", count: count)
    }

    /// However many requests a client sends at once: who reads all answers is not doubted.
    @Test func trustsWhoSendsAhead() async throws {
        let tellings = Tellings()
        try await withServer(tellings.answer()) { laboratory in
            let client = try await laboratory.connect()
            try await client.send(Self.get("/b", 2000))
            for _ in 0..<2000 { _ = try await client.receive(through: "aaaaaaaaaa") }
            client.stream.close()
        }
        #expect(tellings.count == 2000)
        #expect(tellings.doubted.isEmpty)
    }

    /// An empty line behind a request is not the beginning of the next.
    @Test func trustsWhoSendsEmptyLines() async throws {
        let tellings = Tellings()
        try await withServer(tellings.answer()) { laboratory in
            let client = try await laboratory.connect()
            for target in ["/b", "/c", "/d"] {
                try await client.send(Self.get(target) + "\r\n")
                if target != "/d" { _ = try await client.receive(through: "aaaaaaaaaa") }
            }
            await tellings.wait(for: 3)
            client.stream.close()
            await tellings.wait(for: 4)
        }
        #expect(tellings.doubted == ["/d"])
    }

    /// A request that came while a response was written, by itself, tells nothing of that.
    @Test(.timeLimit(.minutes(10))) func doubtsWhoAskedAhead() async throws {
        let tellings = Tellings()
        try await withServer(tellings.answer(size: 32 << 20)) { laboratory in
            let client = try await laboratory.connect()
            try await client.send(Self.get("/a"))
            _ = try await client.receive(count: 1 << 20)
            try await client.send(Self.get("/b"))
            // The rest is what the systems hold: nobody reads it.
            for _ in 0..<(31 * 16 - 4) { _ = try await client.receive(count: 65_536) }
            await tellings.wait(for: 2)
            client.stream.close()
            await tellings.wait(for: 4)
        }
        #expect(tellings.doubted == ["/a", "/b"])
    }

    /// Where the connection ends with the response, too: what the client's system has not taken soon
    /// may never be taken. Of this it takes a part, and the server's the rest.
    @Test(.timeLimit(.minutes(10)), arguments: [false, true])
    func doubtsWhatIsNotTaken(_ reads: Bool) async throws {
        let tellings = Tellings()
        try await withServer(tellings.answer(size: 600_000)) { laboratory in
            let client = try await laboratory.connect()
            try await client.send("GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            if reads { _ = try await client.receiveAll() }
            await tellings.wait(for: reads ? 1 : 2)
        }
        #expect(tellings.doubted == (reads ? [] : ["/a"]))
    }

    /// Who resets has read no more than its system has acknowledged, but for a segment or two of TLS:
    /// there is what it says last to be left unread.
    @Test(.timeLimit(.minutes(10)), arguments: [(false, false), (true, false), (true, true)])
    func doubtsWhoResets(_ isSecure: Bool, _ reads: Bool) async throws {
        let tellings = Tellings()
        let authority = try testAuthority()
        try await withServer(
            tellings.answer(size: 1_500_000), security: isSecure ? .tls(authority) : .plain
        ) { laboratory in
            let client =
                isSecure
                ? try await laboratory.connectSecurely(to: "origin.test", trusting: authority)
                : try await laboratory.connect()
            try await client.send("GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            _ = try await client.receive(count: 1000)
            await tellings.wait(for: 1)
            if reads { _ = try await client.receiveAll() }
            client.stream.close(reset: true)
            await tellings.wait(for: reads ? 1 : 2)
        }
        #expect(tellings.doubted == (reads ? [] : ["/a"]))
    }

    /// The same where it comes between a response and what the server says last.
    @Test(.timeLimit(.minutes(10))) func doubtsWhoResetsAheadOfTheGoodbye() async throws {
        let authority = try testAuthority()
        let clients = Mutex<Channel?>(nil)
        let ends = Mutex<[Bool]>([])
        let (told, teller) = AsyncStream.makeStream(of: Void.self)
        let answer: Answer = { _, _ in
            var response = ServerResponse(
                200, body: .bytes([UInt8](repeating: 0x61, count: 1_500_000)))
            response.onEnd = { sent in
                ends.withLock { $0.append(sent.isDoubtful) }
                // On the loop that they share, so that the server is told of nothing meanwhile.
                clients.withLock { $0 }?.close(reset: true)
                teller.yield()
            }
            return response
        }
        try await withServer(answer, security: .tls(authority)) { laboratory in
            let client = try await laboratory.connectSecurely(
                to: "origin.test", trusting: authority)
            clients.withLock { $0 = client.stream.channel }
            try await client.send("GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            var tellings = told.makeAsyncIterator()
            for _ in 0..<2 { _ = await tellings.next() }
        }
        #expect(ends.withLock { $0 } == [false, true])
    }

    /// A request behind a response tells that it was read.
    @Test func trustsWhoGoesOn() async throws {
        let ends = Mutex<[SentResponse]>([])
        let answer: Answer = { request, _ in
            var response = ServerResponse(200, type: "text/plain", request.path.raw.text)
            response.onEnd = { sent in ends.withLock { $0.append(sent) } }
            return response
        }
        try await withServer(answer) { laboratory in
            let client = try await laboratory.connect()
            try await client.send("GET /a HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = try await client.receive(through: "/a")
            try await client.send("GET /b HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = try await client.receive(through: "/b")
            client.stream.close()
        }
        #expect(ends.withLock { $0.map(\.isDoubtful) } == [false, false])
    }
}
