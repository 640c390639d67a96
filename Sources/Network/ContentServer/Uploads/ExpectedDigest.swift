internal import Base
internal import HTTPModel

/// A digest that a client says its content has.
struct ExpectedDigest: Sendable, Equatable {
    let algorithm: DigestAlgorithm
    let digest: [UInt8]

    init(algorithm: DigestAlgorithm, digest: [UInt8]) {
        self.algorithm = algorithm
        self.digest = digest
    }

    /// The strongest of Repr-Digest or Content-Digest that is known (RFC 9530); `nil` for none.
    init?(field: ArraySlice<UInt8>?) {
        guard let field else { return nil }
        let found = field.split(separator: UInt8(ascii: ","), maxSplits: 16).compactMap {
            Self.member($0.trimmingWhitespace)
        }
        guard let best = found.max(by: { $0.algorithm.size < $1.algorithm.size }) else {
            return nil
        }
        self = best
    }

    /// `sha-256=:<Base64>:`; what is no secure digest says nothing.
    private static func member(_ text: ArraySlice<UInt8>) -> ExpectedDigest? {
        let name = text.prefix { $0 != UInt8(ascii: "=") }
        let value = text.dropFirst(name.count + 1)
        guard let algorithm = DigestAlgorithm(rawValue: name.text),
            algorithm == .sha256 || algorithm == .sha512, value.count > 2,
            value.first == UInt8(ascii: ":"), value.last == UInt8(ascii: ":"),
            let digest = Base64.decode(value.dropFirst().dropLast()),
            digest.count == algorithm.size
        else { return nil }
        return ExpectedDigest(algorithm: algorithm, digest: digest)
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
