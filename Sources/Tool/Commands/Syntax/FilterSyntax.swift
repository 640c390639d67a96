internal import Base
internal import CommandSyntax
internal import Filters
internal import Findings
internal import Terminal

extension ValueSyntax where Value == Filter {
    /// A filter; what is wrong with it is shown under it.
    static func filter(for subject: FilterField.Subject) -> ValueSyntax {
        ValueSyntax("FILTER") { text throws(UsageFailure) in
            do throws(FilterViolation) {
                return try FilterReader.read(
                    text, for: subject, rules: RuleID.allCases.map(\.rawValue))
            } catch {
                throw UsageFailure(
                    error.message, hint: error.hint, excerpt: error.excerpt(of: text))
            }
        }
    }
}

/// The paragraph of help that explains the language.
func filterHelp(for subject: FilterField.Subject) -> String {
    let headers = subject == .exchanges || subject == .records ? ["header:NAME"] : []
    let place =
        switch subject {
        case .exchanges: "in the URL"
        case .connections: "in the host and the cause"
        case .messages: "in the content"
        case .records: "in the URL, or in the host and the cause"
        }
    return "A filter compares fields: \(inWords(subject.names.map(\.rawValue) + headers)). Text"
        + " goes with = and != (* stands for anything), ~ and !~ (contains), =~ and !=~ (regular"
        + " expression), without regard to case; numbers, times and levels go with"
        + " = != < <= > >=, like \(examples(for: subject)). A word of its own is looked for"
        + " \(place). Join conditions by and, or, not (also & | !) and parentheses; quote values"
        + " that hold spaces or any of ( ) & |. 'sallyport help filters' tells more."
}

private func examples(for subject: FilterField.Subject) -> String {
    switch subject {
    case .exchanges, .records: "status=4xx, size>10k, duration>=200ms or time>=07:05"
    case .connections: "size>10k, duration>=200ms or time>=07:05"
    case .messages: "size>10k or time>=07:05"
    }
}

extension FilterViolation {
    /// The filter with a caret under the place.
    func excerpt(of filter: String) -> [String] {
        let before = TerminalText.sanitized(String(filter.prefix(column - 1)))
        let margin = String(repeating: " ", count: TerminalText.width(before))
        return ["  " + TerminalText.sanitized(filter), "  " + margin + "^"]
    }
}
