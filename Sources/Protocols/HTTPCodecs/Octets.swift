internal import Base

/// The bytes that RFC 9110 §5.6 and RFC 3986 name.
let carriageReturn: UInt8 = 0x0D
let lineFeed: UInt8 = 0x0A
let space: UInt8 = 0x20
let horizontalTab: UInt8 = 0x09

extension UInt8 {
    /// One of tchar (RFC 9110 §5.6.2).
    @inline(__always) var isTokenByte: Bool {
        // Nearly all are letters or a hyphen.
        if isASCIILetter || self == 0x2D { return true }
        // One bit for each byte below 64, and one for each from there to 127.
        let members: UInt64 = self < 64 ? 0x03FF_6CFA_0000_0000 : 0x57FF_FFFF_C7FF_FFFE
        return self < 128 && members &>> UInt64(self & 63) & 1 == 1
    }

    /// A control character that no field value may hold: all but HTAB.
    @inline(__always) var isForbiddenInValue: Bool {
        (self < 0x20 && self != horizontalTab) || self == 0x7F
    }
}

extension Span<UInt8> {
    /// The first position in `start..<end` of a control character, HTAB left out; `end` if there
    /// is none.
    ///
    /// Looks at eight bytes at a time: `x - 0x20…` borrows into the high bit of each byte below
    /// 0x20; the lowest such bit is always a true one.
    @inline(__always)
    func firstControl(from start: Int, to end: Int) -> Int {
        var position = start
        while position < end {
            while position &+ 8 <= end {
                let word = UInt64(
                    littleEndian: unsafe bytes.unsafeLoadUnaligned(
                        fromByteOffset: position, as: UInt64.self))
                let delete = word ^ 0x7F7F_7F7F_7F7F_7F7F
                let found =
                    ((word &- 0x2020_2020_2020_2020) & ~word
                        | (delete &- 0x0101_0101_0101_0101) & ~delete) & 0x8080_8080_8080_8080
                if found != 0 {
                    position &+= found.trailingZeroBitCount &>> 3
                    break
                }
                position &+= 8
            }
            while position < end {
                let byte = self[position]
                if byte.isForbiddenInValue { return position }
                position &+= 1
                if byte == horizontalTab { break }
            }
        }
        return end
    }
}
