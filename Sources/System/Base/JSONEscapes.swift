/// The escapes of JSON strings (RFC 8259 §7).
package enum JSONEscapes {
    /// Adds a text as it may stand between quotes; beyond what the grammar asks for, it escapes what
    /// acts on a reader.
    ///
    /// - Parameter text: in UTF-8, whole characters.
    package static func append(_ text: ArraySlice<UInt8>, to result: inout [UInt8]) {
        var rest = text
        while let special = rest.firstIndex(where: mayNeedEscape) {
            result += rest[..<special]
            rest = rest[special...]
            var count = 1
            switch rest[special] {
            case 0x22: result += #"\""#.utf8
            case 0x5C: result += #"\\"#.utf8
            case 0x0A: result += #"\n"#.utf8
            case 0x0D: result += #"\r"#.utf8
            case 0x09: result += #"\t"#.utf8
            default: count = append(unseen: rest, to: &result)
            }
            rest = rest.dropFirst(count)
        }
        result += rest
    }

    /// Adds the first character, which may be one that acts on a reader; returns its length.
    private static func append(unseen text: ArraySlice<UInt8>, to result: inout [UInt8]) -> Int {
        var iterator = text.prefix(4).makeIterator()
        var decoder = UTF8()
        guard case .scalarValue(let scalar) = decoder.decode(&iterator), scalar.actsOnReader else {
            result.append(text[text.startIndex])
            return 1
        }
        for unit in UTF16.encode(scalar) ?? UTF16.encodedReplacementCharacter {
            result += (#"\u"# + [UInt8(unit >> 8), UInt8(unit & 0xFF)].hex).utf8
        }
        return UTF8.width(scalar)
    }

    private static func mayNeedEscape(_ byte: UInt8) -> Bool {
        byte == 0x22 || byte == 0x5C || byte.mayBeginUnseen
    }

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
