internal import Base
internal import Findings
internal import PublicSuffixes
internal import TLS

/// How findings are looked for, for every command that does.
struct InspectionOptions {
    var profilePath: String?
    var treatsLoopbackAsRemote = false

    /// Errors: `file-unreadable`, `profile-invalid`.
    func configuration(_ environment: Environment) throws(Failure) -> FindingsConfiguration {
        var profile: SubjectProfile?
        if let profilePath {
            profile = try SubjectProfile.parse(try environment.readFile(profilePath).text)
        }
        return FindingsConfiguration(
            profile: profile, digests: .ofOpenSSL, runKey: environment.randomBytes(32),
            registrableDomain: { PublicSuffixes.registrableDomain(of: $0) },
            treatsLoopbackAsRemote: treatsLoopbackAsRemote,
            decode: { content, codings in
                decoded(content, codings, byteLimit: CaptureInspection.contentLimit)
            })
    }
}

/// The options of every command that looks for findings.
var inspectionParameters: [Parameter<InspectionOptions>] {
    [
        .option(
            "profile", \.profilePath, .path("FILE"),
            "look for the values of the test subject in this file"),
        .flag(
            "loopback-as-remote", \.treatsLoopbackAsRemote,
            "take peers on this machine as seriously as others, for a laboratory"),
    ]
}

extension DigestFunctions {
    fileprivate static let ofOpenSSL = DigestFunctions(
        sha256: { TLS.Digests.sha256($0) }, sha1: { TLS.Digests.sha1($0) },
        md5: { TLS.Digests.md5($0) }, hmacSHA256: { TLS.Digests.hmacSHA256(key: $0, $1) })
}
