internal import Base

/// Streams another source through an encoder.
final class EncodedSource: ResponseBodySource {
    private let source: any ResponseBodySource
    private let encoder: any BodyEncoder
    private let plain = ByteBuffer(capacity: 16_384)
    /// Encoded bytes that found no room yet; at most what one step of input becomes.
    private var pending: [UInt8] = []
    private var pendingStart = 0
    private var hasEnded = false

    init(_ source: any ResponseBodySource, encoder: any BodyEncoder) {
        self.source = source
        self.encoder = encoder
    }

    func read(into buffer: ByteBuffer) async throws(ResponseInterruption) -> Int {
        while pendingStart == pending.count {
            guard !hasEnded else { return 0 }
            pendingStart = 0
            pending = try await nextPiece()
        }
        let count = buffer.appendFitting(pending, from: pendingStart)
        pendingStart += count
        return count
    }

    private func nextPiece() async throws(ResponseInterruption) -> [UInt8] {
        let count = try await source.read(into: plain)
        do {
            guard count > 0 else {
                hasEnded = true
                return try encoder.finish()
            }
            let piece = plain.copy
            plain.removeAll()
            return try encoder.compress(piece)
        } catch {
            throw ResponseInterruption(.close, cause: error)
        }
    }
}
