internal import Base

/// Values that stand for none.
enum Placeholder {
    /// Whether a form or a client put it there for want of a value.
    static func matches(_ value: [UInt8]) -> Bool {
        let text = value.trimmed.lowercasedBytes
        guard let first = text.first else { return true }
        guard text.count <= 256 else { return false }
        if words.contains(text.text) { return true }
        if first == 0x2A || first == 0x78 || first == 0x23, text.allSatisfy({ $0 == first }) {
            return true
        }
        if text.count <= 3,
            !text.contains(where: { $0.isASCIILetter || $0.isASCIIDigit || $0 >= 0x80 })
        {
            return true
        }
        let isBullets = text.text.unicodeScalars.allSatisfy { $0 == "\u{2022}" || $0 == "\u{25CF}" }
        return isBullets || isTemplate(text)
    }

    private static func isTemplate(_ text: [UInt8]) -> Bool {
        let (first, last) = (text.first ?? 0, text.last ?? 0)
        if text.starts(with: [0x7B, 0x7B]), text.suffix(2).elementsEqual([0x7D, 0x7D]) {
            return true
        }
        if text.starts(with: [0x24, 0x7B]), last == 0x7D { return true }
        if first == 0x5B, last == 0x5D, text.contains(run: Array("redact".utf8)) { return true }
        let inner = text.dropFirst().dropLast()
        let isPaired =
            first == 0x3C && last == 0x3E || first == 0x7B && last == 0x7D
            || first == 0x5B && last == 0x5D || first == 0x28 && last == 0x29
            || first == 0x25 && last == 0x25 && text.count > 2
        if isPaired { return isName(inner) }
        if text.count > 4, text.starts(with: [0x5F, 0x5F]), text.suffix(2) == [0x5F, 0x5F] {
            return isName(inner)
        }
        let isAsked = ["your", "enter", "insert", "please", "replace", "change"].contains {
            text.starts(with: $0.utf8)
        }
        return isAsked && isName(text.filter { !$0.isASCIIDigit }[...])
            && ["password", "passwd", "secret", "token", "key", "pin"].contains {
                text.contains(run: Array($0.utf8))
            }
    }

    /// Whether it is made of words alone, as what stands for a value is.
    private static func isName(_ text: ArraySlice<UInt8>) -> Bool {
        text.allSatisfy { $0.isASCIILetter || [0x20, 0x2D, 0x2E, 0x5F].contains($0) }
    }

    private static let words: Set<String> = [
        "null", "undefined", "none", "nil", "nan", "%s", "%@", "true", "false", "on", "off", "yes",
        "no", "0", "1", "[object object]", "n/a", "redacted", "filtered", "[filtered]",
    ]
}
