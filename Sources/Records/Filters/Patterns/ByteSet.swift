internal import Base

/// Some of the 256 bytes.
struct ByteSet: Hashable, Sendable {
    private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    static let none = ByteSet()
    static let all = ByteSet(0...255)
    static let digits = ByteSet(0x30...0x39)
    static let letters = ByteSet(0x41...0x5A).union(ByteSet(0x61...0x7A))
    static let word = letters.union(digits).union(ByteSet(0x5F...0x5F))
    static let spaces = ByteSet(0x09...0x0D).union(ByteSet(0x20...0x20))
    static let ascii = ByteSet(0x00...0x7F)
    /// What begins a character of several bytes in UTF-8.
    static let leads = ByteSet(0xC0...0xFF)
    /// What goes on in one.
    static let continuations = ByteSet(0x80...0xBF)

    init() {}

    init(_ range: ClosedRange<UInt8>) {
        for byte in range { insert(byte) }
    }

    func contains(_ byte: UInt8) -> Bool {
        let bit = UInt64(1) << UInt64(byte & 63)
        switch byte >> 6 {
        case 0: return words.0 & bit != 0
        case 1: return words.1 & bit != 0
        case 2: return words.2 & bit != 0
        default: return words.3 & bit != 0
        }
    }

    mutating func insert(_ byte: UInt8) {
        let bit = UInt64(1) << UInt64(byte & 63)
        switch byte >> 6 {
        case 0: words.0 |= bit
        case 1: words.1 |= bit
        case 2: words.2 |= bit
        default: words.3 |= bit
        }
    }

    func union(_ other: ByteSet) -> ByteSet {
        var result = self
        result.words.0 |= other.words.0
        result.words.1 |= other.words.1
        result.words.2 |= other.words.2
        result.words.3 |= other.words.3
        return result
    }

    func subtracting(_ other: ByteSet) -> ByteSet {
        var result = self
        result.words.0 &= ~other.words.0
        result.words.1 &= ~other.words.1
        result.words.2 &= ~other.words.2
        result.words.3 &= ~other.words.3
        return result
    }

    /// With both cases of every ASCII letter that is in it.
    var ignoringCase: ByteSet {
        var result = self
        for byte in UInt8(0x61)...0x7A where contains(byte) || contains(byte ^ 0x20) {
            result.insert(byte)
            result.insert(byte ^ 0x20)
        }
        return result
    }

    static func == (left: ByteSet, right: ByteSet) -> Bool { left.words == right.words }

    func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
        hasher.combine(words.1)
        hasher.combine(words.2)
        hasher.combine(words.3)
    }
}
