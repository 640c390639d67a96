/// Where and why a filter cannot be read.
struct FilterViolation: Error, Equatable {
    /// In characters, from 1.
    let column: Int
    let message: String
    let hint: String?

    init(column: Int, _ message: String, hint: String? = nil) {
        self.column = column
        self.message = message
        self.hint = hint
    }

    /// The filter with a caret under the place.
    func excerpt(of filter: String) -> [String] {
        let before = TerminalText.sanitized(String(filter.prefix(column - 1)))
        let margin = String(repeating: " ", count: TerminalText.width(before))
        return ["  " + TerminalText.sanitized(filter), "  " + margin + "^"]
    }
}
