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

/// Collects lines and writes many at once.
struct LineWriter {
    let stream: OutputStream
    private var held: [UInt8] = []

    init(_ stream: OutputStream) {
        self.stream = stream
    }

    mutating func write(_ line: some Collection<UInt8>) throws(Failure) {
        held += line
        held.append(UInt8(ascii: "\n"))
        if held.count >= Self.byteLimit { try flush() }
    }

    mutating func write(_ line: String) throws(Failure) {
        try write(line.utf8)
    }

    mutating func flush() throws(Failure) {
        try stream.write(held)
        held.removeAll(keepingCapacity: true)
    }

    /// One write system call a 32 KB is cheap, and less is not felt as a delay.
    private static let byteLimit = 32 * 1024
}
