/// What a ClientHello lacks, or offers and should not; the raw values are shown.
package enum OfferFlaw: String, Sendable, CaseIterable {
    case namesNoHost = "the client names no host"
    case namesAnotherHost = "the client names another host than it asked the proxy for"
    case md5Signatures = "takes signatures with MD5"
    case sha1Signatures = "takes signatures with SHA-1"
    case dsaSignatures = "takes signatures with DSA"
    case noSignatureAlgorithms = "says nothing of signatures, which stands for SHA-1"
    case compression = "offers to compress what it encrypts"
    case noRenegotiationInfo = "does not bind renegotiations to what was before"
    case heartbeat = "offers heartbeats"
    case noExtendedMasterSecret = "does not offer extended_master_secret"
    case noApplications = "speaks HTTP and does not name its versions (ALPN)"
    case refusedWhereOthersWereTaken =
        "it refused our certificate here, and took those for other hosts"
}
