internal import Base

/// Reads the filter language.
///
///     filter      = conjunction *( ( "or" / "|" ) conjunction )
///     conjunction = negation *( ( "and" / "&" ) negation )
///     negation    = *( "not" / "!" ) ( "(" filter ")" / test )
///     test        = field operator value / word / shorthand
///     shorthand   = "~" letters [ value ]
///
/// Beside a shorthand, an "and" may be left out, as mitmproxy has it.
package struct FilterReader {
    var text: [Character]
    let subject: FilterField.Subject
    /// The names of the rules that findings may have; empty for any.
    let rules: [String]
    var place = 0
    private var depth = 0
    /// Whether the condition before this place is a shorthand.
    var isBehindShorthand = false

    /// - Parameter rules: the names that `finding` may be compared with; empty for any.
    package static func read(
        _ text: String, for subject: FilterField.Subject, rules: [String] = []
    ) throws(FilterViolation) -> Filter {
        var reader = FilterReader(text: Array(text), subject: subject, rules: rules)
        let filter = try reader.readFilter()
        guard reader.place == reader.text.count else {
            throw reader.violation(
                reader.next == ")" ? "nothing is open here" : "'and' or 'or' is needed here")
        }
        return filter.cheapestFirst
    }

    private init(text: [Character], subject: FilterField.Subject, rules: [String]) {
        self.text = text
        self.subject = subject
        self.rules = rules
    }

    mutating func readFilter() throws(FilterViolation) -> Filter {
        var filters = [try readConjunction()]
        while accept(word: "or", sign: "|") { filters.append(try readConjunction()) }
        return filters.count == 1 ? filters[0] : .any(filters)
    }

    private mutating func readConjunction() throws(FilterViolation) -> Filter {
        var filters = [try readNegation()]
        while accept(word: "and", sign: "&") || isJoinedByShorthand() {
            filters.append(try readNegation())
        }
        return filters.count == 1 ? filters[0] : .all(filters)
    }

    private mutating func readNegation() throws(FilterViolation) -> Filter {
        var isNegated = false
        while accept(word: "not", sign: "!") { isNegated.toggle() }
        isBehindShorthand = false
        let filter = next == "(" ? try readGroup() : try readTest()
        return isNegated ? .not(filter) : filter
    }

    /// Whether another condition follows without a word between.
    private func isJoinedByShorthand() -> Bool {
        guard let next, next != ")", next != "|" else { return false }
        if next == "~" || isBehindShorthand { return !startsWithWord("or") }
        return next == "!" && place + 1 < text.count && text[place + 1] == "~"
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
}

extension FilterReader {
    var next: Character? { place < text.count ? text[place] : nil }

    func violation(_ message: String) -> FilterViolation {
        FilterViolation(column: place + 1, message)
    }

    mutating func skipSpaces() {
        while let character = next, character.isWhitespace { place += 1 }
    }

    mutating func readWord(while belongs: (Character) -> Bool) -> String {
        let start = place
        while let character = next, belongs(character) { place += 1 }
        return String(text[start..<place])
    }

    mutating func readQuoted() throws(FilterViolation) -> String {
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
        guard startsWithWord(word) else { return false }
        place += word.count
        skipSpaces()
        return true
    }

    private func startsWithWord(_ word: String) -> Bool {
        let end = place + word.count
        return end <= text.count && String(text[place..<end]).lowercased() == word
            && (end == text.count || text[end].isWhitespace || "()!~\"'".contains(text[end]))
    }

    mutating func readOperator() -> (text: String, column: Int)? {
        let start = place
        for sign in Self.operators where text[place...].starts(with: sign) {
            place += sign.count
            return (sign == "==" ? "=" : sign, start + 1)
        }
        return nil
    }

    /// The longer ones first.
    private static let operators = [
        "!=~", "!=", "!~", "=~", "<=", ">=", "==", "=", "<", ">", "~",
    ]
    static let signs = Set("()&|!=<>~\"'")
    static let valueEnds = Set("()&|")
    /// More is no filter of a person; each takes some of the stack.
    private static let depthLimit = 50
}
