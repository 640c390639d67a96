internal import Base

/// Guesses how many bits of chance a value holds.
enum Randomness {
    /// An estimate by length and alphabet, cautious with what looks like words, dates and numbers.
    ///
    /// The empirical entropy of a short value is far below that of its source, so it is used only
    /// to discard values of few distinct bytes.
    static func bits(of value: [UInt8]) -> Int {
        let value = value.prefix(256)
        guard value.count >= 4, !isDate(value), !value.contains(0x20) else { return 0 }
        var distinct = DistinctBytes()
        var counts = AlphabetCount()
        for byte in value {
            distinct.insert(byte)
            counts.add(byte)
        }
        guard distinct.count * 5 >= min(value.count, 40) else { return 0 }
        return value.count * counts.tenthsOfBitsEach / 10
    }

    /// Whether it begins as an ISO 8601 date does.
    private static func isDate(_ value: ArraySlice<UInt8>) -> Bool {
        guard value.count >= 10 else { return false }
        let head = Array(value.prefix(10))
        return head.enumerated().allSatisfy { index, byte in
            index == 4 || index == 7 ? byte == 0x2D || byte == 0x2F : byte.isASCIIDigit
        }
    }
}

/// Which bytes occurred: a set without hashing, because most values of a run are judged.
private struct DistinctBytes {
    private var bits: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    mutating func insert(_ byte: UInt8) {
        let bit = UInt64(1) << UInt64(byte & 63)
        switch byte >> 6 {
        case 0: bits.0 |= bit
        case 1: bits.1 |= bit
        case 2: bits.2 |= bit
        default: bits.3 |= bit
        }
    }

    var count: Int {
        bits.0.nonzeroBitCount + bits.1.nonzeroBitCount + bits.2.nonzeroBitCount
            + bits.3.nonzeroBitCount
    }
}

/// How many bytes of which alphabet a value has.
private struct AlphabetCount {
    var lower = 0
    var upper = 0
    var digits = 0
    var hexLetters = 0
    var others = 0

    mutating func add(_ byte: UInt8) {
        if byte.isASCIIDigit {
            digits += 1
        } else if byte.isASCIILetter {
            if byte >= 0x61 { lower += 1 } else { upper += 1 }
            if byte.hexDigitValue != nil { hexLetters += 1 }
        } else {
            others += 1
        }
    }

    /// Tenths of a bit that each byte is taken for.
    var tenthsOfBitsEach: Int {
        let letters = lower + upper
        // Letters of one case, with separators or without: most likely words.
        if digits == 0, lower == 0 || upper == 0 || upper * 8 < lower { return 15 }
        if letters == 0 { return others * 3 > digits ? 10 : 33 }
        if letters == hexLetters, others == 0, lower == 0 || upper == 0 { return 40 }
        if lower == 0 || upper == 0 { return digits * 8 < letters ? 20 : 50 }
        return 58
    }
}
