/// Base64 (RFC 4648 §4 and §5).
package enum Base64 {
    private static let alphabet = [UInt8](
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Encodes with padding.
    package static func encode(_ bytes: some Collection<UInt8>) -> String {
        var text: [UInt8] = []
        append(Array(bytes).span, to: &text)
        return text.text
    }

    /// Adds what `bytes` are encoded, with padding: for contents, whose every byte costs.
    package static func append(_ bytes: Span<UInt8>, to text: inout [UInt8]) {
        text.reserveCapacity(text.count + (bytes.count + 2) / 3 * 4)
        let alphabet = alphabet.span
        var index = 0
        while index + 3 <= bytes.count {
            let group = Int(bytes[index]) << 16 | Int(bytes[index + 1]) << 8 | Int(bytes[index + 2])
            text.append(alphabet[group >> 18])
            text.append(alphabet[group >> 12 & 63])
            text.append(alphabet[group >> 6 & 63])
            text.append(alphabet[group & 63])
            index += 3
        }
        let left = bytes.count - index
        guard left > 0 else { return }
        let group = Int(bytes[index]) << 16 | (left == 2 ? Int(bytes[index + 1]) << 8 : 0)
        text.append(alphabet[group >> 18])
        text.append(alphabet[group >> 12 & 63])
        text.append(left == 2 ? alphabet[group >> 6 & 63] : 0x3D)
        text.append(0x3D)
    }

    /// Decodes the standard and the URL-safe alphabet, with or without padding; `nil` if any other
    /// byte occurs, padding is misplaced, or one character is left over.
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        let text = Array(text)
        let padding = text.reversed().prefix { $0 == 0x3D }.count
        let digits = text.span.extracting(droppingLast: padding)
        let left = digits.count % 4
        guard left != 1, padding == 0 || left > 0 && left + padding == 4 else { return nil }
        var result: [UInt8] = []
        result.reserveCapacity(digits.count / 4 * 3 + 2)
        let values = values.span
        var group: UInt32 = 0
        for index in 0..<digits.count {
            let value = values[Int(digits[index])]
            guard value < 64 else { return nil }
            group = group << 6 | UInt32(value)
            guard index & 3 == 3 else { continue }
            result.append(UInt8(truncatingIfNeeded: group >> 16))
            result.append(UInt8(truncatingIfNeeded: group >> 8))
            result.append(UInt8(truncatingIfNeeded: group))
        }
        if left == 2 { result.append(UInt8(truncatingIfNeeded: group >> 4)) }
        if left == 3 {
            result.append(UInt8(truncatingIfNeeded: group >> 10))
            result.append(UInt8(truncatingIfNeeded: group >> 2))
        }
        return result
    }

    /// What each byte stands for; 255 for one of neither alphabet.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, byte) in alphabet.enumerated() { values[Int(byte)] = UInt8(value) }
        values[0x2D] = 62
        values[0x5F] = 63
        return values
    }()
}
