import Base
import Testing
import Traffic

@testable import Proxy

extension ProxyTests {
    /// WebSockets that pass, and what is recorded of them.
    @Suite struct WebSockets {
        /// A message as it should be recorded.
        struct Expected: Equatable, CustomStringConvertible {
            let direction: Direction
            let kind: MessageRecord.Kind
            let text: String
            var detail = ""

            var description: String { "\(direction) \(kind) '\(text)' \(detail)" }
        }

        struct Row: CustomTestStringConvertible, Sendable {
            let testDescription: String
            var extensions: String?
            /// What the client and then the origin sends; frames, or whatever else.
            var client: [[UInt8]] = []
            var origin: [[UInt8]] = []
            let expected: @Sendable () -> [Expected]
            var notes: [String] = []
        }

        /// A frame (RFC 6455 §5.2), masked if the client sends it.
        static func frame(
            _ opcode: UInt8, _ payload: [UInt8], fin: Bool = true, compressed: Bool = false,
            masked: Bool = true
        ) -> [UInt8] {
            var bytes: [UInt8] = [(fin ? 0x80 : 0) | (compressed ? 0x40 : 0) | opcode]
            let bit: UInt8 = masked ? 0x80 : 0
            if payload.count < 126 {
                bytes.append(bit | UInt8(payload.count))
            } else {
                bytes += [bit | 126] + UInt16(payload.count).bytes
            }
            guard masked else { return bytes + payload }
            let key: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
            return bytes + key + payload.enumerated().map { $1 ^ key[$0 % 4] }
        }

        private static func text(_ text: String, fin: Bool = true, masked: Bool = true) -> [UInt8] {
            frame(1, [UInt8](text.utf8), fin: fin, masked: masked)
        }

        /// `Hello` as RFC 7692 §7.2.3.1 has it.
        private static let deflated: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]
        /// The same again with what was sent before (§7.2.3.2).
        private static let deflatedAgain: [UInt8] = [0xF2, 0x00, 0x11, 0x00, 0x00]

        static let rows: [Row] = [
            Row(
                testDescription: "both ways", client: [text("hello")],
                origin: [text("world", masked: false), frame(2, [1, 2], masked: false)],
                expected: {
                    [
                        Expected(direction: .request, kind: .text, text: "hello"),
                        Expected(direction: .response, kind: .text, text: "world"),
                        Expected(direction: .response, kind: .binary, text: "\u{1}\u{2}"),
                    ]
                }),
            Row(
                testDescription: "fragments, and a ping between them",
                client: [
                    text("hel", fin: false), frame(9, [0x70]), frame(0, [0x6C], fin: false),
                    frame(0, [0x6F]),
                ], origin: [frame(10, [0x70], masked: false)],
                expected: {
                    [
                        Expected(direction: .request, kind: .ping, text: "p"),
                        Expected(direction: .request, kind: .text, text: "hello"),
                        Expected(direction: .response, kind: .pong, text: "p"),
                    ]
                }),
            Row(
                testDescription: "empty messages",
                client: [text(""), frame(2, []), frame(9, []), frame(8, [])],
                expected: {
                    [
                        Expected(direction: .request, kind: .text, text: ""),
                        Expected(direction: .request, kind: .binary, text: ""),
                        Expected(direction: .request, kind: .ping, text: ""),
                        Expected(direction: .request, kind: .close, text: "", detail: "no code"),
                    ]
                }),
            Row(
                testDescription: "close with a code and a reason",
                client: [frame(8, [0x03, 0xE8] + [UInt8]("bye".utf8))],
                origin: [frame(8, [0x03, 0xE9], masked: false)],
                expected: {
                    [
                        Expected(
                            direction: .request, kind: .close, text: "bye", detail: "1000 bye"),
                        Expected(direction: .response, kind: .close, text: "", detail: "1001"),
                    ]
                }),
            Row(
                testDescription: "compressed", extensions: "permessage-deflate",
                client: [
                    frame(1, deflated, compressed: true),
                    frame(1, deflatedAgain, compressed: true), text("plain"),
                ], origin: [frame(1, deflated, compressed: true, masked: false)],
                expected: {
                    [
                        Expected(direction: .request, kind: .text, text: "Hello"),
                        Expected(direction: .request, kind: .text, text: "Hello"),
                        Expected(direction: .request, kind: .text, text: "plain"),
                        Expected(direction: .response, kind: .text, text: "Hello"),
                    ]
                }),
            Row(
                testDescription: "compressed in fragments",
                extensions: "permessage-deflate; client_no_context_takeover",
                client: [
                    frame(1, Array(deflated[..<3]), fin: false, compressed: true),
                    frame(0, Array(deflated[3...])),
                ],
                expected: { [Expected(direction: .request, kind: .text, text: "Hello")] }),
            Row(
                testDescription: "compressed and not agreed on",
                client: [frame(1, deflated, compressed: true)],
                expected: { [] }, notes: ["websocket-reserved-bits"]),
            Row(
                testDescription: "broken compression", extensions: "permessage-deflate",
                client: [frame(1, [0xFF, 0xFF, 0xFF, 0xFF], compressed: true)],
                expected: { [] }, notes: ["websocket-invalid-deflate"]),
            Row(
                testDescription: "a client that does not mask",
                client: [text("hello", masked: false)], origin: [text("world", masked: false)],
                expected: { [Expected(direction: .response, kind: .text, text: "world")] },
                notes: ["websocket-unmasked-client-frame"]),
            Row(
                testDescription: "a continuation of nothing", client: [frame(0, [1])],
                expected: { [] }, notes: ["websocket-unexpected-continuation"]),
            Row(
                testDescription: "a reserved opcode behind a message",
                client: [text("hello"), frame(3, [1])],
                expected: { [Expected(direction: .request, kind: .text, text: "hello")] },
                notes: ["websocket-reserved-opcode"]),
            Row(
                testDescription: "no frames at all",
                client: [[UInt8]("GET / HTTP/1.1\r\n\r\n".utf8)],
                origin: [[UInt8](repeating: 0xFF, count: 300)],
                expected: { [] }, notes: ["websocket-reserved-opcode"]),
            Row(
                testDescription: "half a message",
                client: [text("hel", fin: false)],
                expected: {
                    [
                        Expected(
                            direction: .request, kind: .text, text: "hel",
                            detail: "cut: the message did not end")
                    ]
                }),
        ]

