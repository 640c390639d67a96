internal import Base
internal import Contents

/// Masks the literals behind names of secrets in text of no told form: `password: "…"` and
/// `pin: 1234`, as documents of GraphQL have them (GraphQL §2.10).
enum LiteralRedaction {
    static func redact(_ text: [UInt8]) -> [UInt8] {
        guard text.contains(colon) else { return text }
        var result: [UInt8] = []
        var copied = 0
        var index = 0
        while let sign = text[index...].firstIndex(of: colon) {
            index = sign + 1
            guard SecretName.isField(name(endingAt: sign, in: text)),
                let literal = literal(in: text, from: index)
            else { continue }
            result += text[copied..<literal.lowerBound] + redactionMark
            copied = literal.upperBound
            index = literal.upperBound
        }
        return copied == 0 ? text : result + text[copied...]
    }

    private static func name(endingAt end: Int, in text: [UInt8]) -> ArraySlice<UInt8> {
        let before = text[..<end].suffix(nameLimit)
        let last = before.lastIndex { !isSpace($0) } ?? before.startIndex - 1
        let word = before[before.startIndex..<last + 1]
        let start = word.lastIndex { !isNameByte($0) }.map { $0 + 1 } ?? word.startIndex
        return word[start...]
    }

    /// The inside of a string or a block string, or a number; `nil` for anything else.
    private static func literal(in text: [UInt8], from start: Int) -> Range<Int>? {
        let begin = text[start...].firstIndex { !isSpace($0) } ?? text.endIndex
        let rest = text[begin...]
        if rest.starts(with: blockQuote) {
            let inside = begin + blockQuote.count
            var end = inside
            while end < text.count, !text[end...].starts(with: blockQuote) { end += 1 }
            return inside..<end
        }
        if rest.first == quote {
            var end = begin + 1
            while end < text.count, text[end] != quote, text[end] != newline {
                end += text[end] == backslash ? 2 : 1
            }
            return begin + 1..<min(end, text.count)
        }
        let number = rest.prefix { $0.isASCIIDigit || $0 == UInt8(ascii: ".") }
        return number.isEmpty ? nil : begin..<number.endIndex
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        byte.isASCIILetter || byte.isASCIIDigit || byte == 0x5F || byte == 0x2D
    }

    private static let colon = UInt8(ascii: ":")
    private static let quote = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")
    private static let newline = UInt8(ascii: "\n")
    private static let blockQuote = [UInt8](repeating: UInt8(ascii: "\""), count: 3)
    /// In bytes: a name is short.
    private static let nameLimit = 128
}
