import Base
import Testing

@testable import HTTPCodecs

@Suite struct LengthPrefixedReaderTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var bytes: [UInt8]
        var messages: [LengthPrefixedMessage] = []
        var unfinished: LengthPrefixedMessage?
        var received: UInt64 = 0
        var violationOffset: UInt64?
        var testDescription: String { name }
    }

    private static func message(
        _ offset: UInt64, _ size: UInt32, isCompressed: Bool = false, isTrailers: Bool = false
    ) -> LengthPrefixedMessage {
        LengthPrefixedMessage(
            offset: offset, size: size, isCompressed: isCompressed, isTrailers: isTrailers)
    }

    static let rows: [Row] = [
        Row(name: "nothing", bytes: []),
        Row(name: "empty", bytes: hex("00 00000000"), messages: [message(0, 0)]),
        Row(
            name: "three", bytes: hex("00 00000001 41 01 00000002 4242 00 00000000"),
            messages: [message(0, 1), message(6, 2, isCompressed: true), message(13, 0)]),
        Row(
            name: "trailers", bytes: hex("00 00000001 41 80 00000003 613a31"),
            messages: [message(0, 1), message(6, 3, isTrailers: true)]),
        Row(
            name: "long", bytes: hex("00 00000100") + [UInt8](repeating: 2, count: 256),
            messages: [message(0, 256)]),
        Row(name: "open flag", bytes: hex("01"), unfinished: message(0, 0), received: 1),
        Row(
            name: "open prefix", bytes: hex("00 00000000 01 000000"), messages: [message(0, 0)],
            unfinished: message(5, 0), received: 4),
        Row(
            name: "open message", bytes: hex("01 ffffffff 414243"),
            unfinished: message(0, .max, isCompressed: true), received: 8),
        Row(
            name: "unknown flag", bytes: hex("00 00000001 41 02 00000000 00 00000000"),
            messages: [message(0, 1)], violationOffset: 6),
    ]

    @Test(arguments: rows)
    func reads(row: Row) {
        let whole = Array(row.bytes.indices)
        for cuts in [[], whole] + whole.map({ [$0] }) {
            var reader = LengthPrefixedReader()
            var messages: [LengthPrefixedMessage] = []
            var start = 0
            for end in cuts + [row.bytes.count] {
                reader.read(row.bytes.span.extracting(start..<end)) { messages.append($0) }
                start = end
            }
            #expect(messages == row.messages)
            #expect(reader.unfinished?.message == row.unfinished)
            #expect(reader.unfinished?.received ?? 0 == row.received)
            #expect(reader.violationOffset == row.violationOffset)
            #expect(reader.offset == UInt64(row.bytes.count))
        }
    }

    @Test func neverTraps() {
        var generator = SeededGenerator(state: 3)
        for _ in 0..<3000 {
            let bytes = (0..<60).map { _ in
                UInt8.random(in: 0...255, using: &generator)
                    & (Bool.random(using: &generator) ? 0x81 : 0x03)
            }
            var reader = LengthPrefixedReader()
            var end: UInt64 = 0
            reader.read(bytes.span) { message in
                #expect(message.offset == end)
                end = message.offset + 5 + UInt64(message.size)
            }
            #expect(end <= 60)
        }
    }
}
