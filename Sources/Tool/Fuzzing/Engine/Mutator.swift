/// Changes inputs blindly, by a seed: what is used where the toolchain cannot guide by coverage.
package struct Mutator {
    private var state: UInt64
    private let words: [[UInt8]]
    private let lengthLimit: Int

    package init(seed: UInt64, words: [String], lengthLimit: Int) {
        state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        self.words = words.map { Array($0.utf8) }
        self.lengthLimit = lengthLimit
    }

    /// An input made of one of `corpus` by a few changes.
    package mutating func next(of corpus: [[UInt8]]) -> [UInt8] {
        guard !corpus.isEmpty else { return (0..<number(below: 64)).map { _ in byte() } }
        var bytes = corpus[number(below: corpus.count)]
        for _ in 0...number(below: 6) { change(&bytes, corpus) }
        return Array(bytes.prefix(lengthLimit))
    }

    private mutating func change(_ bytes: inout [UInt8], _ corpus: [[UInt8]]) {
        guard !bytes.isEmpty else {
            bytes = [byte()]
            return
        }
        let place = number(below: bytes.count)
        switch number(below: 12) {
        case 0: bytes[place] ^= 1 << UInt8(number(below: 8))
        case 1: bytes[place] = byte()
        case 2: bytes[place] &+= UInt8(1 + number(below: 4))
        case 3: bytes[place] &-= UInt8(1 + number(below: 4))
        case 4: bytes.insert(byte(), at: place)
        case 5: bytes.removeSubrange(place..<min(bytes.count, place + 1 + number(below: 8)))
        case 6: bytes.removeSubrange(place...)
        case 7: write(Self.numbers[number(below: Self.numbers.count)], at: place, in: &bytes)
        case 8: repeatPart(of: &bytes, from: place)
        case 9: splice(corpus[number(below: corpus.count)], into: &bytes, at: place)
        case 10: writeDigits(at: place, in: &bytes)
        default:
            guard !words.isEmpty else { return }
            bytes.insert(contentsOf: words[number(below: words.count)], at: place)
        }
    }

    private mutating func write(_ value: UInt64, at place: Int, in bytes: inout [UInt8]) {
        let width = [1, 2, 3, 4, 8][number(below: 5)]
        let isLittle = number(below: 2) == 0
        for index in 0..<width where place + index < bytes.count {
            let shift = 8 * (isLittle ? index : width - 1 - index)
            bytes[place + index] = UInt8(truncatingIfNeeded: value >> UInt64(shift))
        }
    }

    private mutating func repeatPart(of bytes: inout [UInt8], from place: Int) {
        let part = Array(bytes[place..<min(bytes.count, place + 1 + number(below: 64))])
        for _ in 0...number(below: 32) where bytes.count < lengthLimit {
            bytes.insert(contentsOf: part, at: place)
        }
    }

    private mutating func splice(_ other: [UInt8], into bytes: inout [UInt8], at place: Int) {
        guard !other.isEmpty else { return }
        let start = number(below: other.count)
        let end = min(other.count, start + 1 + number(below: 256))
        if number(below: 2) == 0 {
            bytes.insert(contentsOf: other[start..<end], at: place)
        } else {
            bytes.replaceSubrange(place..., with: other[start...])
        }
    }

    /// Puts another number where digits stand.
    private mutating func writeDigits(at place: Int, in bytes: inout [UInt8]) {
        guard let start = bytes[place...].firstIndex(where: { (0x30...0x39).contains($0) }) else {
            return
        }
        let end = bytes[start...].firstIndex { !(0x30...0x39).contains($0) } ?? bytes.endIndex
        let value = Int64(bitPattern: Self.numbers[number(below: Self.numbers.count)])
        bytes.replaceSubrange(start..<end, with: Array(String(value).utf8))
    }

    private mutating func byte() -> UInt8 { UInt8(truncatingIfNeeded: random() >> 24) }

    private mutating func number(below limit: Int) -> Int {
        Int((random() >> 11) % UInt64(max(1, limit)))
    }

    /// xorshift64*
    private mutating func random() -> UInt64 {
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return state &* 0x2545_F491_4F6C_DD1D
    }

    /// At the edges of types and of usual limits.
    private static let numbers: [UInt64] = [
        0, 1, 2, 16, 31, 32, 63, 64, 100, 127, 128, 255, 256, 1023, 4096, 16_383, 16_384, 16_385,
        32_767, 32_768, 65_535, 65_536, 1 << 24, (1 << 24) - 1, UInt64(Int32.max), 1 << 31,
        UInt64(UInt32.max), 1 << 32, 1 << 53, UInt64(Int64.max), 1 << 63, UInt64.max, .max - 1,
        UInt64(bitPattern: -2), UInt64(bitPattern: Int64(Int32.min)),
    ]
}
