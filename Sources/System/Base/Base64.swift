/// Base64 (RFC 4648 §4 and §5).
package enum Base64 {
    private static let alphabet = [UInt8](
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Encodes with padding.
    package static func encode(_ bytes: some Collection<UInt8>) -> String {
        var result: [UInt8] = []
        result.reserveCapacity((bytes.count + 2) / 3 * 4)
        var group: UInt32 = 0
        var held = 0
        for byte in bytes {
            group = group << 8 | UInt32(byte)
            held += 1
            if held == 3 {
                for shift in [18, 12, 6, 0] {
                    result.append(alphabet[Int(group >> UInt32(shift)) & 63])
                }
                group = 0
                held = 0
            }
        }
        if held > 0 {
            group <<= UInt32((3 - held) * 8)
            for shift in [18, 12, 6, 0].prefix(held + 1) {
                result.append(alphabet[Int(group >> UInt32(shift)) & 63])
            }
            for _ in held..<3 { result.append(0x3D) }
        }
        return result.text
    }

    /// Decodes the standard and the URL-safe alphabet, with or without padding; `nil` if any other
    /// byte occurs, padding is misplaced, or one character is left over.
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        var result: [UInt8] = []
        result.reserveCapacity(text.count / 4 * 3)
        var group: UInt32 = 0
        var held = 0
        var padding = 0
        for byte in text {
            if byte == 0x3D {
                padding += 1
                continue
            }
            guard padding == 0, let value = value(of: byte) else { return nil }
            group = group << 6 | UInt32(value)
            held += 1
            if held == 4 {
                result.append(UInt8(truncatingIfNeeded: group >> 16))
                result.append(UInt8(truncatingIfNeeded: group >> 8))
                result.append(UInt8(truncatingIfNeeded: group))
                group = 0
                held = 0
            }
        }
        guard held != 1, padding == 0 || held > 0 && held + padding == 4 else { return nil }
        if held == 2 { result.append(UInt8(truncatingIfNeeded: group >> 4)) }
        if held == 3 {
            result.append(UInt8(truncatingIfNeeded: group >> 10))
            result.append(UInt8(truncatingIfNeeded: group >> 2))
        }
        return result
    }

    private static func value(of byte: UInt8) -> UInt8? {
        switch byte {
        case 0x41...0x5A: byte - 0x41
        case 0x61...0x7A: byte - 0x61 + 26
        case 0x30...0x39: byte - 0x30 + 52
        case 0x2B, 0x2D: 62
        case 0x2F, 0x5F: 63
        default: nil
        }
    }
}
