internal import Base
internal import Contents

extension MessagePart {
    /// Such as `query page`; a name that would not be read again as it is stands in quotes.
    package var text: String {
        switch self {
        case .method: "method"
        case .authority: "authority"
        case .path: "path"
        case .query(let name): "query \(Self.written(name))"
        case .header(let name): "header \(Self.written(name))"
        case .body(let path): path.isEmpty ? "body" : "body \(Self.written(path))"
        case .status: "status"
        case .trailer(let name): "trailer \(Self.written(name))"
        }
    }

    private static func written(_ name: String) -> String {
        let scalars = name.unicodeScalars
        let isPlain =
            !scalars.isEmpty && scalars.first != "\"" && scalars.first != " "
            && scalars.last != " " && scalars.allSatisfy(isVisible)
        return isPlain ? name : quoted(name)
    }

    /// What a line can hold, and a terminal shows as it is.
    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar.value >= 0x20 && scalar.value < 0x7F }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator: return false
        default: return true
        }
    }

    /// The name as JSON has it, in ASCII.
    private static func quoted(_ name: String) -> String {
        var result = "\""
        for unit in name.utf16 {
            switch unit {
            case 0x22, 0x5C: result += "\\" + (unit == 0x22 ? "\"" : "\\")
            case 0x20..<0x7F: result.unicodeScalars.append(Unicode.Scalar(UInt8(unit)))
            default:
                let digits = String(unit, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        }
        return result + "\""
    }
}

extension ReplayRule {
    /// As it stands in a file.
    package var text: String {
        let side = side == .response ? "response " : ""
        let place = scope.map { "at \($0.text) " } ?? ""
        return "\(action.rawValue) \(place)\(side)\(part.text)"
    }

    /// Reads a line.
    init?(line: Substring) {
        var rest = line.unicodeScalars[...]
        guard let action = Action(rawValue: Self.word(of: &rest)) else { return nil }
        var kind = Self.word(of: &rest)
        var side = Side.request
        var scope: RuleScope?
        if kind == "at" {
            scope = RuleScope(Self.word(of: &rest))
            guard scope != nil else { return nil }
            kind = Self.word(of: &rest)
        }
        if let named = Side(rawValue: kind) {
            side = named
            kind = Self.word(of: &rest)
        }
        while let last = rest.last, Self.isSpace(last) { rest.removeLast() }
        guard let name = Self.name(rest), let part = Self.part(kind, name, isNamed: !rest.isEmpty)
        else { return nil }
        if action != .ignore, side == .response { return nil }
        if action == .match { guard case .header = part else { return nil } }
        self.init(action, side, part, at: scope)
    }

    static func isSpace(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || scalar == "\t" }

    /// Takes the next word, and the space behind it.
    private static func word(of rest: inout Substring.UnicodeScalarView) -> String {
        rest = rest.drop(while: isSpace)
        let word = rest.prefix { !isSpace($0) }
        rest = rest[word.endIndex...].drop(while: isSpace)
        return String(word)
    }

    /// The rest of a line; `nil` if it begins with a quote and is no text of JSON.
    private static func name(_ rest: Substring.UnicodeScalarView) -> String? {
        guard rest.first == "\"" else { return String(rest) }
        guard let document = JSONDocument([UInt8](String(rest).utf8)),
            document[JSONDocument.root].kind == .string
        else { return nil }
        return document.key(of: JSONDocument.root).text
    }

    private static func part(_ kind: String, _ name: String, isNamed: Bool) -> MessagePart? {
        switch kind {
        case "method" where !isNamed: .method
        case "authority" where !isNamed: .authority
        case "path" where !isNamed: .path
        case "status" where !isNamed: .status
        case "body": .body(name)
        case "query" where isNamed: .query(name)
        case "header" where isNamed: .header(name.lowercased())
        case "trailer" where isNamed: .trailer(name.lowercased())
        default: nil
        }
    }
}
