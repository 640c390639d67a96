import Base
import HTTPCodecs
import HTTPModel
import Sockets
import Testing
import Traffic
import Transport

@testable import HTTPClient

@Suite(.timeLimit(.minutes(1))) struct ClientWebSocketTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        var head =
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
            + "Connection: Upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"
        /// How many messages it answers before it falls silent.
        var answers = 100
        /// A status with what came of it, or a failure's code.
        let outcome: String
        let messages: [String]
        var testDescription: String { name }
    }

    @Test(arguments: [
        Row(
            name: "an echo", outcome: "101 whole 2",
            messages: [
                "request text one", "response text one", "request text two", "response text two",
                "request close 1000", "response close 1000",
            ]),
        Row(
            name: "an origin that falls silent", answers: 1, outcome: "101 short 1",
            messages: [
                "request text one", "response text one", "request text two", "request close 1000",
                "response close 1000",
            ]),
        Row(
            name: "no WebSocket", head: "HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nhi",
            outcome: "403 hi", messages: []),
        Row(
            name: "another key's answer",
            head: "HTTP/1.1 101 S\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: YQ==\r\n\r\n",
            outcome: "origin-violation", messages: []),
        Row(
            name: "another protocol", head: "HTTP/1.1 101 S\r\nUpgrade: h2c\r\n\r\n",
            outcome: "origin-violation", messages: []),
        Row(
            name: "extensions that nobody offered",
            head: "HTTP/1.1 101 S\r\nUpgrade: websocket\r\n"
                + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"
                + "Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n",
            outcome: "origin-violation", messages: []),
        Row(name: "nothing", head: "", outcome: "origin-closed", messages: []),
    ])
    func converses(_ row: Row) async throws {
        let outcome = try await withClient { _, stream in
            await Echo(stream).run(row.head, answers: row.answers)
        } _: { client, target in
            var script = WebSocketScript()
            script.lines = [
                .init(.text, Array("one".utf8), awaited: 0, patience: 50),
                .init(.text, Array("two".utf8), awaited: 1, patience: 50),
            ]
            script.awaited = 2
            // The one that falls silent is waited for, and not much longer.
            script.patience = row.answers == 1 ? 1 : 60_000
            let machine = WebSocketClientMachine(script)
            return await Self.told(client, Self.request(to: target), machine)
        }
        #expect(outcome.result == row.outcome)
        let messages = outcome.records.compactMap { event -> String? in
            guard case .message(let message) = event else { return nil }
            let what = message.kind == .close ? message.detail : message.bytes.text
            return "\(message.direction) \(message.kind) \(what)"
        }
        #expect(messages == row.messages)
        #expect(outcome.connections.map(\.messageCount) == [Int64(row.messages.count)])
        #expect(outcome.exchanges.count == 1)
    }

    /// Longer than a part of the record, and than what the sockets hold.
    @Test func conversesAtLength() async throws {
        let content = [UInt8](repeating: 0x61, count: 3 << 20)
        let outcome = try await withClient { _, stream in
            await Echo(stream).run(Row(name: "", outcome: "", messages: []).head, answers: 9)
        } _: { client, target in
            var script = WebSocketScript()
            script.lines = (0..<2).map { .init(.binary, content, awaited: $0, patience: 30_000) }
            script.awaited = 2
            script.patience = 30_000
            return await Self.told(
                client, Self.request(to: target), WebSocketClientMachine(script))
        }
        #expect(outcome.result == "101 whole 2")
        var sizes: [Int64: Int64] = [:]
        for case .message(let message) in outcome.records where message.kind == .binary {
            sizes[message.number, default: 0] += message.size
        }
        #expect(sizes.values.allSatisfy { $0 == content.count } && sizes.count == 4)
    }

    private static func told(
        _ client: HTTPClient, _ request: ClientRequest, _ machine: WebSocketClientMachine
    ) async -> String {
        do throws(Failure) {
            let answer = try await client.converse(request, machine)
            guard answer.head.status == 101 else {
                return "\(answer.head.status) \(answer.content.text)"
            }
            return "101 \(machine.isWhole ? "whole" : "short") \(machine.heard)"
        } catch {
            return error.code
        }
    }

    private static func request(to target: ClientTarget) -> ClientRequest {
        let key = "dGhlIHNhbXBsZSBub25jZQ=="
        let head =
            "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: \(key)\r\n\r\n"
        var request = ClientRequest(
            target: target, method: .get, isSafe: false, head: Array(head.utf8),
            content: .bytes([]), isChunked: false)
        request.prefersHTTP2 = true
        request.webSocketKey = key
        return request
    }
}

/// Says again what it hears.
private final class Echo {
    private let stream: PlainStream
    private var reader = WebSocketReader(role: .client, extensions: nil)
    private let scratch = ByteBuffer(capacity: 4096)
    private var output: [UInt8] = []
    private var message: [UInt8] = []
    private var opcode = WebSocketOpcode.text

    init(_ stream: PlainStream) {
        self.stream = stream
    }

    func run(_ head: String, answers: Int) async {
        var left = answers
        let buffer = ByteBuffer(capacity: 1 << 16)
        do throws(StreamFailure) {
            guard try await stream.read(into: buffer) > 0, !head.isEmpty else { return }
            buffer.removeAll()
            try await say(Array(head.utf8))
            while try await stream.read(into: buffer) > 0 {
                reader.read(buffer.readable, scratch: scratch) { take($0, $1, &left) }
                buffer.removeAll()
                try await say(output)
                output = []
            }
        } catch {
            // The client has left.
        }
    }

    private func take(_ event: WebSocketEvent, _ content: Span<UInt8>, _ left: inout Int) {
        switch event {
        case .messageBegin(let kind, _):
            message = []
            opcode = kind == .text ? .text : .binary
        case .content: for index in content.indices { message.append(content[index]) }
        case .messageEnd:
            left -= 1
            let message = message
            if left >= 0 { WebSocketWriter.write(opcode, message.span, into: &output) }
        case .close(let code):
            WebSocketWriter.writeClose(code: code, reason: Span(), into: &output)
        default: break
        }
    }

    private func say(_ bytes: [UInt8]) async throws(StreamFailure) {
        let buffer = ByteBuffer(capacity: max(1, bytes.count))
        buffer.append(bytes)
        try await stream.write(buffer)
    }
}
