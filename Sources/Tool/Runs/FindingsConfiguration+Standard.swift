package import Findings
internal import PublicSuffixes
internal import TLS

extension FindingsConfiguration {
    /// How findings are looked for: with OpenSSL's digests and the system's list of public suffixes.
    ///
    /// - Parameter runKey: 32 bytes that nobody can foresee.
    package static func standard(
        profile: SubjectProfile?, firstParties: [String] = [], runKey: [UInt8],
        treatsLoopbackAsRemote: Bool = false
    ) -> FindingsConfiguration {
        var configuration = FindingsConfiguration(
            profile: profile, digests: .ofOpenSSL, runKey: runKey,
            registrableDomain: { PublicSuffixes.registrableDomain(of: $0) },
            treatsLoopbackAsRemote: treatsLoopbackAsRemote)
        configuration.firstParties = firstParties
        return configuration
    }
}

extension DigestFunctions {
    fileprivate static let ofOpenSSL = DigestFunctions(
        sha256: { TLS.Digests.sha256($0) }, sha1: { TLS.Digests.sha1($0) },
        md5: { TLS.Digests.md5($0) }, hmacSHA256: { TLS.Digests.hmacSHA256(key: $0, $1) })
}
