/// A command line that makes no sense, told with a way out.
package struct UsageFailure: Error, Equatable {
    package let message: String
    package let hint: String?
    /// Lines that show the place, printed under the message as they are.
    package let excerpt: [String]

    package init(_ message: String, hint: String? = nil, excerpt: [String] = []) {
        self.message = message
        self.hint = hint
        self.excerpt = excerpt
    }
}
