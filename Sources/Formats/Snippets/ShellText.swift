internal import Base

/// Words for a shell.
enum ShellText {
    /// One word of any bytes: in quotation marks as far as it is plain text, else as `$'…'`
    /// (POSIX.1-2024 §2.2.4), which bash, zsh and ksh know. A shell has no word with a zero byte,
    /// so that those are left out.
    static func quoted(_ bytes: [UInt8]) -> String {
        if isPlain(bytes) {
            return "'" + bytes.text.replacingQuotationMarks + "'"
        }
        var result = "$'"
        for byte in bytes where byte != 0 {
            switch byte {
            case UInt8(ascii: "'"), UInt8(ascii: "\\"): result += "\\" + [byte].text
            case 0x0A: result += "\\n"
            case 0x0D: result += "\\r"
            case 0x09: result += "\\t"
            case 0x20..<0x7F: result += [byte].text
            default: result += "\\" + octal(byte)
            }
        }
        return result + "'"
    }

    /// Whether bytes are text without anything that acts on a terminal; lines may end in it.
    static func isPlain(_ bytes: [UInt8]) -> Bool {
        guard let text = String(validating: bytes, as: UTF8.self) else { return false }
        return text.unicodeScalars.allSatisfy { scalar in
            switch scalar.value {
            case 0x0A: true
            case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F,
                0xFEFF, 0xE0000...0xE0FFF:
                false
            default: true
            }
        }
    }

    private static func octal(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 8)
        return String(repeating: "0", count: 3 - digits.count) + digits
    }
}

extension String {
    fileprivate var replacingQuotationMarks: String {
        split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#)
    }
}
