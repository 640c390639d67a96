/// Packs content piece by piece in one coding.
///
/// The same content in the same pieces is always the same bytes, whatever the time and the
/// machine. Not `Sendable`: one task uses it.
package final class ContentEncoder {
    private let session: any EncodingSession
    private var isFinished = false

    package init(_ coding: ContentCoding) {
        session =
            switch coding {
            case .gzip: DeflateSession(level: 6)
            case .deflate: DeflateSession(level: 6, .zlib)
            case .brotli: BrotliEncodingSession()
            case .zstd: ZstdEncodingSession()
            }
    }

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
    package static func encode(_ bytes: [UInt8], _ coding: ContentCoding = .gzip) -> [UInt8] {
        let encoder = ContentEncoder(coding)
        return encoder.encode(bytes.span) + encoder.finish()
    }

    private func run(_ bytes: Span<UInt8>, _ flush: EncodingFlush) -> [UInt8] {
        precondition(!isFinished, "the packed stream is finished")
        var output: [UInt8] = []
        session.encode(bytes, flush, into: &output)
        return output
    }
}

/// One coding's encoder: plain bytes go in, packed ones come out.
protocol EncodingSession: AnyObject {
    /// Takes all of `input` and appends what comes out to `output`.
    func encode(_ input: Span<UInt8>, _ flush: EncodingFlush, into output: inout [UInt8])
}

/// How much of what went in must come out.
enum EncodingFlush {
    case none
    /// All that went in can be unpacked from what came out.
    case sync
    case finish
}
