import Base
import Testing
import Traffic

@testable import PacketFormats

struct TCPReassemblerTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// Sequence number and text.
        let segments: [(UInt32, String)]
        let expected: String
        var hasGap = false

        init(
            _ name: String, _ segments: [(UInt32, String)], _ expected: String,
            hasGap: Bool = false
        ) {
            testDescription = name
            self.segments = segments
            self.expected = expected
            self.hasGap = hasGap
        }
    }

    static let rows = [
        Row("in order", [(1, "ab"), (3, "cd")], "abcd"),
        Row("swapped", [(1, "a"), (3, "cd"), (2, "b")], "abcd"),
        Row("sent twice", [(1, "ab"), (1, "ab"), (3, "c")], "abc"),
        Row("sent again and more", [(1, "ab"), (1, "abcd")], "abcd"),
        Row("overlapping", [(1, "ab"), (4, "de"), (2, "bcd"), (6, "f")], "abcdef"),
        Row("early twice, the longer one wins", [(1, "a"), (3, "c"), (3, "cd"), (2, "b")], "abcd"),
        Row("backwards", [(1, "a"), (4, "d"), (3, "c"), (2, "b")], "abcd"),
        Row("around the end", [(.max - 1, "ab"), (1, "de"), (0, "c")], "abcde"),
        Row("a gap", [(1, "a"), (3, "c")], "a"),
        Row(
            "too much behind a gap",
            [(1, "a")] + (0..<70).map { (3 + $0 * 60_000, String(repeating: "x", count: 60_000)) },
            "a", hasGap: true),
    ]

    @Test("Bytes come out in order, once", arguments: rows)
    func order(_ row: Row) throws {
        var reassembler = TCPReassembler()
        var result: [UInt8] = []
        for (number, text) in row.segments {
            result += reassembler.take(try segment(number, text))
        }
        #expect(result.text == row.expected)
        #expect(reassembler.hasGap == row.hasGap)
    }

    @Test("The end comes when all before it has come")
    func end() throws {
        var reassembler = TCPReassembler()
        _ = reassembler.take(try segment(1, "a"))
        _ = reassembler.take(try segment(3, "c", flags: 0x11))
        #expect(!reassembler.isEnded)
        #expect(reassembler.take(try segment(2, "b")).text == "bc")
        #expect(reassembler.isEnded)
    }

    private func segment(_ number: UInt32, _ text: String, flags: UInt8 = 0x10) throws -> TCPSegment
    {
        let packet = try IPPacket(HandmadePacket.segment(number, text, flags: flags)[...])
        return try TCPSegment(packet, at: Timestamp(microseconds: 1))
    }
}
