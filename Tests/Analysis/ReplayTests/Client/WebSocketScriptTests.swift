import Base
import HTTPCodecs
import Testing
import Traffic

@testable import Replay

struct WebSocketScriptTests {
    private static let upgrade =
        "GET /chat?x=1 HTTP/1.1\nHost: example.com\nUpgrade: websocket\nConnection: Upgrade\n"
        + "Sec-WebSocket-Key: old\nSec-WebSocket-Version: 13\n"
        + "Sec-WebSocket-Extensions: x-other; a, permessage-deflate\nSec-WebSocket-Protocol: chat\n"
        + "Origin: https://example.com\n\n"
    private static let extended =
        "CONNECT /chat?x=1 HTTP/2.0\nhost: example.com\n:protocol: websocket\n"
        + "sec-websocket-version: 13\nsec-websocket-extensions: permessage-deflate\n"
        + "sec-websocket-protocol: chat\norigin: https://example.com\n\n"

    @Test(arguments: [
        (upgrade, "HTTP/1.1 101 Switching Protocols\n\n"), (extended, "HTTP/2.0 200\n\n"),
    ])
    func asksAnew(_ request: String, _ response: String) throws {
        let source = MemorySource()
        source.add(request, to: "example.com", response)
        let plan = try ReplayPlan(source, substitutes: true, keeps: []) { _ in true }
        let entry = try #require(plan.entries.first)
        #expect(entry.opensWebSocket && !entry.isSafe && entry.status == 101)
        var live = LiveValues(plan.substitutions)
        let rewrite = try #require(
            RequestRewrite(
                source.exchangeRecords[0],
                to: .init(origin: "http://localhost:1", authority: "localhost:1"),
                webSocketKey: "bmV3", &live
            ) { [] })
        let lines = rewrite.head.text.split(separator: "\r\n").map { $0.lowercased() }
        #expect(
            lines == [
                "get /chat?x=1 http/1.1", "host: localhost:1", "sec-websocket-protocol: chat",
                "origin: http://localhost:1", "upgrade: websocket", "connection: upgrade",
                "sec-websocket-version: 13", "sec-websocket-key: bmv3",
                "sec-websocket-extensions: permessage-deflate",
            ])
    }

    @Test func readsWhatTheClientSaid() throws {
        let source = MemorySource()
        source.add(Self.upgrade, to: "example.com", "HTTP/1.1 101 Switching Protocols\n\n")
        source.add(.response, .text, [1], exchange: 1)
        source.add(.request, .text, [2], exchange: 1)
        source.add(.request, .ping, [3], exchange: 1)
        source.add(.response, .pong, [3], exchange: 1)
        source.add(.response, .binary, [4, 4], exchange: 1)
        source.add(.request, .pong, [5], exchange: 1)
        source.add(.request, .text, [6], exchange: 2)
        source.add(.request, .binary, [7], exchange: 1)
        source.add(.response, .close, [], exchange: 1, detail: "1000")
        source.add(.request, .close, [8], exchange: 1, detail: "1000 bye")
        let script = try WebSocketScript(source.exchangeRecords[0], from: source)
        #expect(script.lines.map(\.opcode) == [.text, .ping, .binary, .close])
        #expect(script.lines.map(\.content) == [[2], [3], [7], [8]])
        #expect(script.lines.map(\.awaited) == [1, 1, 2, 2])
        #expect(script.lines.map(\.awaitsClose) == [false, false, false, true])
        #expect(script.lines.map(\.code) == [nil, nil, nil, 1000])
        #expect(script.lines.allSatisfy { $0.patience == 10_000 || $0.patience == 1_700_000 })
        #expect(script.awaited == 2 && script.heardLimit == 16 << 20 + 4 * 32 + 8)
    }

    @Test func joinsParts() throws {
        let source = MemorySource()
        source.add(Self.upgrade, to: "example.com", "HTTP/1.1 101 Switching Protocols\n\n")
        source.add(.request, .text, [1, 2], exchange: 1)
        source.add(.request, .text, [3], exchange: 1)
        source.messageRecords[1].part = 1
        let script = try WebSocketScript(source.exchangeRecords[0], from: source)
        #expect(script.lines.map(\.content) == [[1, 2, 3]])
        #expect(throws: Failure.self) {
            try WebSocketScript(source.exchangeRecords[0], from: source, contentLimit: 2)
        }
        source.messageRecords[0].isTruncated = true
        #expect(throws: Failure.self) {
            try WebSocketScript(source.exchangeRecords[0], from: source)
        }
    }
    @Test(arguments: [-1, 1 << 62, Int64.min]) func believesNoSize(_ size: Int64) throws {
        let source = MemorySource()
        source.add(Self.upgrade, to: "example.com", "HTTP/1.1 101 Switching Protocols\n\n")
        source.add(.response, .text, [1], exchange: 1)
        source.messageRecords[0].size = size
        let script = try WebSocketScript(source.exchangeRecords[0], from: source)
        #expect(script.heardLimit <= 1 << 40)
    }

    @Test func waitsNotForEver() throws {
        let source = MemorySource()
        source.add(Self.upgrade, to: "example.com", "HTTP/1.1 101 Switching Protocols\n\n")
        source.add(.request, .text, [1], exchange: 1)
        source.messageRecords[0].at = Timestamp(microseconds: .max)
        let script = try WebSocketScript(source.exchangeRecords[0], from: source)
        #expect(script.lines.map(\.patience) == [3_610_000])
    }

    @Test func sendsNoMessageThatBrokeOff() throws {
        let source = MemorySource()
        source.add(Self.upgrade, to: "example.com", "HTTP/1.1 101 Switching Protocols\n\n")
        source.add(.request, .text, [1], exchange: 1, detail: "cut: the message did not end")
        #expect(throws: Failure.self) {
            try WebSocketScript(source.exchangeRecords[0], from: source)
        }
    }
}
