import Base
import HTTPModel
import Synchronization
import Testing
import Transport

@testable import HTTPServer

/// What a worker sends again without another call of the route.
struct KnownResponsesTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        var start = "GET /a HTTP/1.1"
        var fields: [String] = []
        var content = ""
        var isSteady = true
        var takesClients = true
        var isDelivered = true
        var size = 300
        /// Of five requests with the same head.
        let calls: Int
        var testDescription: String { name }

        var request: String {
            ([start, "Host: a"] + fields).map { $0 + "\r\n" }.joined() + "\r\n" + content
        }
    }

    private static func answer(
        _ row: Row, _ tally: Tally, _ request: ServerRequest
    ) -> ServerResponse {
        tally.counts.withLock { $0.calls += 1 }
        let bytes = (0..<row.size).map { UInt8(ascii: "a") + UInt8($0 % 26) }
        var response = Representation(
            contentType: "text/plain", bytes: bytes,
            validators: Validators(entityTag: EntityTag("v"), lastModified: nil)
        ).response(to: request)
        if !row.isDelivered { response.delivery = Delivery() }
        guard row.isSteady else { return response }
        response.repetition = { _ in
            guard row.takesClients else { return nil }
            tally.counts.withLock { $0.repetitions += 1 }
            return { sent in tally.counts.withLock { $0.ended.append(sent) } }
        }
        return response
    }

    /// The third time and later come from what is known: what comes once is not kept.
    private static let rows = [
        Row(name: "GET", calls: 2),
        Row(name: "HEAD", start: "HEAD /a HTTP/1.1", calls: 2),
        Row(name: "a part", fields: ["Range: bytes=10-19"], calls: 2),
        Row(name: "not modified", fields: ["If-None-Match: \"v\""], calls: 2),
        Row(name: "failed condition", fields: ["If-Match: \"w\""], calls: 2),
        Row(name: "unsatisfiable", fields: ["Range: bytes=999-"], calls: 2),
        Row(
            name: "HTTP/1.0", start: "GET /a HTTP/1.0", fields: ["Connection: keep-alive"], calls: 2
        ),
        Row(name: "several parts", fields: ["Range: bytes=0-1,20-29"], calls: 5),
        Row(name: "with content", fields: ["Content-Length: 2"], content: "xy", calls: 5),
        Row(
            name: "with chunks", fields: ["Transfer-Encoding: chunked"], content: "0\r\n\r\n",
            calls: 5),
        Row(name: "no steady route", isSteady: false, calls: 5),
        Row(name: "a client that is answered anew", takesClients: false, calls: 5),
        Row(name: "wrong on purpose", isDelivered: false, calls: 5),
        Row(name: "large", size: 20_000, calls: 5),
        Row(name: "a long head", fields: ["X: " + String(repeating: "x", count: 1024)], calls: 5),
    ]

    @Test(arguments: rows)
    func sendsTheSame(_ row: Row) async throws {
        let tally = Tally()
        let answer: Answer = { request, body in
            let response = Self.answer(row, tally, request)
            let buffer = ByteBuffer(capacity: 64)
            do { while try await body.read(into: buffer) > 0 {} } catch {}
            return response
        }
        try await withServer(answer) { laboratory in
            let client = try await laboratory.connect()
            defer { client.stream.close() }
            var answers: [String] = []
            for _ in 0..<5 {
                try await client.send(row.request)
                answers.append(
                    try await client.receiveResponse(toHead: row.start.hasPrefix("HEAD")))
            }
            #expect(Set(answers).count == 1)
            tally.counts.withLock { counts in
                #expect(counts.calls == row.calls)
                #expect(counts.repetitions == 5 - row.calls)
            }
        }
        let ended = tally.counts.withLock(\.ended)
        #expect(ended.count == 5 - row.calls)
        #expect(ended.allSatisfy { $0.end == .whole })
    }

    /// Cut anywhere, in one piece with the next, and behind empty lines.
    @Test func findsTheHeadHoweverItComes() async throws {
        let row = Row(name: "", calls: 0)
        let tally = Tally()
        let answer: Answer = { request, _ in Self.answer(row, tally, request) }
        try await withServer(answer) { laboratory in
            let client = try await laboratory.connect()
            defer { client.stream.close() }
            let request = Array(row.request)
            for _ in 0..<2 { try await client.send(row.request) }
            let first = try await client.receiveResponse()
            #expect(try await client.receiveResponse() == first)
            for cut in 1..<request.count {
                try await client.send(String(request[..<cut]))
                try await client.send(String(request[cut...]) + row.request)
                #expect(try await client.receiveResponse() == first)
                #expect(try await client.receiveResponse() == first)
            }
            try await client.send("\r\n" + row.request + row.request)
            #expect(try await client.receiveResponse() == first)
            #expect(try await client.receiveResponse() == first)
        }
        tally.counts.withLock { #expect($0.repetitions >= 2 * ($0.calls - 2)) }
    }

    /// A head that goes on where a known one ends is another one.
    @Test func tellsHeadsApart() async throws {
        let tally = Tally()
        let answer: Answer = { request, _ in
            var response = ServerResponse(200, type: "text/plain", request.path.raw.text)
            response.repetition = { _ in
                tally.counts.withLock { $0.repetitions += 1 }
                return { _ in }
            }
            return response
        }
        try await withServer(answer) { laboratory in
            let client = try await laboratory.connect()
            defer { client.stream.close() }
            for round in 0..<4 {
                for path in ["/a", "/b", "/a?", "/ab"] {
                    try await client.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
                    let answer = try await client.receiveResponse()
                    #expect(answer.hasSuffix("\r\n\r\n\(path == "/a?" ? "/a" : path)"), "\(round)")
                }
            }
        }
        #expect(tally.counts.withLock(\.repetitions) == 8)
    }

    /// Each date is that of its sending.
    @Test func datesEachAnew() throws {
        let response = ServerResponse(200, type: "text/plain", "Date: x\r\n\r\nDate: y")
        let first = "Sun, 06 Nov 1994 08:49:37 GMT"
        let plan = ResponsePlan(
            response, toMethod: .get, version: .http11, keepsAlive: true, date: first)
        let known = KnownResponse(
            to: [], plan, content: [UInt8]("Date: x\r\n\r\nDate: y".utf8), { _ in nil })
        for date in [first, "Mon, 07 Nov 1994 08:49:37 GMT", first] {
            let buffer = ByteBuffer(capacity: 1024)
            known.append(to: buffer, date: date)
            let text = buffer.copy.text
            #expect(text.contains("\r\nDate: \(date)\r\n"))
            #expect(text.hasSuffix("\r\n\r\nDate: x\r\n\r\nDate: y"))
        }
    }

    /// What is kept has a bound, whatever clients ask for.
    @Test func keepsABoundedNumber() {
        let known = KnownResponses()
        let plan = ResponsePlan(
            ServerResponse(204), toMethod: .get, version: .http11, keepsAlive: true, date: "")
        var found = 0
        for number in 0..<10_000 {
            let head = [UInt8]("GET /\(number) HTTP/1.1\r\n\r\n".utf8)
            #expect(!known.hasSeen(head))
            known.keep(KnownResponse(to: head, plan, content: [], { _ in nil }))
        }
        for number in 0..<10_000 {
            let buffer = ByteBuffer(capacity: 64)
            buffer.append([UInt8]("GET /\(number) HTTP/1.1\r\n\r\n".utf8))
            if known.find(buffer) != nil { found += 1 }
        }
        #expect((1...256).contains(found))
    }
}

/// What the route of a test was called for.
private final class Tally: Sendable {
    struct Counts: Sendable {
        var calls = 0
        var repetitions = 0
        var ended: [SentResponse] = []
    }

    let counts = Mutex(Counts())
}

extension TestClient {
    /// A response with the content that its head tells.
    fileprivate func receiveResponse(toHead isHead: Bool = false) async throws -> String {
        let head = try await receive(through: "\r\n\r\n")
        let length = head.split(separator: "\r\n").first { $0.hasPrefix("Content-Length: ") }
        guard !isHead, let count = length.flatMap({ Int($0.dropFirst(16)) }), count > 0 else {
            return head
        }
        return head + (try await receive(count: count))
    }
}
