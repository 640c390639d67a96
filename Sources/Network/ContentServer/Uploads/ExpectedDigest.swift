internal import Base
internal import Contents
internal import HTTPModel

/// A digest that a client says its content has.
struct ExpectedDigest: Sendable, Equatable {
    let algorithm: DigestAlgorithm
    let digest: [UInt8]

    init(algorithm: DigestAlgorithm, digest: [UInt8]) {
        self.algorithm = algorithm
        self.digest = digest
    }

    /// Those of Content-Digest that are secure (RFC 9530 §5); others say nothing.
    ///
    /// Errors: 400 for two of one algorithm.
    static func content(_ fields: Fields) throws(UploadRefusal) -> [ExpectedDigest] {
        try joined([], secure(.content, fields.all(named: "content-digest")))
    }

    /// Those of Repr-Digest that are secure, beside what was wanted before.
    ///
    /// Errors: 400 for two of one algorithm.
    static func representation(
        _ fields: Fields, beside known: [ExpectedDigest] = []
    ) throws(UploadRefusal) -> [ExpectedDigest] {
        try joined(known, secure(.representation, fields.all(named: "repr-digest")))
    }

    private static func secure(
        _ field: ClaimedDigest.Field, _ lines: [ArraySlice<UInt8>]
    ) -> [ExpectedDigest] {
        ClaimedDigest.read(field, lines).compactMap { claim in
            guard case .hash(let algorithm) = claim.algorithm,
                algorithm == .sha256 || algorithm == .sha512
            else { return nil }
            return ExpectedDigest(algorithm: algorithm, digest: claim.bytes)
        }
    }

    private static func joined(
        _ known: [ExpectedDigest], _ told: [ExpectedDigest]
    ) throws(UploadRefusal) -> [ExpectedDigest] {
        var all = known
        for digest in told where !all.contains(digest) {
            guard !all.contains(where: { $0.algorithm == digest.algorithm }) else {
                throw UploadRefusal(
                    400,
                    "two \(digest.algorithm.rawValue) digests were told, and nothing has both")
            }
            all.append(digest)
        }
        return all
    }

    /// `sha-256 <hexadecimal>`
    var text: String { "\(algorithm.rawValue) \(digest.hex)" }

    /// Upload-Checksum of tus: `sha1 <Base64>`; `nil` for what nobody can check.
    init?(checksum field: ArraySlice<UInt8>) {
        let words = field.split(separator: 0x20)
        guard words.count == 2, let algorithm = Self.checksums[words[0].text],
            let digest = Base64.decode(words[1]), digest.count == algorithm.size
        else { return nil }
        self.init(algorithm: algorithm, digest: digest)
    }

    static let checksums: [String: DigestAlgorithm] = [
        "md5": .md5, "sha1": .sha1, "sha256": .sha256, "sha512": .sha512,
    ]
}
