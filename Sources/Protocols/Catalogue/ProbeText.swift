internal import Base

/// The lines of a probe's file: fields, then sections with fields.
///
/// `#` at the start of a line makes it a comment; a line that is indented goes on with the one
/// before it.
struct ProbeText {
    struct Field {
        let line: Int
        let key: String
        var value: String
    }

    struct Section {
        let line: Int
        let name: String
        var fields: [Field] = []
    }

    private(set) var fields: [Field] = []
    private(set) var sections: [Section] = []

    init(_ bytes: [UInt8]) throws(ProbeViolation) {
        var number = 0
        for var line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) {
            number += 1
            if line.last == 0x0D { line = line.dropLast() }
            guard let text = String(validating: line, as: UTF8.self) else {
                throw ProbeViolation(number, "no UTF-8")
            }
            try read(text, number)
        }
    }

    private mutating func read(_ line: String, _ number: Int) throws(ProbeViolation) {
        let text = line.trimmed
        if text.isEmpty || text.hasPrefix("#") { return }
        if line.first == " " || line.first == "\t" {
            try goOn(text, number)
        } else if text.hasPrefix("[") {
            try begin(text, number)
        } else {
            try add(text, number)
        }
    }

    private mutating func goOn(_ text: String, _ number: Int) throws(ProbeViolation) {
        if let last = sections.indices.last {
            guard let field = sections[last].fields.indices.last else {
                throw ProbeViolation(
                    number, "an indented line after no field, expected 'key: value'")
            }
            sections[last].fields[field].value += " " + text
        } else {
            guard let field = fields.indices.last else {
                throw ProbeViolation(
                    number, "an indented line after no field, expected 'key: value'")
            }
            fields[field].value += " " + text
        }
    }

    private mutating func begin(_ text: String, _ number: Int) throws(ProbeViolation) {
        let name = String(text.dropFirst().dropLast())
        guard text.hasSuffix("]"), Self.isWord(name) else {
            throw ProbeViolation(
                number, "'\(text)' is no section, expected lower-case letters in brackets: [leaf]")
        }
        guard !sections.contains(where: { $0.name == name }) else {
            throw ProbeViolation(number, "the section '[\(name)]' is there twice")
        }
        sections.append(Section(line: number, name: name))
    }

    private mutating func add(_ text: String, _ number: Int) throws(ProbeViolation) {
        guard let colon = text.firstIndex(of: ":"), Self.isWord(String(text[..<colon])) else {
            throw ProbeViolation(number, "'\(text)' is no field, expected 'key: value'")
        }
        let key = String(text[..<colon])
        let value = String(text[text.index(after: colon)...]).trimmed
        guard !value.isEmpty else {
            throw ProbeViolation(number, "'\(key)' has no value, expected 'key: value'")
        }
        let field = Field(line: number, key: key, value: value)
        if let last = sections.indices.last {
            sections[last].fields.append(field)
        } else {
            fields.append(field)
        }
    }

    private static func isWord(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy {
                0x61...0x7A ~= $0 || $0.isASCIIDigit || $0 == UInt8(ascii: "-")
            }
    }
}

/// What is wrong with a probe's file, and in which line.
struct ProbeViolation: Error {
    let line: Int
    let what: String

    init(_ line: Int, _ what: String) {
        self.line = line
        self.what = what
    }
}

extension StringProtocol {
    /// Without spaces and tabs at both ends.
    var trimmed: String {
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        return String(drop(while: isBlank).reversed().drop(while: isBlank).reversed())
    }

    /// The words between commas.
    var listed: [String] { split(separator: ",").map(\.trimmed).filter { !$0.isEmpty } }
}
