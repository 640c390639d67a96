internal import Base

/// Reads what is written as a form is: queries, and contents of `application/x-www-form-urlencoded`.
package enum FormReader {
    /// Names and values, decoded, in their order; a broken `%` stays as it is.
    package static func pairs(_ bytes: ArraySlice<UInt8>) -> [BodyField] {
        bytes.split(separator: 0x26).map { item in
            let name = item.prefix { $0 != 0x3D }
            return BodyField(decoded(name), decoded(item.dropFirst(name.count + 1)))
        }
    }

    private static func decoded(_ bytes: ArraySlice<UInt8>) -> String {
        guard bytes.contains(where: { $0 == 0x25 || $0 == 0x2B }) else { return bytes.text }
        var result: [UInt8] = []
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            if byte == 0x25, index + 2 < bytes.endIndex, let high = bytes[index + 1].hexDigitValue,
                let low = bytes[index + 2].hexDigitValue
            {
                result.append(high << 4 | low)
                index += 3
            } else {
                result.append(byte == 0x2B ? 0x20 : byte)
                index += 1
            }
        }
        return result.text
    }
}
