package import Base

/// Text of a recipe: literal bytes, and places that the host asked for fills.
///
/// `{host}` and the other names of ``HostPlaceholder`` are filled in; `\0`, `\xHH`, `\u{HHHH}`,
/// `\\`, `\{` and `\}` stand for what a line cannot show.
package struct RecipeText: Sendable, Equatable {
    private enum Part: Sendable, Equatable {
        case bytes([UInt8])
        case placeholder(HostPlaceholder)
    }

    private var parts: [Part] = []

    /// Errors: what is wrong with the text, in words.
    package init(_ text: String) throws(RecipeTextViolation) {
        var rest = Substring(text)
        var literal: [UInt8] = []
        while let first = rest.popFirst() {
            switch first {
            case "\\": literal += try Self.readEscape(&rest)
            case "{":
                let name = try Self.readBraced(&rest)
                guard let known = HostPlaceholder(rawValue: name) else {
                    throw .unknownPlaceholder(name)
                }
                if !literal.isEmpty { parts.append(.bytes(literal)) }
                literal = []
                parts.append(.placeholder(known))
            case "}": throw .unbalancedBrace
            default: literal += Array(String(first).utf8)
            }
        }
        if !literal.isEmpty { parts.append(.bytes(literal)) }
    }

    /// Text without places to fill.
    package init(literal: String) {
        parts = [.bytes(Array(literal.utf8))]
    }

    /// The host itself.
    package static let host = RecipeText(parts: [.placeholder(.host)])

    private init(parts: [Part]) { self.parts = parts }

    private static func readBraced(
        _ rest: inout Substring
    ) throws(RecipeTextViolation) -> String {
        guard let end = rest.firstIndex(of: "}") else { throw .unbalancedBrace }
        defer { rest = rest[rest.index(after: end)...] }
        return String(rest[..<end])
    }

    private static func readEscape(
        _ rest: inout Substring
    ) throws(RecipeTextViolation) -> [UInt8] {
        guard let kind = rest.popFirst() else { throw .unknownEscape("\\") }
        switch kind {
        case "\\", "{", "}": return Array(String(kind).utf8)
        case "0": return [0]
        case "x":
            let digits = rest.prefix(2)
            guard let value = bytes(fromHex: digits), value.count == 1 else {
                throw .unknownEscape("\\x\(digits)")
            }
            rest = rest.dropFirst(2)
            return value
        case "u":
            guard rest.popFirst() == "{" else { throw .unknownEscape("\\u") }
            let digits = try readBraced(&rest)
            guard let number = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(number) else {
                throw .unknownEscape("\\u{\(digits)}")
            }
            return Array(String(Character(scalar)).utf8)
        default: throw .unknownEscape("\\\(kind)")
        }
    }

    /// The bytes for a host.
    ///
    /// Errors: `probe-not-possible`.
    package func resolved(for host: ProbedHost) throws(Failure) -> [UInt8] {
        var result: [UInt8] = []
        for part in parts {
            switch part {
            case .bytes(let bytes): result += bytes
            case .placeholder(let placeholder): result += Array(try host.fill(placeholder).utf8)
            }
        }
        return result
    }
}

/// Why a text of a recipe cannot be read.
package enum RecipeTextViolation: Error, Equatable, CustomStringConvertible {
    case unknownPlaceholder(String)
    case unknownEscape(String)
    case unbalancedBrace

    package var description: String {
        switch self {
        case .unknownPlaceholder(let name):
            let known = HostPlaceholder.allCases.map { "{\($0.rawValue)}" }
            return "unknown place '{\(name)}', expected \(known.joined(separator: ", "))"
        case .unknownEscape(let text):
            return "unknown escape '\(text)', expected \\0, \\xHH, \\u{HHHH}, \\\\, \\{ or \\}"
        case .unbalancedBrace: return "a brace without its other half, expected \\{ or \\}"
        }
    }
}