        @Test(arguments: rows, [Way.absoluteForm, .tunnel13])
        func messagesAreRecordedAndFramesPass(_ row: Row, _ way: Way) throws {
            let (sent, answered) = (row.client.flatMap { $0 }, row.origin.flatMap { $0 })
            try withProxy { proxy in
                let origin = try proxy.origin(way.kind) { wire, _ in
                    let head = try wire.readHead()
                    try check(head.contains("Upgrade: websocket"), head)
                    try wire.send(Self.agreement(row.extensions))
                    // Frames that pass are not changed by a byte.
                    let came = try wire.read(sent.count)
                    try check(came == sent, "\(came)")
                    try wire.send(answered)
                    _ = try wire.readToEnd()
                }
                let client = try way.open(proxy, origin)
                try client.send(
                    "GET \(way.target("/chat", origin)) HTTP/1.1\r\nHost: \(origin.authority)\r\n"
                        + Self.handshake(row.extensions) + "\r\n")
                #expect(try client.readHead().hasPrefix("HTTP/1.1 101 "))
                for piece in row.client { try client.send(piece) }
                #expect(try client.read(answered.count) == answered)
                try client.finish()
                _ = try client.readToEnd()
                try expect(proxy, row)
            }
        }

        private static func handshake(_ extensions: String?) -> String {
            "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                + (extensions.map { "Sec-WebSocket-Extensions: \($0)\r\n" } ?? "")
        }

        private static func agreement(_ extensions: String?) -> String {
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"
                + (extensions.map { "Sec-WebSocket-Extensions: \($0)\r\n" } ?? "") + "\r\n"
        }

