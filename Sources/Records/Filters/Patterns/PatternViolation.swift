/// Where and why a regular expression cannot be read.
struct PatternViolation: Error, Equatable {
    /// In characters, from 0.
    let offset: Int
    let message: String

    init(_ offset: Int, _ message: String) {
        self.offset = offset
        self.message = message
    }
}
