internal import Base

/// Percent-encoding (RFC 3986 §2.1) and that of forms, read leniently.
enum PercentCoding {
    /// The decoded bytes, `nil` if there was nothing to decode; a broken `%` stays as it is.
    static func decode(_ bytes: [UInt8], plusIsSpace: Bool) -> [UInt8]? {
        guard bytes.contains(where: { $0 == 0x25 || plusIsSpace && $0 == 0x2B }) else { return nil }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        var changed = false
        while index < bytes.count {
            let byte = bytes[index]
            if byte == 0x25, index + 2 < bytes.count, let high = bytes[index + 1].hexDigitValue,
                let low = bytes[index + 2].hexDigitValue
            {
                result.append(high << 4 | low)
                index += 3
                changed = true
            } else {
                let isSpace = byte == 0x2B && plusIsSpace
                result.append(isSpace ? 0x20 : byte)
                changed = changed || isSpace
                index += 1
            }
        }
        return changed ? result : nil
    }
}
