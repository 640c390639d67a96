internal import Base
internal import HTTPServer
internal import TLS

/// One field with one digest.
struct DigestField: Sendable {
    enum Name: String, Sendable {
        case representation = "Repr-Digest"
        case content = "Content-Digest"
        case legacy = "Digest"
    }

    let name: Name
    let algorithm: DigestAlgorithm
    /// Whether it speaks of what the message holds, and not of the whole representation.
    let isOfContent: Bool

    static func all(_ wanted: WantedDigests) -> [DigestField] {
        let isOfPart = wanted.lie == .part
        return [
            wanted.representation.map { DigestField(.representation, $0, isOfContent: isOfPart) },
            wanted.content.map { DigestField(.content, $0, isOfContent: true) },
            wanted.legacy.map { DigestField(.legacy, $0, isOfContent: isOfPart) },
        ].compactMap { $0 }
    }

    private init(_ name: Name, _ algorithm: DigestAlgorithm, isOfContent: Bool) {
        self.name = name
        self.algorithm = algorithm
        self.isOfContent = isOfContent
    }

    /// The field as it is sent (RFC 9530 §2, RFC 3230 §4.3.2).
    func text(_ digest: [UInt8], _ lie: DigestLie?) -> ResponseField {
        var digest = digest
        if lie == .wrong { digest[0] ^= 0x80 }
        let value = lie == .malformed ? "!" : Base64.encode(digest)
        return switch name {
        case .representation, .content:
            ResponseField(name.rawValue, "\(algorithm.rawValue)=:\(value):")
        case .legacy:
            ResponseField(name.rawValue, "\(algorithm.rawValue.uppercased())=\(value)")
        }
    }
}

/// Streams another source and digests what it brings: the digests follow as trailers.
final class TrailingDigests: ResponseBodySource {
    private let source: any ResponseBodySource
    private let fields: [DigestField]
    private let lie: DigestLie?
    private let finished: (DigestAlgorithm, [UInt8]) -> Void
    private var hashes: [DigestAlgorithm: RunningHash] = [:]
    private var digests: [DigestAlgorithm: [UInt8]] = [:]

    /// - Parameter finished: called for each algorithm when the source has ended.
    init(
        _ source: any ResponseBodySource, _ fields: [DigestField], _ lie: DigestLie?,
        finished: @escaping (DigestAlgorithm, [UInt8]) -> Void
    ) {
        self.source = source
        self.fields = fields
        self.lie = lie
        self.finished = finished
        for field in fields where hashes[field.algorithm] == nil {
            hashes[field.algorithm] = RunningHash(field.algorithm)
        }
    }

    func read(into buffer: ByteBuffer) async throws(ResponseInterruption) -> Int {
        let count = try await source.read(into: buffer)
        if count > 0 {
            for hash in hashes.values {
                unsafe buffer.withUnsafeReadable {
                    unsafe hash.update(UnsafeRawBufferPointer(rebasing: $0.suffix(count)))
                }
            }
        } else {
            for (algorithm, hash) in hashes {
                let digest = hash.finish()
                digests[algorithm] = digest
                finished(algorithm, digest)
            }
            hashes = [:]
        }
        return count
    }

    var trailers: [ResponseField] {
        source.trailers
            + fields.compactMap { field in
                digests[field.algorithm].map { field.text($0, lie) }
            }
    }
}
