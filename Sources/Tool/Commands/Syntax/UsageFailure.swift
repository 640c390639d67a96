/// A command line that makes no sense, told with a way out.
struct UsageFailure: Error, Equatable {
    let message: String
    let hint: String?
    /// Lines that show the place, printed under the message as they are.
    let excerpt: [String]

    init(_ message: String, hint: String? = nil, excerpt: [String] = []) {
        self.message = message
        self.hint = hint
        self.excerpt = excerpt
    }
}
