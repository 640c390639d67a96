internal import TLS

/// The hash of a suite, and the keys that TLS derives with it.
enum KeyHash: Sendable {
    case sha256
    case sha384

    /// In bytes.
    var length: Int { self == .sha256 ? 32 : 48 }

    func authenticate(key: [UInt8], _ bytes: [UInt8]) -> [UInt8] {
        switch self {
        case .sha256: Digests.hmacSHA256(key: key, bytes)
        case .sha384: Digests.hmacSHA384(key: key, bytes)
        }
    }

    /// HKDF-Expand-Label with no context (RFC 8446 §7.1), of at most one block of the hash.
    func expand(_ secret: [UInt8], _ label: String, count: Int) -> [UInt8] {
        precondition(count <= length, "more than one block")
        let label = [UInt8]("tls13 \(label)".utf8)
        let info = [0, UInt8(count), UInt8(label.count)] + label + [0]
        // RFC 5869 §2.3: the first block ends with a 1.
        return [UInt8](authenticate(key: secret, info + [1]).prefix(count))
    }

    /// The pseudorandom function of TLS 1.2 (RFC 5246 §5).
    func stretch(_ secret: [UInt8], _ label: String, seed: [UInt8], count: Int) -> [UInt8] {
        let seed = [UInt8](label.utf8) + seed
        var result: [UInt8] = []
        var round = seed
        while result.count < count {
            round = authenticate(key: secret, round)
            result += authenticate(key: secret, round + seed)
        }
        return [UInt8](result.prefix(count))
    }
}
