/// Where and why a filter cannot be read.
package struct FilterViolation: Error, Equatable {
    /// In characters, from 1.
    package let column: Int
    package let message: String
    package let hint: String?

    package init(column: Int, _ message: String, hint: String? = nil) {
        self.column = column
        self.message = message
        self.hint = hint
    }
}
