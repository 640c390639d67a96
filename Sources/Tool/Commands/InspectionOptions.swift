internal import Base
internal import CommandSyntax
internal import Findings
internal import Runs
internal import Terminal

/// How findings are looked for, for every command that does.
struct InspectionOptions {
    var profilePath: String?
    var firstParties: [String] = []
    var manifestPaths: [String] = []
    var trackerPaths: [String] = []
    var treatsLoopbackAsRemote = false

    /// Errors: `file-unreadable`, `profile-invalid`, `manifest-invalid`, `list-invalid`.
    func configuration(_ environment: Environment) throws(Failure) -> FindingsConfiguration {
        var profile: SubjectProfile?
        if let profilePath {
            profile = try SubjectProfile.parse(try environment.readFile(profilePath).text)
        }
        var configuration = FindingsConfiguration.standard(
            profile: profile, firstParties: firstParties, runKey: environment.randomBytes(32),
            treatsLoopbackAsRemote: treatsLoopbackAsRemote)
        for path in manifestPaths {
            try configuration.declare(try environment.readFile(path), path: path)
        }
        for path in trackerPaths {
            try configuration.list(trackers: try environment.readFile(path), path: path)
        }
        return configuration
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
        .repeated(
            "privacy-manifest", \.manifestPaths, .path("FILE"),
            "compare what is sent with this PrivacyInfo.xcprivacy or Info.plist"),
        .repeated(
            "tracker-list", \.trackerPaths, .path("FILE"),
            "take the services in this list for trackers too"),
        .flag(
            "loopback-as-remote", \.treatsLoopbackAsRemote,
            "take peers on this machine as seriously as others, for a laboratory"),
    ]
}
