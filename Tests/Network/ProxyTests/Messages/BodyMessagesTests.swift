import Base
import Testing
import Traffic

@testable import Proxy

extension ProxyTests {
    /// Messages inside of contents that stream.
    @Suite struct StreamedMessages {
        struct Row: CustomTestStringConvertible, Sendable {
            let testDescription: String
            let fields: String
            let content: [UInt8]
            let kind: MessageRecord.Kind?
            /// Where each message begins, how long it is without an empty line, and what is said of it.
            var messages: [(offset: Int64, size: Int64, detail: String)] = []
        }

        private static func bytes(_ text: String) -> [UInt8] { [UInt8](text.utf8) }

        static let rows: [Row] = [
            Row(
                testDescription: "events", fields: "Content-Type: text/event-stream\r\n",
                content: bytes("data: 1\n\nevent: tick\ndata: 2\n\n: note\n\ndata: 3\n\n"),
                kind: .event,
                messages: [(0, 8, ""), (9, 20, "tick"), (38, 8, "")]),
            Row(
                testDescription: "events with parameters of the type",
                fields: "content-type: TEXT/Event-Stream; charset=utf-8\r\n",
                content: bytes("data: 1\r\n\r\n"), kind: .event, messages: [(0, 9, "")]),
            Row(
                testDescription: "gRPC", fields: "Content-Type: application/grpc+proto\r\n",
                content: [0, 0, 0, 0, 2, 8, 1, 1, 0, 0, 0, 1, 9, 0, 0, 0, 0, 0], kind: .grpc,
                messages: [(0, 2, ""), (7, 1, "compressed"), (13, 0, "")]),
            Row(
                testDescription: "half a message of gRPC",
                fields: "Content-Type: application/grpc\r\n",
                content: [0, 0, 0, 0, 1, 8, 0, 0, 0, 0, 9, 1], kind: .grpc,
                messages: [(0, 1, "")]),
            Row(
                testDescription: "no gRPC inside", fields: "Content-Type: application/grpc\r\n",
                content: bytes("<html>an error page</html>"), kind: .grpc),
            Row(
                testDescription: "a compressed content",
                fields: "Content-Type: text/event-stream\r\nContent-Encoding: gzip\r\n",
                content: bytes("data: 1\n\n"), kind: nil),
            Row(
                testDescription: "another type", fields: "Content-Type: text/plain\r\n",
                content: bytes("data: 1\n\n"), kind: nil),
            Row(
                testDescription: "no type", fields: "", content: bytes("data: 1\n\n"), kind: nil),
        ]

        @Test(arguments: rows, [Way.absoluteForm, .tunnel13])
        func areTold(_ row: Row, _ way: Way) throws {
            try withProxy { proxy in
                let origin = try proxy.origin(way.kind) { wire, _ in
                    _ = try wire.readHead()
                    try wire.send(
                        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\(row.fields)\r\n")
                    // Each byte in a chunk of its own.
                    for byte in row.content { try wire.send([0x31, 13, 10, byte, 13, 10]) }
                    try wire.send("0\r\n\r\n")
                    _ = try wire.readToEnd()
                }
                let client = try way.open(proxy, origin)
                let answer = try client.get(way.target("/", origin))
                #expect(answer.body == row.content)
                try client.finish()
                let exchange = try proxy.traffic.exchange()
                let connection = try proxy.traffic.connection()
                let messages = proxy.traffic.content.messages[connection.id] ?? []
                #expect(messages.map(\.offset) == row.messages.map { $0.offset })
                #expect(messages.map(\.detail) == row.messages.map { $0.detail })
                #expect(messages.map(\.number) == (0..<messages.count).map { Int64($0) + 1 })
                for message in messages {
                    #expect(message.kind == row.kind)
                    #expect(message.direction == .response)
                    #expect(message.exchange == exchange.id)
                    #expect(message.bytes.isEmpty)
                }
                #expect(messages.map(\.size) == row.messages.map { $0.size })
                #expect(connection.messageCount == Int64(row.messages.count))
                #expect(proxy.traffic.body(exchange, .response) == row.content)
            }
        }
    }
}
