/// Tells UTF-8 from what is not (RFC 3629 §4), in pieces that may end inside of a character.
package struct UTF8Machine: Sendable, Equatable {
    /// How many bytes the character still lacks.
    private var missing: UInt8 = 0
    /// What the next of them must lie between; only the second byte of a character is bound closer
    /// than 80 to BF.
    private var lowest: UInt8 = 0x80
    private var highest: UInt8 = 0xBF

    package init() {}

    /// Whether no character is open.
    package var isComplete: Bool { missing == 0 }

    /// Takes bytes as long as they are UTF-8.
    ///
    /// - Returns: how many; fewer than there are if the next one cannot be.
    package mutating func take(_ bytes: Span<UInt8>) -> Int {
        var position = 0
        let end = bytes.count
        while true {
            while missing > 0 {
                guard position < end else { return end }
                let byte = bytes[position]
                guard byte >= lowest, byte <= highest else { return position }
                missing &-= 1
                lowest = 0x80
                highest = 0xBF
                position &+= 1
            }
            position = bytes.firstNonASCII(from: position)
            position = bytes.endOfShortCharacters(from: position)
            guard position < end else { return end }
            if bytes[position] < 0x80 { continue }
            guard start(bytes[position]) else { return position }
            position &+= 1
        }
    }

    private mutating func start(_ byte: UInt8) -> Bool {
        switch byte {
        case 0xC2...0xDF: missing = 1
        case 0xE0:
            missing = 2
            lowest = 0xA0
        case 0xED:
            missing = 2
            // No surrogates.
            highest = 0x9F
        case 0xE1...0xEF: missing = 2
        case 0xF0:
            missing = 3
            lowest = 0x90
        case 0xF1...0xF3: missing = 3
        case 0xF4:
            missing = 3
            // Nothing above U+10FFFF.
            highest = 0x8F
        default: return false
        }
        return true
    }
}

extension Span<UInt8> {
    /// The first position from `start` of a byte above 7F, the end if there is none.
    ///
    /// Looks at 32 bytes at a time, then at eight.
    @inline(__always)
    fileprivate func firstNonASCII(from start: Int) -> Int {
        let high: UInt64 = 0x8080_8080_8080_8080
        var position = start
        while position &+ 32 <= count {
            let words =
                word(at: position) | word(at: position &+ 8) | word(at: position &+ 16)
                | word(at: position &+ 24)
            if words & high != 0 { break }
            position &+= 32
        }
        while position &+ 8 <= count {
            let found = word(at: position) & high
            if found != 0 { return position &+ found.trailingZeroBitCount &>> 3 }
            position &+= 8
        }
        while position < count, self[position] < 0x80 { position &+= 1 }
        return position
    }

    /// Where the run of characters of two and three bytes from `start` ends that need no closer
    /// look: nearly all that is not ASCII.
    @inline(__always)
    fileprivate func endOfShortCharacters(from start: Int) -> Int {
        var position = start
        while position &+ 4 <= count {
            let word = unsafe UInt32(
                littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: position, as: UInt32.self))
            let first = UInt8(truncatingIfNeeded: word)
            if first &- 0xE1 < 15 {
                guard word & 0x00C0_C000 == 0x0080_8000, first != 0xED else { break }
                position &+= 3
            } else if first &- 0xC2 < 30 {
                guard word & 0xC000 == 0x8000 else { break }
                position &+= 2
            } else {
                break
            }
        }
        return position
    }

    @inline(__always)
    private func word(at position: Int) -> UInt64 {
        unsafe UInt64(
            littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: position, as: UInt64.self))
    }
}
