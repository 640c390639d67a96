internal import Base
internal import Contents

/// Words for a shell.
enum ShellText {
    /// One word of any bytes: in quotation marks as far as it is plain text, else what `printf`
    /// makes of it, since not every `sh` knows `$'…'`. A shell has no word with a zero byte, so that
    /// those are left out.
    static func quoted(_ bytes: [UInt8]) -> String {
        if isPlain(bytes) {
            return "'" + bytes.text.replacingQuotationMarks + "'"
        }
        // A substitution loses the line ends at its end.
        let lineEnds = bytes.reversed().prefix { $0 == 0x0A }
        var format = ""
        for byte in bytes.dropLast(lineEnds.count) where byte != 0 {
            switch byte {
            case UInt8(ascii: "'"): format += #"'\''"#
            case UInt8(ascii: "\\"): format += #"\\"#
            case UInt8(ascii: "%"): format += "%%"
            // Between double quotation marks, bash would look for an event.
            case UInt8(ascii: "!"): format += #"\041"#
            case 0x0A: format += #"\n"#
            case 0x0D: format += #"\r"#
            case 0x09: format += #"\t"#
            case 0x20..<0x7F: format += [byte].text
            default: format += "\\" + octal(byte)
            }
        }
        let rest = lineEnds.isEmpty ? "" : quoted(Array(lineEnds))
        // Without the two dashes it would take a dash for an option.
        return "\"$(printf -- '\(format)')\"" + rest
    }

    /// Whether bytes are text without anything that acts on a terminal; lines may end in it.
    static func isPlain(_ bytes: [UInt8]) -> Bool {
        guard let text = String(validating: bytes, as: UTF8.self) else { return false }
        return text.unicodeScalars.allSatisfy { $0 == "\n" || !$0.actsOnReader }
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
