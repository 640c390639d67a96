internal import Base

/// Values that stand for none.
enum Placeholder {
    /// Whether a form or a client put it there for want of a value.
    static func matches(_ value: [UInt8]) -> Bool {
        let text = value.trimmed.lowercasedBytes
        guard let first = text.first, text.count <= 256 else { return true }
        if words.contains(text.text) { return true }
        if first == 0x2A || first == 0x78, text.allSatisfy({ $0 == first }) { return true }
        let isBullets = text.text.unicodeScalars.allSatisfy { $0 == "\u{2022}" || $0 == "\u{25CF}" }
        return isBullets || isTemplate(text)
    }

    private static func isTemplate(_ text: [UInt8]) -> Bool {
        let (first, last) = (text.first ?? 0, text.last ?? 0)
        if text.starts(with: [0x7B, 0x7B]), text.suffix(2).elementsEqual([0x7D, 0x7D]) {
            return true
        }
        if text.starts(with: [0x24, 0x7B]), last == 0x7D { return true }
        return first == 0x5B && last == 0x5D && text.contains(run: Array("redact".utf8))
    }

    private static let words: Set<String> = [
        "null", "undefined", "none", "nil", "nan", "%s", "%@", "true", "false", "on", "off", "yes",
        "no", "0", "1", "[object object]", "<password>", "redacted", "filtered", "[filtered]",
    ]
}
