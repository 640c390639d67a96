internal import Base

/// Takes lines apart, which end with a line feed, and holds no more than one and what came with it.
struct DaemonLines {
    private var bytes: [UInt8] = []
    /// Where the next line begins, and up to where there is no end of it.
    private var start = 0
    private var searched = 0

    mutating func append(_ more: [UInt8]) {
        bytes.removeFirst(start)
        searched -= start
        start = 0
        bytes += more
    }

    /// The next line without its end; `nil` until there is a whole one.
    ///
    /// Errors: `line-too-long`.
    mutating func next() throws(Failure) -> [UInt8]? {
        let end = bytes[searched...].firstIndex(of: UInt8(ascii: "\n"))
        guard (end ?? bytes.count) - start <= Self.lineLimit else {
            throw Failure(
                "line-too-long", party: .client,
                "a line is longer than \(Self.lineLimit) bytes")
        }
        guard let end else {
            searched = bytes.count
            return nil
        }
        defer {
            start = end + 1
            searched = start
        }
        return Array(bytes[start..<end])
    }

    /// Whether nothing of a line has come.
    var isEmpty: Bool { start == bytes.count }

    /// In bytes, without its end.
    static let lineLimit = 64 << 10
}
