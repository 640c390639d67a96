package import Base

/// Where a command writes to: its result or its talk.
package struct OutputStream: Sendable {
    package let isTerminal: Bool
    /// How many columns the terminal shows, `nil` if it is none or does not say.
    package let columns: Int?
    private let take: @Sendable ([UInt8]) throws(Failure) -> Void

    /// - Parameter take: writes all of the bytes. Errors: `output-closed` if nobody reads any more,
    ///   `output-failed`.
    package init(
        isTerminal: Bool, columns: Int?,
        take: @escaping @Sendable ([UInt8]) throws(Failure) -> Void
    ) {
        self.isTerminal = isTerminal
        self.columns = columns
        self.take = take
    }

    package func write(_ bytes: [UInt8]) throws(Failure) {
        guard !bytes.isEmpty else { return }
        try take(bytes)
    }

    package func write(_ text: String) throws(Failure) {
        try write([UInt8](text.utf8))
    }
}
