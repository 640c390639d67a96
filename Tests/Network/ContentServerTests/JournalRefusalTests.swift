import Base
import HTTPServer
import Sockets
import Testing
import Transport

@testable import ContentServer

/// Requests that no route sees are in the journal all the same.
struct JournalRefusalTests {
    @Test(arguments: [
        ("GET /%zz HTTP/1.1\r\nHost: a\r\nSallyport-Client: b\r\n\r\n", 400, "/%zz", "b"),
        (
            "GET /f?token=SEC HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "a", count: 200_000))",
            431, "/f?token=***", "127.0.0.1"
        ),
        (
            "GET /f?token=SEC&\(String(repeating: "a", count: 40_000)) HTTP/1.1\r\nHost: a\r\n\r\n",
            414, "/f?token=***&", "127.0.0.1"
        ),
        (
            "GET / HTTP/1.1\r\nHost: a\r\nExpect: 7\r\nContent-Length: 1\r\n\r\n", 417, "/",
            "127.0.0.1"
        ),
        ("CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n", 501, "a:1", "127.0.0.1"),
    ])
    func seesRefusals(
        _ text: String, _ status: Int, _ target: String, _ client: String
    ) async throws {
        let records = try await Self.records(behind: text)
        let record = try #require(records.first)
        #expect(records.count == 1)
        #expect(record.status == status)
        #expect(record.target.hasPrefix(target), "\(record.target)")
        #expect(record.client == client)
        #expect(!record.json.line.text.contains("SEC"))
        #expect(JournalAssertion.nothingInClear.judge(records).outcome == .failed)
    }

    /// A handshake that lost its way is no request, and nothing of it is in the clear.
    @Test func ignoresHandshakes() async throws {
        #expect(try await Self.records(behind: "\u{16}\u{3}\u{1}\r\n\r\n").isEmpty)
    }

    /// What the journal has of what was sent to a server on a port without TLS.
    private static func records(behind text: String) async throws -> [JournalRecord] {
        let content = ContentServer(ContentServerConfiguration())
        let loop = try EventLoop(index: 0)
        startThread(named: "test loop") { loop.run() }
        defer { loop.stop() }
        let local = try #require(SocketAddress(literal: "127.0.0.1", port: 0))
        let server = try HTTPServer(
            ports: [HTTPServer.Port(local)], loops: [loop], onRefusal: content.note,
            answer: content.answer)
        async let ended = server.run()
        let address = server.addresses[0]
        try await withTaskExecutorPreference(loop) {
            try await send(text, to: address, on: loop)
        }
        server.stop()
        _ = await ended
        return content.journal.contents().records
    }

    /// Sends a text and reads until the connection ends, however.
    private static func send(
        _ text: String, to address: SocketAddress, on loop: EventLoop
    ) async throws {
        let channel = try await Channel.connect(to: address, on: loop, deadline: loop.now + 60_000)
        let stream = PlainStream(channel)
        defer { stream.close() }
        stream.readDeadline = loop.now + 60_000
        stream.writeDeadline = loop.now + 60_000
        let buffer = ByteBuffer(capacity: 1 << 18)
        buffer.append([UInt8](text.utf8))
        do throws(StreamFailure) {
            try await stream.write(buffer)
            buffer.removeAll()
            while try await stream.read(into: buffer) > 0 { buffer.removeAll() }
        } catch {
            // A server that has seen enough may reset what it does not read.
        }
    }
}
