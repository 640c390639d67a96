internal import Base
internal import HTTPModel
internal import HTTPServer
internal import TLS

/// Digests all that `open` brings, beside the event loop: other connections go on.
///
/// It ends early, with a digest that means nothing, when the task is cancelled.
func digest(
    _ algorithm: DigestAlgorithm = .sha256, _ open: @escaping @Sendable () -> any ResponseBodySource
) async throws(ResponseInterruption) -> [UInt8] {
    try await withTaskExecutorPreference(globalConcurrentExecutor) {
        () async throws(ResponseInterruption) in
        try await digestHere(algorithm, open)
    }
}

/// Runs on the executor that the task prefers: only `@concurrent` makes it hop there.
///
/// That has as many threads as the machine has processors, so other digests get their turn after
/// every piece.
@concurrent
private func digestHere(
    _ algorithm: DigestAlgorithm, _ open: @Sendable () -> any ResponseBodySource
) async throws(ResponseInterruption) -> [UInt8] {
    let source = open()
    let hash = RunningHash(algorithm)
    let buffer = ByteBuffer(capacity: pieceSize)
    while try await source.read(into: buffer) > 0, !Task.isCancelled {
        unsafe buffer.withUnsafeReadable { unsafe hash.update($0) }
        buffer.removeAll()
        await Task.yield()
    }
    return hash.finish()
}

/// In bytes: a yield costs nothing beside digesting so many, and a digest that waits holds them.
private let pieceSize = 128 << 10

/// Content that is in memory, with a tag that changes when it does.
func smallPage(
    _ contentType: String, _ bytes: [UInt8], _ configuration: ContentServerConfiguration
) -> Representation {
    let tag = EntityTag(Digests.sha256(bytes).prefix(16).hex)
    var page = Representation(
        contentType: contentType, bytes: bytes,
        validators: Validators(entityTag: tag, lastModified: nil))
    page.isCompressed = configuration.compresses && Representation.isCompressible(contentType)
    return page
}

/// Streams the SHA-256 of another source, as a line of hexadecimal.
final class DigestSource: ResponseBodySource {
    /// In bytes: 64 digits and a line feed.
    static let length: UInt64 = 65
    private let open: @Sendable () -> any ResponseBodySource
    private var line: [UInt8] = []
    private var offset = 0

    init(_ open: @escaping @Sendable () -> any ResponseBodySource) {
        self.open = open
    }

    func read(into buffer: ByteBuffer) async throws(ResponseInterruption) -> Int {
        if line.isEmpty { line = [UInt8]((try await digest(.sha256, open).hex + "\n").utf8) }
        let count = buffer.appendFitting(line, from: offset)
        offset += count
        return count
    }
}
