internal import Base

/// Reads the filter language.
///
///     filter      = conjunction *( ( "or" / "|" ) conjunction )
///     conjunction = negation *( ( "and" / "&" ) negation )
///     negation    = *( "not" / "!" ) ( "(" filter ")" / test )
///     test        = field operator value / word
package struct FilterReader {
    private let text: [Character]
    private let subject: FilterField.Subject
    private var place = 0
    private var depth = 0

    package static func read(
        _ text: String, for subject: FilterField.Subject
    ) throws(FilterViolation) -> Filter {
        var reader = FilterReader(text: Array(text), subject: subject)
        let filter = try reader.readFilter()
        guard reader.place == reader.text.count else {
            throw reader.violation(
                reader.next == ")" ? "nothing is open here" : "'and' or 'or' is needed here")
        }
        return filter
    }

    private init(text: [Character], subject: FilterField.Subject) {
        self.text = text
        self.subject = subject
    }

    private mutating func readFilter() throws(FilterViolation) -> Filter {
        var filters = [try readConjunction()]
        while accept(word: "or", sign: "|") { filters.append(try readConjunction()) }
        return filters.count == 1 ? filters[0] : .any(filters)
    }

    private mutating func readConjunction() throws(FilterViolation) -> Filter {
        var filters = [try readNegation()]
        while accept(word: "and", sign: "&") { filters.append(try readNegation()) }
        return filters.count == 1 ? filters[0] : .all(filters)
    }

    private mutating func readNegation() throws(FilterViolation) -> Filter {
        var isNegated = false
        while accept(word: "not", sign: "!") { isNegated.toggle() }
        let filter = next == "(" ? try readGroup() : try readTest()
        return isNegated ? .not(filter) : filter
    }

    private mutating func readGroup() throws(FilterViolation) -> Filter {
        let start = place
        depth += 1
        guard depth <= Self.depthLimit else {
            throw violation("more than \(Self.depthLimit) groups inside of one another")
        }
        place += 1
        let filter = try readFilter()
        guard next == ")" else {
            throw FilterViolation(column: start + 1, "the group that starts here does not end")
        }
        place += 1
        skipSpaces()
        depth -= 1
        return filter
    }

    private mutating func readTest() throws(FilterViolation) -> Filter {
        let start = place
        if next == "\"" || next == "'" {
            let word = try readQuoted()
            skipSpaces()
            return .test(Filter.Test(field: .bare, condition: .contains(word)))
        }
        let word = readWord { !$0.isWhitespace && !Self.signs.contains($0) }
        guard !word.isEmpty else {
            throw violation(next == nil ? "a condition is missing here" : "a condition is needed")
        }
        guard !["and", "or", "not"].contains(word.lowercased()) else {
            throw FilterViolation(
                column: start + 1, "a condition is needed before '\(word)'",
                hint: "put the word in quotes to look for it")
        }
        skipSpaces()
        guard let sign = readOperator() else {
            let header = word.lowercased().hasPrefix("header:")
            return .test(
                header
                    ? Filter.Test(field: try field(word, at: start), condition: .isPresent)
                    : Filter.Test(field: .bare, condition: .contains(word)))
        }
        let field = try field(word, at: start)
        return .test(try readCondition(field, sign.text, signColumn: sign.column))
    }

    private func field(_ word: String, at start: Int) throws(FilterViolation) -> FilterField {
        let name = word.lowercased()
        if name.hasPrefix("header:") {
            guard subject == .exchanges, name.count > 7 else {
                throw FilterViolation(
                    column: start + 1,
                    subject == .exchanges
                        ? "the name of the header is missing: header:NAME"
                        : "connections have no headers")
            }
            return .header(String(name.dropFirst(7)))
        }
        let names = subject.names.map(\.rawValue)
        if let field = FilterField.Name(rawValue: name), names.contains(name) {
            return .named(field)
        }
        throw FilterViolation(
            column: start + 1, "unknown field '\(word)'", hint: fieldHint(name, among: names))
    }

    private func fieldHint(_ name: String, among names: [String]) -> String {
        guard name.allSatisfy({ $0.isLetter || $0 == "-" }) else {
            return "put text with signs in quotes to look for it"
        }
        if let nearest = NearestName.find(name, among: names) {
            return "did you mean '\(nearest)'?"
        }
        let headers = subject == .exchanges ? ", header:NAME" : ""
        return "\(subject.words) have \(names.joined(separator: ", "))" + headers
    }

    private mutating func readCondition(
        _ field: FilterField, _ sign: String, signColumn: Int
    ) throws(FilterViolation) -> Filter.Test {
        skipSpaces()
        let valueColumn = place + 1
        let isQuoted = next == "\"" || next == "'"
        let value =
            isQuoted
            ? try readQuoted() : readWord { !$0.isWhitespace && !Self.valueEnds.contains($0) }
        guard isQuoted || !value.isEmpty else {
            throw FilterViolation(column: valueColumn, "a value is needed after '\(sign)'")
        }
        skipSpaces()
        let condition: Filter.Condition
        switch (field.kind, sign) {
        case (.text, "="): condition = .matches(value)
        case (.text, "!="): condition = .differs(value)
        case (.text, "~"): condition = .contains(value)
        case (.text, _):
            throw FilterViolation(
                column: signColumn, "'\(field.title)' is text, which goes with =, != or ~")
        case (_, "~"):
            throw FilterViolation(
                column: signColumn,
                "'\(field.title)' is a number, which goes with =, !=, <, <=, > or >=")
        default:
            condition = try numberCondition(field, sign, value, column: valueColumn)
        }
        return Filter.Test(field: field, condition: condition)
    }

    private func numberCondition(
        _ field: FilterField, _ sign: String, _ value: String, column: Int
    ) throws(FilterViolation) -> Filter.Condition {
        if field.kind == .status, let digit = Self.statusClass(value) {
            switch sign {
            case "=": return .hasClass(digit)
            case "!=": return .lacksClass(digit)
            default:
                throw FilterViolation(column: column, "a status class goes with = or !=")
            }
        }
        let number: Int64?
        let wanted: String
        switch field.kind {
        case .byteCount: (number, wanted) = (Quantity.byteCount(value), "a size like 512 or 10k")
        case .duration:
            (number, wanted) = (Quantity.microseconds(value), "a duration like 200ms or 1.5s")
        case .status: (number, wanted) = (Int64(value), "a status like 404 or 4xx")
        case .number, .text: (number, wanted) = (Int64(value), "a number")
        }
        guard let number, let comparison = Filter.Comparison(rawValue: sign) else {
            throw FilterViolation(
                column: column, "'\(field.title)' needs \(wanted), not '\(value)'")
        }
        return .compares(comparison, number)
    }

    /// The digit of `4xx`.
    private static func statusClass(_ value: String) -> Int64? {
        guard value.count == 3, value.lowercased().hasSuffix("xx") else { return nil }
        return Int64(value.prefix(1))
    }
}

