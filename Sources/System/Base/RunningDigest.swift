/// A digest that is fed in pieces; brought from outside to what is pure, since it comes from a C
/// library.
package protocol RunningDigest: AnyObject {
    func update(_ bytes: [UInt8])
    /// The digest of all that was fed; nothing may follow.
    func finish() -> [UInt8]
}

/// The digests that messages are sent with; the raw values are the names in their fields
/// (RFC 9530 §7.2).
package enum DigestAlgorithm: String, Sendable, CaseIterable {
    case md5
    case sha1 = "sha"
    case sha256 = "sha-256"
    case sha512 = "sha-512"

    /// In bytes.
    package var size: Int {
        switch self {
        case .md5: 16
        case .sha1: 20
        case .sha256: 32
        case .sha512: 64
        }
    }
}
