internal import Base
internal import Filters

extension ValueSyntax where Value == Filter {
    /// A filter; what is wrong with it is shown under it.
    static func filter(for subject: FilterField.Subject) -> ValueSyntax {
        ValueSyntax("FILTER") { text throws(UsageFailure) in
            do throws(FilterViolation) {
                return try FilterReader.read(text, for: subject)
            } catch {
                throw UsageFailure(
                    error.message, hint: error.hint, excerpt: error.excerpt(of: text))
            }
        }
    }
}

/// The paragraph of help that explains the language.
func filterHelp(for subject: FilterField.Subject) -> String {
    let names = subject.names.map(\.rawValue)
    switch subject {
    case .exchanges:
        return "A filter compares fields: \(inWords(names + ["header:NAME"])). Text goes with ="
            + " and != (* stands for anything) or ~ (contains), without regard to case; numbers"
            + " go with = != < <= > >=, like status=4xx, size>10k or duration>=200ms. A word of"
            + " its own is looked for in the URL. Join conditions by and, or, not (also & | !)"
            + " and parentheses; quote values that hold spaces or any of ( ) & |."
    case .connections:
        return "A filter compares fields: \(inWords(names)). Text goes with = and != (* stands"
            + " for anything) or ~ (contains), without regard to case; numbers go with"
            + " = != < <= > >=, like size>10k or duration>=200ms. A word of its own is looked for"
            + " in the host and the cause. Join conditions by and, or, not (also & | !) and"
            + " parentheses."
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
