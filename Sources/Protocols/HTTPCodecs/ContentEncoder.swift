/// Packs content as gzip, piece by piece (RFC 1952).
///
/// The same content in the same pieces is always the same bytes: the header holds no time.
/// Not `Sendable`: one task uses it.
package final class GzipEncoder {
    private let session = DeflateSession(level: 6)
    private var isFinished = false

    package init() {}

    /// Packs `bytes` and returns what is ready, which may be nothing yet.
    package func encode(_ bytes: Span<UInt8>) -> [UInt8] {
        run(bytes, .none)
    }

    /// Returns all that is needed to unpack what was encoded so far.
    package func flush() -> [UInt8] {
        let nothing: [UInt8] = []
        return run(nothing.span, .sync)
    }

    /// Returns the rest; after it, nothing more can be encoded.
    package func finish() -> [UInt8] {
        defer { isFinished = true }
        let nothing: [UInt8] = []
        return run(nothing.span, .finish)
    }

    /// Packs content that is there as a whole.
    package static func encode(_ bytes: [UInt8]) -> [UInt8] {
        let encoder = GzipEncoder()
        return encoder.encode(bytes.span) + encoder.finish()
    }

    private func run(_ bytes: Span<UInt8>, _ flush: DeflateSession.Flush) -> [UInt8] {
        precondition(!isFinished, "the gzip stream is finished")
        var output: [UInt8] = []
        session.encode(bytes, flush, into: &output)
        return output
    }
}
