import Testing

@testable import PacketFormats

struct UnreadBytesTests {
    /// What is read in small parts is not moved for each of them: not more bytes are moved in all
    /// than there are, however many parts they are read in.
    @Test(arguments: [1, 4, 1000], [16 << 10, 64 << 10, 256 << 10])
    func movesLittle(step: Int, count: Int) {
        var bytes = UnreadBytes()
        bytes.append([UInt8](repeating: 0, count: count))
        var moved = 0
        while !bytes.isEmpty {
            bytes.drop(min(step, bytes.count))
            if bytes.start == 0 { moved += bytes.count }
        }
        #expect(moved <= count)
    }

    /// The same of a stream of which something always waits; what was read of it is not kept.
    @Test func movesLittleOfAStream() {
        var bytes = UnreadBytes()
        var (moved, longest) = (0, 0)
        let piece = [UInt8](repeating: 0, count: 1000)
        for _ in 0..<4000 {
            bytes.append(piece)
            longest = max(longest, bytes.all.count)
            while bytes.count >= 500 {
                bytes.drop(4)
                if bytes.start == 0 { moved += bytes.count }
            }
        }
        #expect(moved <= 4000 * piece.count)
        #expect(longest <= 128 << 10)
    }

    @Test func keepsWhatIsUnread() {
        var bytes = UnreadBytes()
        var expected: [UInt8] = []
        var seed: UInt32 = 7
        func random(below limit: Int) -> Int {
            seed = seed &* 1_664_525 &+ 1_013_904_223
            return Int(seed >> 8) % limit
        }
        for round in 0..<300 {
            let piece = (0..<random(below: 2000)).map { UInt8(truncatingIfNeeded: $0 &+ round) }
            bytes.append(piece)
            expected += piece
            // Less than comes, at first, so that they pile up.
            let count = min(random(below: round < 200 ? 1000 : 5000), bytes.count)
            bytes.drop(count)
            expected.removeFirst(count)
            let isSame = bytes.array == expected
            #expect(isSame, "round \(round)")
            #expect(bytes.count == expected.count)
        }
        bytes.drop(bytes.count)
        #expect(bytes.isEmpty)
        #expect(bytes.all.isEmpty)
    }
}
