import Base
import HTTPModel
import Origins
import Recording
import Sockets
import Synchronization
import Testing
import Traffic
import Transport

@testable import HTTPClient

struct HTTPClientTests {
    /// What an origin says on each of its connections to each request, and what comes of it.
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        /// An empty answer closes the connection; so does the end of a script.
        let origin: [[String]]
        var method = "GET"
        /// A status with the content, or the code of a failure; one for each request.
        let outcomes: [String]
        var testDescription: String { name }
    }

    private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
    private static let chunked =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n1\r\n!\r\n0\r\nA: b\r\n\r\n"

    @Test(arguments: [
        Row(
            name: "one connection for three", origin: [[answer, chunked, answer]],
            outcomes: ["200 hi", "200 hi!", "200 hi"]),
        Row(
            name: "closed after each",
            origin: [
                ["HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi"],
                ["HTTP/1.0 200 OK\r\n\r\nhey"], [answer],
            ], outcomes: ["200 hi", "200 hey", "200 hi"]),
        Row(
            name: "interim responses",
            origin: [["HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n" + answer]],
            outcomes: ["200 hi"]),
        Row(
            name: "head has no content",
            origin: [["HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", answer]], method: "HEAD",
            outcomes: ["200 ", "200 "]),
        Row(
            name: "a used connection that breaks off", origin: [[answer, ""], [answer]],
            outcomes: ["200 hi", "200 hi"]),
        Row(
            name: "the same for what changes something", origin: [[answer, ""], [answer]],
            method: "POST", outcomes: ["200 hi", "origin-closed", "200 hi"]),
        Row(name: "a new one that breaks off", origin: [[""]], outcomes: ["origin-closed"]),
        Row(
            name: "a content that is cut",
            origin: [["HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhi"], [answer]],
            outcomes: ["origin-closed", "200 hi"]),
        Row(name: "no HTTP", origin: [["SSH-2.0\r\n\r\n"]], outcomes: ["origin-violation"]),
        Row(
            name: "two lengths",
            origin: [["HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nhi"]],
            outcomes: ["origin-violation"]),
    ])
    func sends(_ row: Row) async throws {
        let outcomes = try await Self.run(row.origin) { client, target in
            var outcomes: [String] = []
            for _ in row.outcomes {
                outcomes.append(await client.told(Self.request(row.method, to: target)))
            }
            return outcomes
        }
        #expect(outcomes.result == row.outcomes)
        // Each is recorded, and each connection in the end.
        let ended = outcomes.records.filter { $0.connection?.closedAt != nil }
        #expect(ended.count == row.origin.count)
        let exchanges = outcomes.records.compactMap(\.exchange)
        #expect(exchanges.filter { $0.error == nil }.map(\.status).allSatisfy { $0 == 200 })
        #expect(exchanges.count { $0.error == nil } == row.outcomes.count { $0.hasPrefix("200") })
    }

    @Test(arguments: [true, false]) func sendsContent(_ isChunked: Bool) async throws {
        let pieces = ["first ", "second"]
        let outcomes = try await Self.run([[Self.answer]]) { client, target in
            let content = ClientRequest.Content.pieces { offset in
                .success(Array((offset == 0 ? pieces[0] : offset == 6 ? pieces[1] : "").utf8))
            }
            let length = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: 12"
            let head = "POST / HTTP/1.1\r\nHost: a\r\n\(length)\r\n\r\n"
            let request = ClientRequest(
                target: target, method: .post, isSafe: false, head: Array(head.utf8),
                content: content, isChunked: isChunked)
            return try await client.send(request).head.status
        }
        #expect(outcomes.result == 200)
        let exchange = try #require(outcomes.records.compactMap(\.exchange).first)
        #expect(exchange.requestBody.bytes.text == "first second")
        let wire = isChunked ? "6\r\nfirst \r\n6\r\nsecond\r\n0\r\n\r\n" : "first second"
        #expect(outcomes.received.text.hasSuffix("\r\n\r\n" + wire))
    }

    @Test func refusesToConnect() async throws {
        let outcomes = try await Self.run([]) { client, target in
            let nobody = OriginTarget(isSecure: false, host: target.host, port: target.port)
            return await client.told(Self.request("GET", to: nobody))
        }
        #expect(outcomes.result == "connect-failed")
        #expect(outcomes.records.compactMap(\.exchange).map(\.error) == ["connect-failed"])
        #expect(
            outcomes.records.compactMap(\.connection).map(\.outcome) == [.originUnreachable])
    }

    private static func request(_ method: String, to target: OriginTarget) -> ClientRequest {
        ClientRequest(
            target: target, method: method == "HEAD" ? .head : .get, isSafe: method != "POST",
            head: Array("\(method) / HTTP/1.1\r\nHost: a\r\n\r\n".utf8), content: .bytes([]),
            isChunked: false)
    }

    /// Runs `body` against an origin that accepts as many connections as it has scripts.
    private static func run<Result: Sendable>(
        _ scripts: [[String]],
        _ body: @escaping @Sendable (HTTPClient, OriginTarget) async throws -> Result
    ) async throws -> (result: Result, records: [TrafficEvent], received: [UInt8]) {
        let loop = try EventLoop(index: 0)
        startThread(named: "test loop") { loop.run() }
        defer { loop.stop() }
        let sink = EventList()
        return try await Task(executorPreference: loop) {
            let loopback = SocketAddress(address: [127, 0, 0, 1], port: 0)
            let bound = try Listener.bind(loopback, sharesPort: false)
            let listener = try Listener(
                descriptor: bound.descriptor, address: bound.address, loop: loop)
            let origin = ScriptedOrigin(listener, scripts)
            if scripts.isEmpty { listener.close() }
            async let received = origin.run()
            let client = HTTPClient(
                ClientConfiguration(), on: loop, recorder: TrafficRecorder(sink: sink))
            let target = OriginTarget(
                isSecure: false, host: "127.0.0.1", port: bound.address.port)
            let result = try await client.run { try await body(client, target) }
            listener.close()
            return (result, sink.events.withLock { $0 }, await received)
        }.value
    }
}

