import Base
import HTTPServer
import Synchronization
import Testing
import Transport

/// What a socket took is not yet what a client got: whoever breaks off behind a response is told of.
struct UnsettledResponseTests {
    @Test(
        .timeLimit(.minutes(2)),
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
