internal import Base

/// Fields, what they are compared by, and with what.
extension FilterReader {
    mutating func readTest() throws(FilterViolation) -> Filter {
        let start = place
        if next == "~" { return try readShorthand() }
        if next == "\"" || next == "'" {
            let word = try readQuoted()
            skipSpaces()
            return .test(try part(word, of: .bare, column: start + 1))
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
        let end = place
        skipSpaces()
        guard let sign = readOperator() else { return try readWordTest(word, start, end) }
        let field = try field(word, at: start)
        return .test(try readCondition(field, sign.text, signColumn: sign.column))
    }

    /// Reads a word without an operator: it is looked for, unless it says which field it is about.
    private mutating func readWordTest(
        _ word: String, _ start: Int, _ end: Int
    ) throws(FilterViolation) -> Filter {
        let parts = word.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let name = parts[0].lowercased()
        guard parts.count == 2 else {
            return .test(try part(word, of: .bare, column: start + 1))
        }
        if Self.sides[name] != nil {
            return .test(Filter.Test(field: try field(word, at: start), condition: .isPresent))
        }
        guard subject.names.map(\.rawValue).contains(name) else {
            return .test(try part(word, of: .bare, column: start + 1))
        }
        guard name == FilterField.Name.finding.rawValue else {
            throw FilterViolation(
                column: start + 1, "'\(name):' is compared with =, like \(name)=\(parts[1])",
                hint: "put the word in quotes to look for it")
        }
        place = start + name.count + 1
        return .test(try readCondition(.named(.finding), "=", signColumn: place))
    }

    private func field(_ word: String, at start: Int) throws(FilterViolation) -> FilterField {
        var name = word.lowercased()
        let parts = name.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 2, let side = Self.sides[String(parts[0])] {
            guard subject.hasHeaders, !parts[1].isEmpty else {
                throw FilterViolation(
                    column: start + 1,
                    subject.hasHeaders
                        ? "the name of the header is missing: header:NAME"
                        : "\(subject.words) have no headers")
            }
            return .header(String(parts[1]), side)
        }
        // 'body:~x' is read as 'body~x'.
        if name.hasSuffix(":") { name.removeLast() }
        let names = subject.names.map(\.rawValue)
        if let field = FilterField.Name(rawValue: name), names.contains(name) {
            return .named(field)
        }
        if subject == .records, name.hasPrefix(FilterField.Name.finding.rawValue) {
            throw FilterViolation(
                column: start + 1, "'\(word)' is not known before everything was judged",
                hint: "'sallyport flows list' and 'sallyport connections' can be asked for it")
        }
        throw FilterViolation(
            column: start + 1, "unknown field '\(word)'", hint: fieldHint(name, among: names))
    }

    private func fieldHint(_ name: String, among names: [String]) -> String {
        guard name.allSatisfy({ $0.isLetter || $0 == "-" || $0 == "." }) else {
            return "put text with signs in quotes to look for it"
        }
        if let nearest = NearestName.find(name, among: names) {
            return "did you mean '\(nearest)'?"
        }
        let headers = subject.hasHeaders ? ", header:NAME" : ""
        return "\(subject.words) have \(names.joined(separator: ", "))" + headers
    }

    mutating func readCondition(
        _ field: FilterField, _ sign: String, signColumn: Int
    ) throws(FilterViolation) -> Filter.Test {
        skipSpaces()
        let value = try readValue(after: sign)
        guard field.kind == .text else {
            guard !sign.contains("~") else {
                throw FilterViolation(
                    column: signColumn,
                    "'\(field.title)' is \(field.kind.words), which goes with =, !=, <, <=, > or >="
                )
            }
            let condition = try numberCondition(field, sign, value.text, column: value.column)
            return Filter.Test(field: field, condition: condition)
        }
        guard let kind = Self.patternKinds[sign] else {
            throw FilterViolation(
                column: signColumn,
                "'\(field.title)' is text, which goes with =, !=, ~, !~, =~ or !=~")
        }
        if field == .named(.finding), kind == .glob { try checkRule(value) }
        let pattern = try pattern(value.text, kind, column: value.column + (value.isQuoted ? 1 : 0))
        let condition: Filter.Condition =
            sign.hasPrefix("!") ? .differs(pattern) : .matches(pattern)
        return Filter.Test(field: field, condition: condition)
    }

    struct Value {
        let text: String
        let column: Int
        let isQuoted: Bool
    }

    /// Reads a value and the spaces behind it.
    mutating func readValue(after sign: String) throws(FilterViolation) -> Value {
        let column = place + 1
        let isQuoted = next == "\"" || next == "'"
        let text =
            isQuoted
            ? try readQuoted() : readWord { !$0.isWhitespace && !Self.valueEnds.contains($0) }
        guard isQuoted || !text.isEmpty else {
            let isCutOff = next.map { Self.valueEnds.contains($0) } ?? false
            throw FilterViolation(
                column: column, "a value is needed after '\(sign)'",
                hint: isCutOff ? "quote a value that holds spaces or any of ( ) & |" : nil)
        }
        skipSpaces()
        return Value(text: text, column: column, isQuoted: isQuoted)
    }

    private func checkRule(_ value: Value) throws(FilterViolation) {
        guard !rules.isEmpty, !value.text.contains("*"),
            !rules.contains(where: { $0.lowercased() == value.text.lowercased() })
        else { return }
        let nearest = NearestName.find(value.text, among: rules)
        throw FilterViolation(
            column: value.column, "no rule is called '\(value.text)'",
            hint: nearest.map { "did you mean '\($0)'?" }
                ?? "'*' stands for anything; the rules are \(rules.joined(separator: ", "))")
    }

    func part(
        _ text: String, of field: FilterField, column: Int
    ) throws(FilterViolation) -> Filter.Test {
        Filter.Test(
            field: field, condition: .matches(try pattern(text, .part, column: column)))
    }

    func pattern(
        _ text: String, _ kind: TextPattern.Kind, column: Int
    ) throws(FilterViolation) -> TextPattern {
        do throws(PatternViolation) {
            return try TextPattern(text, kind)
        } catch {
            throw FilterViolation(
                column: column + error.offset, error.message,
                hint: kind == .expression ? "'~' looks for text as it is" : nil)
        }
    }

    func numberCondition(
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
        if let comparison = Filter.Comparison(rawValue: sign) {
            if field.kind == .time {
                if let span = TimeSpan(value) { return .lies(comparison, span) }
            } else if let number = field.kind.number(value) {
                return .compares(comparison, number)
            }
        }
        throw FilterViolation(
            column: column, "'\(field.title)' needs \(field.kind.example), not '\(value)'")
    }

    /// The digit of `4xx`.
    private static func statusClass(_ value: String) -> Int64? {
        guard value.count == 3, value.lowercased().hasSuffix("xx") else { return nil }
        return Int64(value.prefix(1))
    }

    private static let patternKinds: [String: TextPattern.Kind] = [
        "=": .glob, "!=": .glob, "~": .part, "!~": .part, "=~": .expression, "!=~": .expression,
    ]
    private static let sides: [String: FilterField.Side] = [
        "header": .either, "request-header": .request, "response-header": .response,
    ]
}

extension FilterField.Kind {
    /// Such as "a number".
    fileprivate var words: String {
        switch self {
        case .text: "text"
        case .number, .status, .byteCount, .duration: "a number"
        case .time: "a time"
        case .severity: "a level"
        }
    }

    fileprivate var example: String {
        switch self {
        case .text: "text"
        case .number: "a number"
        case .status: "a status like 404 or 4xx"
        case .byteCount: "a size like 512 or 10k"
        case .duration: "a duration like 200ms or 1.5s"
        case .time: "a time like 07:05, 2026-03-09 or 2026-03-09T07:05:01Z, in UTC"
        case .severity: "one of \(Severity.allCases.map(\.rawValue).joined(separator: ", "))"
        }
    }

    /// What a value stands for, `nil` if it is none of this kind.
    fileprivate func number(_ value: String) -> Int64? {
        switch self {
        case .byteCount: Quantity.byteCount(value)
        case .duration: Quantity.microseconds(value)
        case .severity: Severity(rawValue: value.lowercased())?.number
        case .number, .status, .text, .time: Int64(value)
        }
    }
}
