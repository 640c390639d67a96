/// The escapes of JSON strings (RFC 8259 §7).
package enum JSONEscapes {
    /// Returns what the text between the quotes stands for, in UTF-8; a surrogate without its other
    /// half becomes U+FFFD. `nil` if an escape is malformed.
    package static func undo(in text: ArraySlice<UInt8>) -> [UInt8]? {
        var result: [UInt8] = []
        var high: UInt32?
        var index = text.startIndex
        while index < text.endIndex {
            guard let unit = readUnit(text, at: &index) else { return nil }
            switch unit {
            case .byte(let byte):
                append(unpaired: &high, to: &result)
                result.append(byte)
            case .utf16(let code):
                if let first = high, 0xDC00...0xDFFF ~= code {
                    append(0x10000 + (first - 0xD800) << 10 + (code - 0xDC00), to: &result)
                    high = nil
                } else {
                    append(unpaired: &high, to: &result)
                    if 0xD800...0xDBFF ~= code { high = code } else { append(code, to: &result) }
                }
            }
        }
        append(unpaired: &high, to: &result)
        return result
    }

    private enum Unit {
        case byte(UInt8)
        case utf16(UInt32)
    }

    private static func readUnit(_ text: ArraySlice<UInt8>, at index: inout Int) -> Unit? {
        let byte = text[index]
        index += 1
        guard byte == UInt8(ascii: "\\") else { return .byte(byte) }
        guard index < text.endIndex else { return nil }
        let letter = text[index]
        index += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return .byte(letter)
        case UInt8(ascii: "b"): return .byte(0x08)
        case UInt8(ascii: "f"): return .byte(0x0C)
        case UInt8(ascii: "n"): return .byte(0x0A)
        case UInt8(ascii: "r"): return .byte(0x0D)
        case UInt8(ascii: "t"): return .byte(0x09)
        case UInt8(ascii: "u"):
            let digits = text[index...].prefix(4).compactMap(\.hexDigitValue)
            guard digits.count == 4 else { return nil }
            index += 4
            return .utf16(digits.reduce(0) { $0 << 4 | UInt32($1) })
        default: return nil
        }
    }

    private static func append(unpaired high: inout UInt32?, to result: inout [UInt8]) {
        if high != nil { append(0xFFFD, to: &result) }
        high = nil
    }

    private static func append(_ code: UInt32, to result: inout [UInt8]) {
        let scalar = Unicode.Scalar(code) ?? "\u{FFFD}"
        result += Array(UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
    }
}
