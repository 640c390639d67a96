internal import Base
internal import Findings
internal import Runs

/// How findings are looked for, for every command that does.
struct InspectionOptions {
    var profilePath: String?
    var firstParties: [String] = []
    var treatsLoopbackAsRemote = false

    /// Errors: `file-unreadable`, `profile-invalid`.
    func configuration(_ environment: Environment) throws(Failure) -> FindingsConfiguration {
        var profile: SubjectProfile?
        if let profilePath {
            profile = try SubjectProfile.parse(try environment.readFile(profilePath).text)
        }
        return .standard(
            profile: profile, firstParties: firstParties, runKey: environment.randomBytes(32),
            treatsLoopbackAsRemote: treatsLoopbackAsRemote)
    }
}

/// The options of every command that looks for findings.
var inspectionParameters: [Parameter<InspectionOptions>] {
    [
        .option(
            "profile", \.profilePath, .path("FILE"),
            "look for the values of the test subject in this file"),
        .repeated(
            "first-party", \.firstParties, .text("DOMAIN"),
            "a domain of the subject's own services; else they are guessed"),
        .flag(
            "loopback-as-remote", \.treatsLoopbackAsRemote,
            "take peers on this machine as seriously as others, for a laboratory"),
    ]
}
