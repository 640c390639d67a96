import Base
import Testing

@testable import HTTPCodecs

struct WebSocketMessageWriterTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let agreed: PerMessageDeflate?
        /// Whether the second of two equal messages is shorter than the first.
        var takesOver = true
        var isCompressed = true
        var testDescription: String { name }

        init(
            _ name: String, takesOver: Bool = true, isCompressed: Bool = true,
            _ change: (inout PerMessageDeflate) -> Void
        ) {
            self.name = name
            self.takesOver = takesOver
            self.isCompressed = isCompressed
            var agreed = PerMessageDeflate()
            change(&agreed)
            self.agreed = name == "nothing agreed" ? nil : agreed
        }
    }

    static let rows: [Row] = [
        Row("nothing agreed", takesOver: false, isCompressed: false) { _ in },
        Row("plain") { _ in },
        Row("without context", takesOver: false) { $0.clientResets = true },
        Row("the server's concerns") {
            $0.serverResets = true
            $0.serverWindowBits = 9
        },
        Row("a short window") { $0.clientWindowBits = 9 },
        Row("the shortest window", takesOver: false, isCompressed: false) {
            $0.clientWindowBits = 8
        },
    ]

    /// The reader of the other side understands it, however it is cut.
    @Test(arguments: rows) func packs(_ row: Row) {
        let text = Array("you shall have a message and a message, and a message".utf8)
        let messages: [[UInt8]] = [text, text, [], [0x61], [], text]
        let writer = WebSocketMessageWriter(role: .client, extensions: row.agreed)
        var bytes: [UInt8] = []
        var sizes: [Int] = []
        for message in messages {
            let start = bytes.count
            writer.write(.text, message.span, maskingKey: 0x37FA_213D, into: &bytes)
            sizes.append(bytes.count - start)
            let none: [UInt8] = []
            writer.write(.ping, none.span, maskingKey: 1, into: &bytes)
        }
        #expect((sizes[1] < sizes[0]) == row.takesOver)
        let (whole, deviations) = stories(of: bytes, from: .client, row.agreed)
        #expect(deviations.isEmpty)
        let expected = messages.flatMap { message -> [WebSocketStory.Entry] in
            let content: [WebSocketStory.Entry] = message.isEmpty ? [] : [.content(message)]
            return [.begin(.text, isCompressed: row.isCompressed)] + content
                + [.end(UInt64(message.count), isTruncated: false), .ping([])]
        }
        #expect(whole.entries == expected)
    }

    /// Nothing lies further back than the window that was agreed on.
    @Test func keepsToTheWindow() {
        var agreed = PerMessageDeflate()
        agreed.clientWindowBits = 9
        let noise = (0..<2048).map { UInt8(truncatingIfNeeded: $0 &* $0 &* 31 &+ $0 >> 3) }
        let long = WebSocketMessageWriter(role: .client, extensions: PerMessageDeflate())
        let short = WebSocketMessageWriter(role: .client, extensions: agreed)
        var sizes: [Int] = []
        for writer in [long, short] {
            var bytes: [UInt8] = []
            writer.write(.binary, (noise + noise).span, maskingKey: nil, into: &bytes)
            sizes.append(bytes.count)
        }
        #expect(sizes[0] < sizes[1])
    }
}
