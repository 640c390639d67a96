/// Text as it may stand in XML 1.0, whatever it holds.
enum XMLText {
    static func content(_ text: String) -> String {
        escaped(text) { $0 == "\n" || $0 == "\t" ? String($0) : nil }
    }

    /// Line ends and tabs would be read as spaces (XML 1.0 §3.3.3).
    static func attribute(_ text: String) -> String {
        escaped(text) { $0 == "\n" || $0 == "\t" ? "&#\($0.value);" : nil }
    }

    private static func escaped(
        _ text: String, white: (Unicode.Scalar) -> String?
    ) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            default:
                if let text = white(scalar) {
                    result += text
                } else if isAllowed(scalar) {
                    result.unicodeScalars.append(scalar)
                } else {
                    // Not even a reference to such a character is allowed (XML 1.0 §4.1).
                    result += "\\u{" + String(scalar.value, radix: 16) + "}"
                }
            }
        }
        return result
    }

    /// XML 1.0 §2.2, without what acts on a terminal.
    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0xFFFE, 0xFFFF: false
        default: true
        }
    }
}
