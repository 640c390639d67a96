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

    static let links: [(UInt16, [UInt8])] = [
        (1, [UInt8](repeating: 0, count: 12) + [8, 0]),
        (1, [UInt8](repeating: 0, count: 12) + [0x81, 0, 0, 1, 8, 0]),
        (101, []), (228, []), (12, []), (0, [2, 0, 0, 0]), (108, [0, 0, 0, 2]),
        (113, [UInt8](repeating: 0, count: 14) + [8, 0]),
        (276, [8, 0] + [UInt8](repeating: 0, count: 18)),
    ]

    @Test("Each link's header is taken off, and a packet cut anywhere is refused", arguments: links)
    func link(_ type: UInt16, _ header: [UInt8]) throws {
        let whole = header + packet(7, "abc")
        // Filled up, as Ethernet does.
        let expected = try segment(7, "abc")
        #expect(try TCPSegment(caught(type, whole)) == expected)
        #expect(try TCPSegment(caught(type, whole + [0, 0])) == expected)
        for end in 0..<whole.count {
            #expect(throws: TCPSegment.Refusal.self) {
                try TCPSegment(caught(type, [UInt8](whole[..<end])))
            }
        }
    }

    private func segment(_ number: UInt32, _ text: String, flags: UInt8 = 0x10) throws -> TCPSegment
    {
        try TCPSegment(caught(101, packet(number, text, flags: flags)))
    }

    private func caught(_ type: UInt16, _ bytes: [UInt8]) -> CaughtPacket {
        CaughtPacket(
            linkType: type, interface: "", at: Timestamp(microseconds: 1), bytes: bytes)
    }

    private func packet(_ number: UInt32, _ text: String, flags: UInt8 = 0x10) -> [UInt8] {
        let length = UInt16(40 + text.utf8.count)
        return [0x45, 0] + length.bigEndianBytes + [0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1]
            + [10, 0, 0, 2, 0xC0, 0, 1, 0xBB] + number.bigEndianBytes + [0, 0, 0, 0, 0x50, flags]
            + [0, 0, 0, 0, 0, 0] + [UInt8](text.utf8)
    }
}
