import Base
import Testing

@testable import TLS

struct QUICRefusalTests {
    /// A datagram by what stands in its long header, as long as a first one is.
    static func datagram(
        _ first: UInt8 = 0xC3, version: [UInt8] = [0, 0, 0, 1], to: [UInt8] = [1, 2, 3],
        from: [UInt8] = [9, 8], size: Int = 1200
    ) -> [UInt8] {
        let head = [first] + version + [UInt8(to.count)] + to + [UInt8(from.count)] + from
        return head + [UInt8](repeating: 0x55, count: max(0, size - head.count))
    }

    static let answers: [(name: String, datagram: [UInt8], answer: String?)] = [
        ("version 1", datagram(), "c00000000002090803010203" + "1a2a3a4a"),
        (
            "version 2", datagram(version: [0x6B, 0x33, 0x43, 0xCF]),
            "c00000000002090803010203" + "1a2a3a4a"
        ),
        (
            "an unknown version", datagram(version: [1, 2, 3, 4]),
            "c00000000002090803010203" + "1a2a3a4a"
        ),
        (
            "the version of our own answer", datagram(version: [0x1A, 0x2A, 0x3A, 0x4A]),
            "c00000000002090803010203" + "5a6a7a8a"
        ),
        ("ids of no length", datagram(to: [], from: []), "c00000000000001a2a3a4a"),
        ("0-RTT", datagram(0xD0), "c00000000002090803010203" + "1a2a3a4a"),
        ("another answer", datagram(version: [0, 0, 0, 0]), nil),
        ("too short a datagram", datagram(size: 1199), nil),
        ("a short header", datagram(0x43), nil),
        ("no fixed bit", datagram(0x83), nil),
        ("an id that is cut", [0xC0, 0, 0, 0, 1, 255] + [UInt8](repeating: 1, count: 20), nil),
        ("nothing", [], nil),
    ]

    @Test(arguments: answers)
    func isAnswered(_ row: (name: String, datagram: [UInt8], answer: String?)) {
        let answer = QUICRefusal.answer(to: row.datagram.span)
        #expect(answer?.hex == row.answer)
    }

    /// Whoever forges a sender must not get more sent than he sends.
    @Test func isAlwaysSmaller() throws {
        let long = [UInt8](repeating: 7, count: 255)
        let datagram = Self.datagram(to: long, from: long)
        let refusal = QUICRefusal.answer(to: datagram.span, random: 0xFF)
        let answer = try #require(refusal)
        #expect(answer.count == 7 + 510 + 4)
        #expect(answer.first == 0xFF)
        // It is no reason for another.
        let padded = answer + [UInt8](repeating: 0, count: 1200)
        #expect(QUICRefusal.answer(to: padded.span) == nil)
    }
}