/// `@unchecked Sendable`: used on its loop alone.
private final class ScriptedOrigin: @unchecked Sendable {
    private let listener: Listener
    private let scripts: [[String]]

    init(_ listener: Listener, _ scripts: [[String]]) {
        self.listener = listener
        self.scripts = scripts
    }

    /// - Returns: all that came in.
    func run() async -> [UInt8] {
        var received: [UInt8] = []
        for script in scripts {
            guard let (channel, _) = await listener.accept() else { break }
            let stream = PlainStream(channel)
            do throws(StreamFailure) {
                for answer in script {
                    received += try await Self.readRequest(stream)
                    let buffer = ByteBuffer(capacity: 1 << 16)
                    buffer.append(Array(answer.utf8))
                    if answer.isEmpty { break }
                    try await stream.write(buffer)
                }
            } catch {
                // The client has left.
            }
            stream.close()
        }
        return received
    }

    /// Reads a head, and the content of twelve bytes that it may announce.
    private static func readRequest(_ stream: PlainStream) async throws(StreamFailure) -> [UInt8] {
        let buffer = ByteBuffer(capacity: 1 << 16)
        while true {
            let text = buffer.copy.text
            if text.contains("chunked") ? text.hasSuffix("0\r\n\r\n") : isWhole(text) {
                return buffer.copy
            }
            guard try await stream.read(into: buffer) > 0 else { throw .closed }
        }
    }

    private static func isWhole(_ text: String) -> Bool {
        text.contains("Content-Length") ? text.hasSuffix("second") : text.hasSuffix("\r\n\r\n")
    }
}

extension TrafficEvent {
    fileprivate var connection: ConnectionRecord? {
        if case .connection(let record) = self { record } else { nil }
    }

    fileprivate var exchange: ExchangeRecord? {
        if case .exchange(let snapshot) = self { snapshot.record } else { nil }
    }
}
