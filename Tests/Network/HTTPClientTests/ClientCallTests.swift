import Base
import HTTP2
import HTTPCodecs
import HTTPModel
import Sockets
import Testing
import Traffic
import Transport

@testable import HTTPClient

/// Calls whose messages take turns.
@Suite(.timeLimit(.minutes(10))) struct ClientCallTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        /// How many of the origin's come before each message.
        let awaited: [Int]
        /// How many messages the origin answers, each as it comes.
        var answers = 9
        /// Whether it ends the call when it answers no more.
        var ends = false
        /// Whether it gives the stream up then.
        var resets = false
        var readTimeout: UInt64 = 30_000
        let outcome: String
        /// How many messages were sent, heard by the origin, and heard; a reset may overtake those.
        let counts: [Int]
        /// How many of the client's had come before each answer; `nil` for not looked at.
        var turns: [Int]?
        var testDescription: String { name }
    }

    @Test(arguments: [
        Row(
            name: "turn by turn", awaited: [0, 1, 2, 3], outcome: "200 whole", counts: [4, 4, 4],
            turns: [1, 2, 3, 4]),
        Row(
            name: "in pairs", awaited: [0, 0, 2, 2], outcome: "200 whole", counts: [4, 4, 4]),
        Row(
            name: "an origin that falls silent", awaited: [0, 1, 2], answers: 1,
            readTimeout: 2_000, outcome: "timed-out", counts: [2, 2, 1]),
        Row(
            name: "an origin that ends", awaited: [0, 1, 2], answers: 1, ends: true,
            outcome: "200 short", counts: [2]),
        Row(
            name: "an origin that ends with its last answer", awaited: [0, 1], answers: 1,
            ends: true, outcome: "200 whole", counts: [2, 2, 1]),
        Row(
            name: "an origin that gives up", awaited: [0, 1, 2], answers: 1, resets: true,
            outcome: "origin-reset", counts: [1, 1]),
    ])
    func takesTurns(_ row: Row) async throws {
        var configuration = ClientConfiguration()
        configuration.readTimeout = row.readTimeout
        let origin = CallOrigin(row)
        let outcome = try await withClient(configuration) { _, stream in
            await serve(stream) { await origin.answer($0) }
        } _: { client, target in
            var script = CallScript()
            script.lines = row.awaited.enumerated().map { place, awaited in
                .init(end: Int64(place + 1) * 8, awaited: awaited)
            }
            let machine = CallClientMachine(script)
            // It is stored in pieces that are none of the messages.
            let content = row.awaited.flatMap { _ in Self.message }
            var request = HTTP2ClientTests.request(
                "POST", to: target, "Content-Type: application/grpc\r\n",
                content: .pieces { .success(Array(content.dropFirst(Int($0)).prefix(11))) })
            request.call = machine
            var told = await client.told(request)
            if told.hasPrefix("200 ") { told = "200 \(machine.isWhole ? "whole" : "short")" }
            // The connection goes on.
            _ = await client.told(HTTP2ClientTests.request("GET", to: target))
            return (told, machine.sent, machine.heard)
        }
        #expect(outcome.result.0 == row.outcome)
        #expect([outcome.result.1, origin.heard, outcome.result.2].starts(with: row.counts))
        #expect(outcome.connections.count == 1)
        if let turns = row.turns {
            #expect(origin.turns == turns)
            let recorded = turns.flatMap { _ in ["request grpc ", "response grpc "] }
            #expect(outcome.messages == recorded)
            #expect(outcome.connections.map(\.messageCount) == [Int64(recorded.count)])
        }
        let exchange = try #require(outcome.exchanges.first)
        #expect(exchange.error == (row.outcome.hasPrefix("200") ? nil : row.outcome))
        #expect(exchange.requestBody.size == row.counts[0] * 8)
    }

    /// One that ends the stream before it was sent all (RFC 9113 §8.1).
    @Test func countsNoMessageThatIsNotWanted() async throws {
        let outcome = try await withClient { _, stream in
            await serve(stream) { stream in
                stream.respond(.response(status: 200), endsStream: false)
                stream.answer([0, 0, 0, 0, 0])
                // Behind the end, whatever of it waits for the socket.
                for _ in 0..<99 { await Task.yield() }
                stream.reset(HTTP2ErrorCode.noError)
            }
        } _: { client, target in
            let size = 4 << 20
            var script = CallScript()
            script.lines = [.init(end: 8, awaited: 0), .init(end: Int64(size), awaited: 0)]
            let machine = CallClientMachine(script)
            var request = HTTP2ClientTests.request(
                "POST", to: target, content: .bytes(Array(repeating: 0, count: size)))
            request.call = machine
            let told = await client.told(request)
            return (told, machine.isWhole, machine.heard)
        }
        #expect(outcome.result.0.hasPrefix("200 "))
        #expect(!outcome.result.1)
        #expect(outcome.result.2 == 1)
    }

    @Test func blamesNobodyElseForAShortContent() async throws {
        let outcome = try await withClient { _, stream in
            await serve(stream) { await Self.answerAtOnce($0) }
        } _: { client, target in
            var script = CallScript()
            script.lines = [.init(end: 8, awaited: 0), .init(end: 16, awaited: 1)]
            var request = HTTP2ClientTests.request(
                "POST", to: target, content: .bytes(Self.message))
            request.call = CallClientMachine(script)
            return await client.told(request)
        }
        #expect(outcome.result == "request-malformed")
    }

    private static let message: [UInt8] = [0, 0, 0, 0, 3, 7, 7, 7]

    /// As an origin that waits for nothing.
    private static func answerAtOnce(_ stream: HTTP2Stream) async {
        await CallOrigin(Row(name: "", awaited: [], outcome: "", counts: [])).answer(stream)
    }

    /// Each at its time, however soon the answers come.
    @Test func keepsTimes() async throws {
        let outcome = try await withClient { _, stream in
            await serve(stream) { await Self.answerAtOnce($0) }
        } _: { client, target in
            var script = CallScript()
            script.lines = (0..<3).map {
                .init(end: ($0 + 1) * 8, awaited: 0, due: UInt64($0) * 40)
            }
            var request = HTTP2ClientTests.request(
                "POST", to: target,
                content: .bytes(Self.message + Self.message + Self.message))
            request.call = CallClientMachine(script)
            let start = client.loop.now
            let answer = try await client.send(request)
            return (answer.content.count, client.loop.now - start)
        }
        #expect(outcome.result.0 == 24)
        #expect(outcome.result.1 >= 80)
    }
}

