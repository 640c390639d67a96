internal import Base

/// Masks secrets in text of no told form, line by line: JSON behind a few signs, fields like those
/// of a head, URLs, tokens and lists of parameters.
enum TextRedaction {
    static func redact(_ text: [UInt8]) -> [UInt8] {
        let text = LiteralRedaction.redact(text)
        let fields =
            beginsWithoutField(text)
            ? HeadRedaction.redact(head: text) : HeadRedaction.redact(trailers: text)
        var result: [UInt8] = []
        for (index, line) in fields.split(
            separator: newline, omittingEmptySubsequences: false
        ).enumerated() {
            if index > 0 { result.append(newline) }
            result += json(in: line) ?? words(of: line)
        }
        return result
    }

    /// Whether the first line is that of an HTTP message, or holds JSON: any other may be a field.
    private static func beginsWithoutField(_ text: [UInt8]) -> Bool {
        let version = Array("HTTP/".utf8)
        let line = text.prefix { $0 != newline }
        if json(in: line) != nil { return true }
        let last = line.lastIndex(of: space).map { line[($0 + 1)...] } ?? []
        return line.starts(with: version) || last.starts(with: version)
    }

    /// Redacts a JSON value at the end of a line, such as `data: {…}`, `42["login",{…}]` and
    /// `state = {…};`.
    private static func json(in line: ArraySlice<UInt8>) -> [UInt8]? {
        let start = line.prefix(prefixLimit).firstIndex {
            $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "[")
        }
        guard let start else { return nil }
        let value = line[start...]
        if let shown = JSONRedaction.redact(Array(value), isWhole: false) {
            return line[..<start] + shown
        }
        guard
            let last = value.lastIndex(where: { $0 == UInt8(ascii: "}") || $0 == UInt8(ascii: "]") }
            ),
            let shown = JSONRedaction.redact(Array(value[...last]), isWhole: true)
        else { return nil }
        return line[..<start] + shown + line[(last + 1)...]
    }

    private static func words(of line: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        for (index, word) in line.split(
            separator: space, omittingEmptySubsequences: false
        ).enumerated() {
            if index > 0 { result.append(space) }
            let hasReturn = word.last == UInt8(ascii: "\r")
            let plain = hasReturn ? word.dropLast() : word
            result += ValueRedaction.redact(Array(plain), depth: 0) ?? Array(plain)
            if hasReturn { result.append(UInt8(ascii: "\r")) }
        }
        return result
    }

    private static let newline = UInt8(ascii: "\n")
    private static let space = UInt8(ascii: " ")
    /// In bytes: what goes before a value is short, and prose has brackets too.
    private static let prefixLimit = 64
}
