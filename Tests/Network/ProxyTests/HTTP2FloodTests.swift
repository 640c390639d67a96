import Base
import HTTP2Frames
import HTTPCodecs
import Testing
import Traffic

@testable import Proxy

extension ProxyTests {
    /// What a client does too much of.
    @Suite struct HTTP2Floods {
        struct Row: CustomTestStringConvertible, Sendable {
            let name: String
            let frames: [Frame]
            /// The note of the connection's record; `nil` if the connection goes on.
            let code: String?
            /// Exchanges that are recorded at the least.
            var exchanges = 0
            var testDescription: String { name }
        }

        private static func bomb() -> [Frame] {
            var block =
                Frame.block(Frame.get()) + Frame.indexed("x", String(repeating: "a", count: 3900))
            block += [UInt8](repeating: 0xBE, count: 16384 - block.count)
            return [
                Frame(1, flags: 1, stream: 1, block),
                Frame(9, flags: 4, stream: 1, [UInt8](repeating: 0xBE, count: 16384)),
            ]
        }

        private static let resets: [Frame] = (0..<1500).map { UInt32($0 * 2 + 1) }.flatMap {
            [.headers($0, Frame.get()), .reset($0)]
        }

        /// A window beyond 2^31 - 1 is an error of the stream, which we have to reset
        /// (RFC 9113 §6.9.1, CVE-2025-8671).
        private static let provoked: [Frame] = (0..<3000).map { UInt32($0 * 2 + 1) }.flatMap {
            [.headers($0, Frame.get()), .windowUpdate($0, 0x7FFF_FFFF)]
        }

        static let rows: [Row] = [
            .init(name: "rapid reset", frames: resets, code: "h2-rapid-reset", exchanges: 1000),
            .init(
                name: "CONTINUATION",
                frames: [Frame(1, stream: 1, Frame.block(Frame.get()))]
                    + [Frame](repeating: Frame(9, stream: 1), count: 5000),
                code: "h2-continuation-flood"),
            .init(
                name: "SETTINGS", frames: [Frame](repeating: .settings(), count: 2000),
                code: "h2-settings-flood"),
            .init(
                name: "PING", frames: [Frame](repeating: .ping(), count: 5000),
                code: "h2-ping-flood"),
            .init(
                name: "empty DATA",
                frames: [.headers(1, Frame.get(), ends: false)]
                    + [Frame](repeating: .data(1, []), count: 5000),
                code: "h2-empty-frames-flood", exchanges: 1),
            .init(
                name: "PRIORITY",
                frames: [Frame](repeating: Frame(2, stream: 3, [0, 0, 0, 0, 1]), count: 50_000),
                code: "h2-idle-frames-flood"),
            .init(
                name: "WINDOW_UPDATE",
                frames: [Frame](repeating: .windowUpdate(0, 1), count: 50_000),
                code: "h2-window-flood"),
            .init(
                name: "padding alone",
                frames: [.headers(1, Frame.get(), ends: false)]
                    + [Frame](
                        repeating: Frame(0, flags: 8, stream: 1, [0]), count: 5000),
                code: "h2-empty-frames-flood", exchanges: 1),
            .init(
                // Without a stream the first would end the connection in order.
                name: "GOAWAY",
                frames: [.headers(1, Frame.get(), ends: false)]
                    + [Frame](repeating: .goAway(last: 0), count: 5000),
                code: "h2-idle-frames-flood", exchanges: 1),
            .init(
                name: "resets that are provoked", frames: provoked, code: "h2-rapid-reset",
                exchanges: 100),
            .init(name: "HPACK bomb", frames: bomb(), code: nil, exchanges: 1),
            .init(
                name: "large block",
                frames: [Frame(1, stream: 1, [UInt8](repeating: 0, count: 16384))]
                    + [Frame](
                        repeating: Frame(9, stream: 1, [UInt8](repeating: 0, count: 16384)),
                        count: 20), code: "h2-header-block"),
            .init(
                name: "malformed heads",
                frames: (0..<3000).map { .headers(UInt32($0 * 2 + 1), [("A", "b")]) },
                code: "h2-rapid-reset", exchanges: 100),
        ]

        /// Whatever comes, the connection is recorded with its reason, and the proxy serves others.
        @Test(arguments: rows)
        func isEndedAndRecorded(_ row: Row) throws {
            try withProxy { proxy in
                let origin = try proxy.origin(.http2) { wire, _ in
                    // The proxy may have ended the client, and left, before the response, or even
                    // before the settings.
                    do { try HTTP2Peer(.server, wire).serve() } catch is WireFailure {}
                }
                let wire = try proxy.secureTunnel(to: origin, protocols: ["h2"])
                try wire.sendIfTaken(Frame.preface + row.frames.flatMap(\.bytes))
                if let code = row.code {
                    var parser = FrameParser()
                    let answer = parser.take(try wire.readToEnd())
                    let goAway = answer.last { $0.type == 7 }
                    #expect(goAway?.number(from: 4) == (code == "h2-protocol-error" ? 1 : 11))
                    let connection = try proxy.http2Connection()
                    #expect(connection.notes.contains { $0.code == code }, "\(connection.notes)")
                    #expect(connection.outcome == .refused)
                    #expect(connection.cause.contains(code))
                } else {
                    // Once the last of them was given up, another one has its place.
                    let last = row.frames.last { $0.type == 1 }?.stream
                    var parser = FrameParser()
                    var isOver = false
                    while !isOver {
                        let bytes = try wire.read()
                        try check(!bytes.isEmpty, "the connection ended")
                        isOver = parser.take(bytes).contains { $0.type == 3 && $0.stream == last }
                    }
                    let other = Frame.headers(99_999, Frame.get("/after")).bytes
                    try wire.send(other)
                    _ = try proxy.traffic.wait(for: "the last request") { content in
                        content.finalExchanges.first { $0.stream == 99_999 && $0.status == 200 }
                    }
                }
                wire.close()
                let connection = try proxy.http2Connection()
                #expect(connection.exchangeCount >= row.exchanges)
                let other = try proxy.http2Client(to: origin)
                #expect(try other.get("/other").status == 200)
                other.wire.close()
            }
        }
    }
}
