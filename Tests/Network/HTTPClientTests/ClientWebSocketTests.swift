import Base
import HTTPCodecs
import HTTPModel
import Origins
import Sockets
import Testing
import Traffic
import Transport

@testable import HTTPClient

@Suite(.timeLimit(.minutes(10))) struct ClientWebSocketTests {
    static let agreement =
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"
    static let echo = [
        "request text one", "response text one", "request text two", "response text two",
        "request close 1000", "response close 1000",
    ]

    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        var head = agreement + "\r\n"
        var offer = ""
        /// How many messages it answers before it falls silent.
        var answers = 100
        /// A status with what came of it, or a failure's code.
        let outcome: String
        let messages: [String]
        var testDescription: String { name }
    }

    @Test(arguments: [
        Row(name: "an echo", outcome: "101 whole 2", messages: echo),
        Row(
            name: "packed",
            head: agreement + "Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n",
            offer: "permessage-deflate; client_max_window_bits", outcome: "101 whole 2",
            messages: echo),
        Row(
            name: "packed without contexts, in short windows",
            head: agreement + "Sec-WebSocket-Extensions: permessage-deflate; "
                + "client_no_context_takeover; server_no_context_takeover; "
                + "client_max_window_bits=9; server_max_window_bits=9\r\n\r\n",
            offer: "permessage-deflate; client_max_window_bits", outcome: "101 whole 2",
            messages: echo),
        Row(
            name: "an offer that is declined", offer: "permessage-deflate",
            outcome: "101 whole 2", messages: echo),
        Row(
            name: "more than was offered",
            head: agreement + "Sec-WebSocket-Extensions: permessage-deflate; "
                + "client_max_window_bits=9\r\n\r\n",
            offer: "permessage-deflate", outcome: "origin-violation", messages: []),
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
            head: agreement + "Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n",
            outcome: "origin-violation", messages: []),
        Row(name: "nothing", head: "", outcome: "origin-closed", messages: []),
    ])
    func converses(_ row: Row) async throws {
        let outcome = try await withClient { _, stream in
            await stream.echo(row.head, answers: row.answers)
        } _: { client, target in
            var script = WebSocketScript()
            script.lines = [
                .init(.text, Array("one".utf8), awaited: 0, patience: 60_000),
                .init(.text, Array("two".utf8), awaited: 1, patience: 60_000),
            ]
            script.awaited = 2
            // The one that falls silent is waited for, and not much longer.
            script.patience = row.answers == 1 ? 1 : 60_000
            let machine = WebSocketClientMachine(script)
            return await Self.told(
                client, Self.request(to: target, offering: row.offer), machine)
        }
        #expect(outcome.result == row.outcome)
        #expect(outcome.messages == row.messages)
        #expect(outcome.connections.map(\.messageCount) == [Int64(row.messages.count)])
        #expect(outcome.exchanges.count == 1)
    }

    /// Longer than a part of the record, and than what the sockets hold.
    @Test func conversesAtLength() async throws {
        let content = [UInt8](repeating: 0x61, count: 3 << 20)
        let outcome = try await withClient { _, stream in
            await stream.echo(Row(name: "", outcome: "", messages: []).head, answers: 9)
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
        for case .message(let snapshot) in outcome.records where snapshot.record.kind == .binary {
            sizes[snapshot.record.number, default: 0] += snapshot.record.size
        }
        #expect(sizes.values.allSatisfy { $0 == content.count } && sizes.count == 4)
    }

    static func told(
        _ client: HTTPClient, _ request: ClientRequest, _ machine: WebSocketClientMachine
    ) async -> String {
        do throws(Failure) {
            let (answer, isOpened) = try await client.converse(request, machine)
            let status = answer.head.status
            guard isOpened else { return "\(status) \(answer.content.text)" }
            return "\(status) \(machine.isWhole ? "whole" : "short") \(machine.heard)"
        } catch {
            return error.code
        }
    }

    static func request(to target: OriginTarget, offering extensions: String = "") -> ClientRequest
    {
        let offer = extensions.isEmpty ? "" : "Sec-WebSocket-Extensions: \(extensions)\r\n"
        let head =
            "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
            + "\(offer)\r\n"
        var request = ClientRequest(
            target: target, method: .get, isSafe: false, head: Array(head.utf8),
            content: .bytes([]), isChunked: false)
        request.opensWebSocket = true
        return request
    }
}

extension PlainStream {
    /// Answers whatever is asked with this head, and then says what it hears.
    func echo(_ head: String, answers: Int) async {
        let echo = Echo(head.isEmpty ? nil : head, answers: answers)
        let buffer = ByteBuffer(capacity: 1 << 16)
        do throws(StreamFailure) {
            guard try await read(into: buffer) > 0, !head.isEmpty else { return }
            buffer.removeAll()
            try await say(Array(head.utf8))
            while try await read(into: buffer) > 0 {
                let answer = echo.answer(buffer.readable)
                buffer.removeAll()
                try await say(answer)
            }
        } catch {
            // The client has left.
        }
    }

    func say(_ bytes: [UInt8]) async throws(StreamFailure) {
        let buffer = ByteBuffer(capacity: max(1, bytes.count))
        buffer.append(bytes)
        try await write(buffer)
    }
}

/// Says again what it hears.
final class Echo {
    private var reader: WebSocketReader
    private let writer: WebSocketMessageWriter
    private let scratch = ByteBuffer(capacity: 4096)
    private var output: [UInt8] = []
    private var message: [UInt8] = []
    private var opcode = WebSocketOpcode.text
    private var left: Int

    /// - Parameters:
    ///   - head: of the answer, which may agree on permessage-deflate.
    ///   - answers: how many messages it answers before it falls silent.
    init(_ head: String?, answers: Int = .max) {
        let field = head?.split(separator: "\r\n").first {
            $0.lowercased().hasPrefix("sec-websocket-extensions: ")
        }?.dropFirst("sec-websocket-extensions: ".count)
        let extensions = field.flatMap { PerMessageDeflate(responseField: Array($0.utf8)[...]) }
        reader = WebSocketReader(role: .client, extensions: extensions)
        writer = WebSocketMessageWriter(role: .server, extensions: extensions)
        left = answers
    }

    func answer(_ bytes: Span<UInt8>) -> [UInt8] {
        reader.read(bytes, scratch: scratch) { take($0, $1) }
        defer { output = [] }
        return output
    }

    private func take(_ event: WebSocketEvent, _ content: Span<UInt8>) {
        switch event {
        case .messageBegin(let kind, _):
            message = []
            opcode = kind == .text ? .text : .binary
        case .content: for index in content.indices { message.append(content[index]) }
        case .messageEnd:
            left -= 1
            let message = message
            if left >= 0 {
                writer.write(opcode, message.span, maskingKey: nil, into: &output)
            }
        case .close(let code):
            WebSocketWriter.writeClose(code: code, reason: Span(), into: &output)
        default: break
        }
    }
}
