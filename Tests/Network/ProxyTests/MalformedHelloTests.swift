import Base
import TLS
import Testing
import Traffic

@testable import Proxy

extension ProxyTests {
    /// First flights that are no TLS, or none that can be served.
    @Suite struct MalformedHellos {
        struct Row: CustomTestStringConvertible, Sendable {
            let testDescription: String
            let bytes: [UInt8]
            let outcome: ConnectionRecord.Outcome
            /// The alert that answers, `nil` for none.
            let alert: UInt8?
            /// What the cause says among others.
            let words: String

            init(
                _ name: String, _ bytes: [UInt8], _ outcome: ConnectionRecord.Outcome = .refused,
                alert: UInt8? = 50, _ words: String = ""
            ) {
                testDescription = name
                self.bytes = bytes
                self.outcome = outcome
                self.alert = alert
                self.words = words
            }
        }

        private static func number(_ value: Int) -> [UInt8] {
            [UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF)]
        }

        private static func vector(_ bytes: [UInt8]) -> [UInt8] { number(bytes.count) + bytes }

        /// A hello message, and the record around it.
        private static func hello(
            version: UInt16 = 0x0303, suites: [UInt8] = [0x13, 1, 0xC0, 0x2B],
            extensions: [UInt8] = []
        ) -> [UInt8] {
            let body =
                number(Int(version)) + [UInt8](repeating: 7, count: 32) + [0] + vector(suites)
                + [1, 0] + vector(extensions)
            return record([1, 0] + number(body.count) + body)
        }

        private static func record(_ content: [UInt8], type: UInt8 = 22) -> [UInt8] {
            [type, 3, 1] + vector(content)
        }

        private static func serverName(_ name: [UInt8]) -> [UInt8] {
            [0, 0] + vector(vector([0] + vector(name)))
        }

        private static let name = [UInt8]("localhost".utf8)

        static let rows: [Row] = [
            Row("record of another version", [22, 2, 0, 0, 5, 1, 0, 0, 1, 0]),
            Row("empty record", [22, 3, 1, 0, 0]),
            Row("empty record behind a part", record([1, 0]) + [22, 3, 1, 0, 0]),
            Row("record past 2^14", [22, 3, 1, 0x40, 1]),
            Row("alert behind a part", record([1, 0]) + record([1, 0], type: 21)),
            Row("another handshake message", record([2, 0, 0, 1, 0])),
            Row("message past the limit", record([1, 0xFF, 0, 0, 0])),
            Row("message that ends early", record([1, 0, 0, 3, 3, 3, 1])),
            Row("odd suites", hello(suites: [1, 2, 3])),
            Row("no suites", hello(suites: [])),
            Row("extension cut off", hello(extensions: [0, 0, 0, 9, 1])),
            Row("the same extension twice", hello(extensions: [0, 23, 0, 0, 0, 23, 0, 0])),
            Row("NUL in the name", hello(extensions: serverName(name + [0] + name))),
            Row("empty name", hello(extensions: serverName([]))),
            Row(
                "name that is too long",
                hello(extensions: serverName([UInt8](repeating: 97, count: 300)))),
            Row("space in the name", hello(extensions: serverName([0x61, 0x20, 0x62]))),
            Row(
                "many records", (0..<65).flatMap { _ in record([1]) }.prefix(65 * 6) + []),
            Row(
                "SSL 2.0",
                [0x80, 31, 1, 0, 2, 0, 6, 0, 0, 0, 16] + [1, 0, 0x80, 2, 0, 0x80]
                    + [UInt8](repeating: 5, count: 16), .clientHandshakeFailed, alert: nil),
            Row("high bytes", [0xFF, 0xFE, 0xFD, 0xFC, 0xFB]),
            Row(
                "half a hello", Array(hello().prefix(20)), .broken, alert: nil,
                "closed after 20 bytes"),
            Row("a single byte", [22], .broken, alert: nil, "closed after 1 bytes"),
            Row(
                "SSL 3.0 only", hello(version: 0x0300), .clientHandshakeFailed, alert: 40,
                "the handshake with the client failed"),
            Row(
                "TLS 1.1 only", hello(version: 0x0302), .clientHandshakeFailed, alert: 70,
                "the handshake with the client failed"),
            Row(
                "TLS 1.4 only",
                hello(extensions: [0, 43] + vector([2, 3, 5])), .clientHandshakeFailed, alert: 70,
                "the handshake with the client failed"),
            Row(
                "no suite in common", hello(suites: [0x00, 0x01]), .clientHandshakeFailed,
                alert: 40,
                "the handshake with the client failed"),
        ]

