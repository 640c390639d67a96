internal import Base

/// Decodes `%41` to `A` (RFC 3986 §2.1); `nil` if two hexadecimal digits do not follow a `%`.
package func percentDecoded(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
    guard bytes.contains(UInt8(ascii: "%")) else { return [UInt8](bytes) }
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var index = bytes.startIndex
    while index < bytes.endIndex {
        guard bytes[index] == UInt8(ascii: "%") else {
            result.append(bytes[index])
            index += 1
            continue
        }
        guard bytes.endIndex - index > 2, let high = bytes[index + 1].hexDigitValue,
            let low = bytes[index + 2].hexDigitValue
        else { return nil }
        result.append(high << 4 | low)
        index += 3
    }
    return result
}

/// Encodes every byte of a path segment but the unreserved ones (RFC 3986 §2.3).
package func percentEncoded(segment: some Sequence<UInt8>) -> String {
    percentEncoded(segment) {
        $0.isASCIILetter || $0.isASCIIDigit || "-._~".utf8.contains($0)
    }
}

/// Encodes the bytes of a request's path or query that stand in no URL: lenient clients send them,
/// and a Location must not hold them.
package func percentEncoded(target: some Sequence<UInt8>) -> String {
    percentEncoded(target) { $0 > 0x20 && $0 < 0x7F }
}

private func percentEncoded(
    _ bytes: some Sequence<UInt8>, sparing isSpared: (UInt8) -> Bool
) -> String {
    var result: [UInt8] = []
    for byte in bytes {
        if isSpared(byte) {
            result.append(byte)
        } else {
            result.append(UInt8(ascii: "%"))
            result.append(contentsOf: [byte].hex.utf8.map { $0 &- 0x61 < 6 ? $0 & 0xDF : $0 })
        }
    }
    return result.text
}

/// One name and value of a query or of a submitted form, decoded.
package struct FormItem: Sendable, Equatable {
    package let name: [UInt8]
    package let value: [UInt8]

    /// How many items are read; the rest is ignored, so that a query cannot cost without bound.
    package static let limit = 1000

    /// Reads `application/x-www-form-urlencoded`; an item whose percent-encoding is broken is left
    /// out (URL standard §5.1, but strict).
    package static func parse(_ bytes: ArraySlice<UInt8>) -> [FormItem] {
        bytes.split(separator: UInt8(ascii: "&"), maxSplits: limit).prefix(limit).compactMap {
            let name = $0.prefix { $0 != UInt8(ascii: "=") }
            guard let decodedName = formDecoded(name),
                let decodedValue = formDecoded($0.dropFirst(name.count + 1))
            else { return nil }
            return FormItem(name: decodedName, value: decodedValue)
        }
    }

    private static func formDecoded(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
        let plus = UInt8(ascii: "+")
        return percentDecoded(bytes.map { $0 == plus ? 0x20 : $0 }[...])
    }
}
