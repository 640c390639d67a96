#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// ASCII as bytes: what protocols are written in.
extension UInt8 {
    /// The letter in lower case; every other byte as it is.
    @inlinable package var asciiLowercased: UInt8 {
        self &- 0x41 < 26 ? self | 0x20 : self
    }

    /// SP or HTAB.
    @inlinable package var isBlank: Bool { self == 0x20 || self == 0x09 }

    @inlinable package var isASCIIDigit: Bool { self &- 0x30 < 10 }

    @inlinable package var isASCIILetter: Bool { (self | 0x20) &- 0x61 < 26 }

    /// The value of a hexadecimal digit, `nil` for any other byte.
    @inlinable package var hexDigitValue: UInt8? {
        switch self {
        case 0x30...0x39: self &- 0x30
        case 0x41...0x46: self &- 0x37
        case 0x61...0x66: self &- 0x57
        default: nil
        }
    }
}

extension Collection where Element == UInt8 {
    /// The bytes as text; bytes that are no UTF-8 become U+FFFD.
    @inlinable package var text: String { String(decoding: self, as: UTF8.self) }

    /// The bytes in lower-case hexadecimal.
    package var hex: String {
        var digits: [UInt8] = []
        digits.reserveCapacity(count * 2)
        for byte in self {
            digits.append(hexDigits[Int(byte >> 4)])
            digits.append(hexDigits[Int(byte & 15)])
        }
        return digits.text
    }

    /// Compares without the case of ASCII letters; `lowercased` must be in lower case.
    @inlinable
    package func equalsIgnoringCase(_ lowercased: StaticString) -> Bool {
        guard count == lowercased.utf8CodeUnitCount else { return false }
        var expected = unsafe lowercased.utf8Start
        for byte in self {
            guard unsafe byte.asciiLowercased == expected.pointee else { return false }
            unsafe expected += 1
        }
        return true
    }
}

extension Span<UInt8> {
    /// A range without the spaces and tabs at both of its ends.
    package func trimmed(_ range: Range<Int>) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        while start < end, self[start].isBlank { start += 1 }
        while start < end, self[end - 1].isBlank { end -= 1 }
        return start..<end
    }

    /// Where `byte` is found first in a range; `nil` if it is not.
    package func firstIndex(of byte: UInt8, in range: Range<Int>) -> Int? {
        let part = extracting(range)
        return unsafe part.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return nil }
            let found = unsafe memchr(base, Int32(byte), bytes.count)
            return unsafe found.map { unsafe range.lowerBound + (UnsafeRawPointer($0) - base) }
        }
    }
}

extension [UInt8] {
    /// Where `byte` is found first from an index on.
    package func index(of byte: UInt8, from start: Int) -> Int? {
        start < count ? span.firstIndex(of: byte, in: start..<count) : nil
    }
}

private let hexDigits = [UInt8]("0123456789abcdef".utf8)

/// The bytes that hexadecimal text stands for, `nil` if it is none.
package func bytes(fromHex text: some StringProtocol) -> [UInt8]? {
    var result: [UInt8] = []
    var high: UInt8?
    for byte in text.utf8 {
        guard let value = byte.hexDigitValue else { return nil }
        if let first = high {
            result.append(first << 4 | value)
            high = nil
        } else {
            high = value
        }
    }
    return high == nil ? result : nil
}

/// The number that decimal digits stand for; `nil` for anything else and beyond 64 bits.
@inlinable
package func decimal(_ digits: some Collection<UInt8>) -> UInt64? {
    guard !digits.isEmpty else { return nil }
    var value: UInt64 = 0
    for digit in digits {
        guard digit.isASCIIDigit else { return nil }
        let (shifted, carried) = value.multipliedReportingOverflow(by: 10)
        let (sum, overflow) = shifted.addingReportingOverflow(UInt64(digit &- 0x30))
        guard !carried, !overflow else { return nil }
        value = sum
    }
    return value
}

extension [UInt8] {
    /// Without white space and control characters at both ends.
    package var trimmed: [UInt8] {
        guard let first = firstIndex(where: { $0 > 0x20 }),
            let last = lastIndex(where: { $0 > 0x20 })
        else { return [] }
        return Array(self[first...last])
    }
}