/// Answers messages of gRPC with themselves; used on one loop.
private final class CallOrigin: @unchecked Sendable {
    private let row: ClientCallTests.Row
    private(set) var heard = 0
    private(set) var turns: [Int] = []

    init(_ row: ClientCallTests.Row) {
        self.row = row
    }

    func answer(_ stream: HTTP2Stream) async {
        let fields = HTTP2Fields.response(
            status: 200, [("content-type", Array("application/grpc".utf8))])
        stream.respond(fields, endsStream: false)
        var reader = LengthPrefixedReader()
        var hasEnded = false
        let buffer = ByteBuffer(capacity: 1 << 14)
        do throws(HTTP2StreamFailure) {
            while try await stream.read(into: buffer) > 0 {
                reader.read(buffer.readable) { _ in heard += 1 }
                buffer.removeAll()
                while turns.count < min(heard, row.answers) {
                    turns.append(heard)
                    buffer.append([0, 0, 0, 0, 3, 1, 2, 3])
                    try await stream.write(buffer)
                }
                guard turns.count == row.answers else { continue }
                if row.resets { return stream.reset(HTTP2ErrorCode.cancel) }
                if row.ends, !hasEnded {
                    hasEnded = true
                    stream.end()
                }
            }
            if !hasEnded { stream.end() }
        } catch {
            // The client has given it up.
        }
    }
}