        private func expect(_ proxy: ProxyUnderTest, _ row: Row) throws {
            let exchange = try proxy.traffic.exchange()
            #expect(exchange.status == 101)
            let connection = try proxy.traffic.connection()
            let messages = proxy.traffic.content.messages[connection.id] ?? []
            #expect(Int64(Set(messages.map(\.number)).count) == connection.messageCount)
            #expect(messages.allSatisfy { $0.exchange == exchange.id && !$0.isTruncated })
            let found = messages.filter { $0.kind != .segment }.map {
                Expected(
                    direction: $0.direction, kind: $0.kind, text: $0.bytes.text, detail: $0.detail)
            }
            // The directions pass each other; within one they are in order.
            for direction in [Direction.request, .response] {
                let wanted = row.expected().filter { $0.direction == direction }
                let isBroken = { (message: Expected) in message.detail == "broken" }
                #expect(
                    found.filter { $0.direction == direction && !isBroken($0) } == wanted)
            }
            #expect(Set(row.notes).isSubset(of: connection.notes.map(\.code)))
            #expect(row.notes.isEmpty == connection.notes.isEmpty)
        }

        @Test func longMessageIsToldInParts() throws {
            let content = [UInt8](repeating: 0x61, count: 60_000)
            let count = 12
            try withProxy { proxy in
                let origin = try proxy.origin { wire, _ in
                    _ = try wire.readHead()
                    try wire.send(Self.agreement(nil))
                    for number in 0..<count {
                        let opcode: UInt8 = number == 0 ? 1 : 0
                        try wire.send(
                            Self.frame(
                                opcode, content, fin: number == count - 1, masked: false))
                    }
                    _ = try wire.readToEnd()
                }
                let client = try proxy.connect()
                try client.send(
                    "GET http://\(origin.authority)/ HTTP/1.1\r\nHost: x\r\n"
                        + Self.handshake(nil) + "\r\n")
                _ = try client.readHead()
                _ = try client.read(count * (content.count + 4))
                try client.finish()
                _ = try client.readToEnd()
                let connection = try proxy.traffic.connection()
                let parts = proxy.traffic.content.messages[connection.id] ?? []
                #expect(parts.map(\.part) == Array(0..<parts.count))
                #expect(parts.count == 3)
                #expect(parts.allSatisfy { $0.number == 1 && $0.size <= 256 << 10 })
                #expect(parts.map(\.isLast) == [false, false, true])
                #expect(parts.map(\.size).reduce(0, +) == Int64(count * content.count))
                #expect(parts.flatMap(\.bytes).count == count * content.count)
            }
        }

        @Test func recordingHasALimit() throws {
            try withProxy(.policy(\.recordedBody, 7)) { proxy in
                let origin = try proxy.origin { wire, _ in
                    _ = try wire.readHead()
                    try wire.send(Self.agreement(nil))
                    _ = try wire.readToEnd()
                }
                let client = try proxy.connect()
                try client.send(
                    "GET http://\(origin.authority)/ HTTP/1.1\r\nHost: x\r\n"
                        + Self.handshake(nil) + "\r\n")
                _ = try client.readHead()
                for _ in 0..<3 { try client.send(Self.text("hello")) }
                try client.finish()
                _ = try client.readToEnd()
                let connection = try proxy.traffic.connection()
                let messages = proxy.traffic.content.messages[connection.id] ?? []
                #expect(messages.map(\.bytes.count) == [5, 2, 0])
                #expect(messages.map(\.size) == [5, 5, 5])
                #expect(messages.map(\.isTruncated) == [false, true, true])
            }
        }

        /// What is no WebSocket is told in pieces as they came.
        @Test func otherUpgradesAreSegments() throws {
            try withProxy { proxy in
                let origin = try proxy.origin { wire, _ in
                    _ = try wire.readHead()
                    try wire.send(
                        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n"
                            + "Upgrade: tn3270\r\n\r\nearly")
                    let line = try wire.read(4)
                    try check(line.text == "ping", line.text)
                    try wire.send("pong")
                    _ = try wire.readToEnd()
                }
                let client = try proxy.connect()
                try client.send(
                    "GET http://\(origin.authority)/ HTTP/1.1\r\nHost: x\r\n"
                        + "Connection: Upgrade\r\nUpgrade: tn3270\r\n\r\n")
                _ = try client.readHead()
                #expect(try client.read(5).text == "early")
                try client.send("ping")
                #expect(try client.read(4).text == "pong")
                try client.finish()
                _ = try client.readToEnd()
                let exchange = try proxy.traffic.exchange()
                let connection = try proxy.traffic.connection()
                let messages = proxy.traffic.content.messages[connection.id] ?? []
                #expect(messages.allSatisfy { $0.kind == .segment && $0.exchange == exchange.id })
                let came = messages.filter { $0.direction == .response }.flatMap(\.bytes).text
                #expect(came == "earlypong")
                let sent = messages.filter { $0.direction == .request }.flatMap(\.bytes).text
                #expect(sent == "ping")
                #expect(messages.map(\.number) == Array(1...Int64(messages.count)))
            }
        }
    }
}
