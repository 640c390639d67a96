import Base
import ContentServer
import HTTPServer
import Origins
import Runs
import Sockets
import Testing

/// What `content journal` says where it cannot have all that it asks for.
struct JournalQueryTests {
    @Test func refusesTooManyAssertions() async throws {
        let content = ContentServer(ContentServerConfiguration())
        let most = try await Self.ask(content.answer) {
            $0.assertions = Array(repeating: "whole", count: 16)
        }
        #expect(most == "unseen")
        let more = try await Self.ask(content.answer) {
            $0.assertions = Array(repeating: "whole", count: 17)
        }
        #expect(more == "assertions-too-many")
    }

    @Test func refusesLessThanItAskedFor() async throws {
        let content = ContentServer(ContentServerConfiguration())
        #expect(try await Self.ask(content.answer) { $0.isJSON = true } == "")
        let cut = try await Self.ask(content.answer) {
            $0.isJSON = true
            $0.byteLimit = 100
        }
        #expect(cut == "journal-too-large")
    }

    /// Such as one that judges the first few.
    @Test func refusesOtherServers() async throws {
        let fewer: Answer = { _, _ in
            ServerResponse(
                200,
                [
                    ResponseField("Sallyport-Outcome", "passed"),
                    ResponseField("Sallyport-Judged", "1"),
                ], body: .bytes([0x61]))
        }
        let half: Answer = { _, _ in
            ServerResponse(200, body: .stream(length: 9, BytesSource([0x61])))
        }
        let judged = try await Self.ask(fewer) { $0.assertions = ["whole", "if-range"] }
        #expect(judged == "journal-incomplete")
        #expect(try await Self.ask(half) { _ in } == "journal-incomplete")
    }

    /// - Returns: the outcome, or the failure's code.
    private static func ask(
        _ answer: @escaping Answer, _ change: (inout JournalQuery) -> Void
    ) async throws -> String {
        let loop = try EventLoop(index: 0)
        startThread(named: "test loop") { loop.run() }
        defer { loop.stop() }
        let local = try #require(SocketAddress(literal: "127.0.0.1", port: 0))
        let server = try HTTPServer(
            ports: [HTTPServer.Port(local)], loops: [loop], answer: answer)
        async let ended = server.run()
        var query = JournalQuery()
        query.server = HostPort(server.addresses[0])
        change(&query)
        let asked = query
        let outcome = await withTaskExecutorPreference(loop) {
            do throws(Failure) {
                return try await asked.ask(on: loop).outcome ?? ""
            } catch {
                return error.code
            }
        }
        server.stop()
        _ = await ended
        return outcome
    }
}