        @Test(arguments: rows, [false, true])
        func isAnsweredAndRecorded(_ row: Row, inPieces: Bool) throws {
            let origin = try ScriptedOrigin(.tls) { wire, _ in _ = try wire.readToEnd() }
            let target = ProxyPlan.ReverseTarget(
                .https, host: "localhost", port: origin.port)
            try withProxy(.mode(.reverse(target))) { proxy in
                proxy.adopt(origin)
                let client = try proxy.connect()
                if inPieces {
                    for byte in row.bytes { try client.sendIfTaken([byte]) }
                } else {
                    try client.send(row.bytes)
                }
                try client.finish()
                let answer = try client.readToEnd()
                if let alert = row.alert {
                    #expect(answer.count == 7, "\(answer)")
                    #expect(answer.first == 21)
                    #expect(answer.suffix(2) == [2, alert])
                }
                let connection = try proxy.traffic.connection()
                #expect(connection.outcome == row.outcome)
                #expect(connection.protocolName == "tls")
                #expect(!connection.cause.isEmpty)
                #expect(connection.cause.contains(row.words))
                if row.alert != nil {
                    let alerts = connection.clientTLS?.alerts ?? []
                    #expect(alerts.contains { $0.sender == .tool && $0.fatal })
                }
            }
        }

        /// What other protocols send first to a port that serves TLS.
        static let others: [(String, [UInt8], String, String)] = [
            ("HTTP", [UInt8]("GET / HTTP/1.1\r\nHost: x\r\n\r\n".utf8), "", "HTTP without TLS"),
            ("HTTP/2", [UInt8]("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8), "h2c", "HTTP/2"),
            ("SOCKS 5", [5, 1, 0], "socks", "SOCKS"),
            ("noise", [1, 2, 3], "unknown", "no protocol"),
        ]

        @Test(arguments: others)
        func otherProtocolsAreRefused(
            _ name: String, _ bytes: [UInt8], _ protocolName: String, _ words: String
        ) throws {
            let target = ProxyPlan.ReverseTarget(.https, host: "localhost", port: 1)
            try withProxy(.mode(.reverse(target))) { proxy in
                let client = try proxy.connect()
                try client.send(bytes)
                try client.finish()
                _ = try client.readToEnd()
                let connection = try proxy.traffic.connection()
                #expect(connection.outcome == .refused)
                #expect(connection.protocolName == protocolName)
                #expect(connection.cause.contains(words))
            }
        }

        @Test func proxyIsServedInsideTLS() throws {
            try withProxy { proxy in
                let origin = try proxy.origin { wire, _ in
                    _ = try wire.readHead()
                    try wire.send("HTTP/1.1 204 No Content\r\n\r\n")
                }
                let client = try proxy.connect()
                try client.secure(ProxyUnderTest.clientSession(for: "localhost"))
                let url = "http://\(origin.authority)/"
                try client.send("GET \(url) HTTP/1.1\r\nHost: \(origin.authority)\r\n\r\n")
                #expect(try client.readHead().hasPrefix("HTTP/1.1 204 "))
                try client.finish()
                let connection = try proxy.traffic.connection()
                #expect(connection.outcome == .completed)
                #expect(connection.clientTLS?.sni == "localhost")
                #expect(connection.exchangeCount == 1)
            }
        }
    }
}
