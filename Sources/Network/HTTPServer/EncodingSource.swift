internal import Base
internal import HTTPCodecs

/// Streams another source as gzip.
final class GzipSource: ResponseBodySource {
    private let source: any ResponseBodySource
    private let encoder = GzipEncoder()
    private let plain = ByteBuffer(capacity: 32_768)
    /// Packed bytes that found no room yet; at most what one step of input becomes.
    private var pending: [UInt8] = []
    private var pendingStart = 0
    private var hasEnded = false

    init(_ source: any ResponseBodySource) {
        self.source = source
    }

    func read(into buffer: ByteBuffer) async throws(ResponseInterruption) -> Int {
        while pendingStart == pending.count {
            guard !hasEnded else { return 0 }
            pendingStart = 0
            let plain = plain
            if try await source.read(into: plain) > 0 {
                pending = encoder.encode(plain.readable)
                plain.removeAll()
            } else {
                hasEnded = true
                pending = encoder.finish()
            }
        }
        let count = buffer.appendFitting(pending, from: pendingStart)
        pendingStart += count
        return count
    }
}
