package import Base
package import HTTPCodecs

/// Streams another source in a coding.
///
/// The encoder is made with the first read: a HEAD reads nothing.
package final class EncodingSource: ResponseBodySource {
    private let source: any ResponseBodySource
    private let coding: ContentCoding
    /// Up to 2 MB, given back as soon as all is packed.
    private var encoder: ContentEncoder?
    private lazy var plain = ByteBuffer(capacity: 32_768)
    /// Packed bytes that found no room yet; at most what one step of input becomes.
    private var pending: [UInt8] = []
    private var pendingStart = 0
    private var hasEnded = false

    package init(_ source: any ResponseBodySource, _ coding: ContentCoding) {
        self.source = source
        self.coding = coding
    }

    package func read(into buffer: ByteBuffer) async throws(ResponseInterruption) -> Int {
        while pendingStart == pending.count {
            guard !hasEnded else { return 0 }
            pendingStart = 0
            pending = try await nextPiece()
        }
        let count = buffer.appendFitting(pending, from: pendingStart)
        pendingStart += count
        return count
    }

    /// Encodes pieces of one size, whatever the source's reads bring: the entity tag of what comes
    /// out is strong, so it has to be the same bytes every time.
    private func nextPiece() async throws(ResponseInterruption) -> [UInt8] {
        let plain = plain
        while plain.room > 0 {
            if try await source.read(into: plain) == 0 {
                hasEnded = true
                break
            }
        }
        let encoder = encoder ?? ContentEncoder(coding)
        let packed = encoder.encode(plain.readable)
        plain.removeAll()
        self.encoder = hasEnded ? nil : encoder
        return hasEnded ? packed + encoder.finish() : packed
    }
}