extension FilterReader {
    private var next: Character? { place < text.count ? text[place] : nil }

    private func violation(_ message: String) -> FilterViolation {
        FilterViolation(column: place + 1, message)
    }

    private mutating func skipSpaces() {
        while let character = next, character.isWhitespace { place += 1 }
    }

    private mutating func readWord(while belongs: (Character) -> Bool) -> String {
        let start = place
        while let character = next, belongs(character) { place += 1 }
        return String(text[start..<place])
    }

    private mutating func readQuoted() throws(FilterViolation) -> String {
        let start = place
        let quote = text[place]
        place += 1
        let word = readWord { $0 != quote }
        guard next == quote else {
            throw FilterViolation(column: start + 1, "the quote that starts here does not end")
        }
        place += 1
        return word
    }

    /// Takes a connective, written as a word or as a sign once or twice, with the spaces around it.
    private mutating func accept(word: String, sign: Character) -> Bool {
        skipSpaces()
        if next == sign {
            place += 1
            if next == sign, sign != "!" { place += 1 }
            skipSpaces()
            return true
        }
        let end = place + word.count
        guard end <= text.count, String(text[place..<end]).lowercased() == word,
            end == text.count || text[end].isWhitespace || "()!\"'".contains(text[end])
        else { return false }
        place = end
        skipSpaces()
        return true
    }

    private mutating func readOperator() -> (text: String, column: Int)? {
        let start = place
        for sign in Self.operators where text[place...].starts(with: sign) {
            place += sign.count
            return (sign == "==" ? "=" : sign, start + 1)
        }
        return nil
    }

    /// The longer ones first.
    private static let operators = ["!=", "<=", ">=", "==", "=", "<", ">", "~"]
    private static let signs = Set("()&|!=<>~\"'")
    private static let valueEnds = Set("()&|")
    /// More is no filter of a person; each takes some of the stack.
    private static let depthLimit = 50
}
