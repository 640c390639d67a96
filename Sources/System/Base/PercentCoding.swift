/// Percent-encoding (RFC 3986 §2.1), as paths, queries and forms have it.
package enum PercentCoding {
    /// Decodes leniently: a broken `%` stays as it is.
    ///
    /// - Parameter plusIsSpace: as in queries and forms.
    package static func decoded(
        _ bytes: ArraySlice<UInt8>, plusIsSpace: Bool = false
    ) -> [UInt8] {
        let isSign: (UInt8) -> Bool = { $0 == percent || plusIsSpace && $0 == plus }
        guard bytes.contains(where: isSign) else { return [UInt8](bytes) }
        var rest = bytes
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        while let sign = rest.firstIndex(where: isSign) {
            result += rest[..<sign]
            rest = rest[sign...]
            result.append(take(from: &rest) ?? (rest[sign] == plus ? 0x20 : percent))
            if rest.startIndex == sign { rest.removeFirst() }
        }
        return result + rest
    }

    /// Decodes what has to be sound; `nil` if two hexadecimal digits do not follow a `%`.
    package static func strictlyDecoded(
        _ bytes: ArraySlice<UInt8>, plusIsSpace: Bool = false
    ) -> [UInt8]? {
        var rest = bytes
        while let sign = rest.firstIndex(of: percent) {
            rest = rest[sign...]
            guard take(from: &rest) != nil else { return nil }
        }
        return decoded(bytes, plusIsSpace: plusIsSpace)
    }

    /// Encodes every byte that is not spared.
    package static func encoded(
        _ bytes: some Sequence<UInt8>, sparing isSpared: (UInt8) -> Bool = isUnreserved
    ) -> [UInt8] {
        var result: [UInt8] = []
        for byte in bytes {
            if isSpared(byte) {
                result.append(byte)
            } else {
                result += [percent, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return result
    }

    /// Whether every reader takes a byte for itself (RFC 3986 §2.3).
    package static func isUnreserved(_ byte: UInt8) -> Bool {
        byte.isASCIILetter || byte.isASCIIDigit || byte == 0x2D || byte == 0x2E || byte == 0x5F
            || byte == 0x7E
    }

    /// The byte that an escape at the start stands for, which is taken away; `nil` if there is none.
    private static func take(from rest: inout ArraySlice<UInt8>) -> UInt8? {
        guard rest.count > 2, rest[rest.startIndex] == percent,
            let high = rest[rest.startIndex + 1].hexDigitValue,
            let low = rest[rest.startIndex + 2].hexDigitValue
        else { return nil }
        rest = rest.dropFirst(3)
        return high << 4 | low
    }

    private static let percent = UInt8(ascii: "%")
    private static let plus = UInt8(ascii: "+")
    private static let digits = [UInt8]("0123456789ABCDEF".utf8)
}
