internal import Base
internal import HTTPModel
internal import HTTPServer
internal import TLS

/// Digests all that `open` brings, beside the event loop: other connections go on.
///
/// - Parameter outlivesClient: whether it goes on when the client has gone, for what is kept.
///
/// Errors: what the source throws; `digest-unwanted` once the client has gone, or the task is
/// cancelled.
func digest(
    _ algorithm: DigestAlgorithm = .sha256, outlivesClient: Bool = false,
    _ open: @escaping @Sendable () -> any ResponseBodySource
) async throws(ResponseInterruption) -> [UInt8] {
    let presence = outlivesClient ? nil : ClientPresence.current
    return try await withTaskExecutorPreference(globalConcurrentExecutor) {
        () async throws(ResponseInterruption) in
        try await digestHere(algorithm, for: presence, open)
    }
}

/// Runs on the executor that the task prefers: only `@concurrent` makes it hop there.
///
/// That has as many threads as the machine has processors, so other digests get their turn after
/// every piece.
@concurrent
private func digestHere(
    _ algorithm: DigestAlgorithm, for presence: ClientPresence?,
    _ open: @Sendable () -> any ResponseBodySource
) async throws(ResponseInterruption) -> [UInt8] {
    let source = open()
    let hash = RunningHash(algorithm)
    let buffer = ByteBuffer(capacity: pieceSize)
    while try await source.read(into: buffer) > 0 {
        guard !Task.isCancelled, presence?.isGone != true else {
            throw ResponseInterruption(
                .reset,
                cause: Failure("digest-unwanted", party: .client, "nobody waits for the digest"))
        }
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
    /// Held until the digest is made; `nil` for one that takes little time.
    private var slot: DigestSlot?
    private var line: [UInt8] = []
    private var offset = 0

    init(_ slot: DigestSlot?, _ open: @escaping @Sendable () -> any ResponseBodySource) {
        self.slot = slot
        self.open = open
    }

    func read(into buffer: ByteBuffer) async throws(ResponseInterruption) -> Int {
        if line.isEmpty {
            line = [UInt8]((try await digest(.sha256, open).hex + "\n").utf8)
            slot = nil
        }
        let count = buffer.appendFitting(line, from: offset)
        offset += count
        return count
    }
}
