internal import Base
internal import CommandSyntax
internal import Findings
internal import Runs
internal import Terminal

/// What becomes of findings, for every command that fails on them.
struct JudgingOptions {
    var policyPath: String?
    var baselinePath: String?
    var leastSeverity: Severity?
    var isVerbose = false

    /// Errors: `file-unreadable`, `profile-invalid`, `policy-invalid`, `baseline-invalid`.
    func configuration(
        _ inspection: InspectionOptions, _ environment: Environment
    ) throws -> FindingsConfiguration {
        var policy = try policy(environment) ?? FindingsPolicy()
        var inspection = inspection
        if inspection.profilePath == nil { inspection.profilePath = policy.profileFile }
        inspection.firstParties += policy.firstParties
        var configuration = try inspection.configuration(environment)
        try policy.check(against: configuration.profile)
        if let leastSeverity { policy.gate.standard = FindingsGate.Level(leastSeverity) }
        configuration.policy = policy
        if let baselinePath {
            configuration.baseline = try Baseline(
                try environment.readFile(baselinePath), path: baselinePath)
        }
        return configuration
    }

    private func policy(_ environment: Environment) throws -> FindingsPolicy? {
        let now = environment.now()
        if let policyPath {
            return try FindingsPolicy(
                try environment.readFile(policyPath), path: Files.relative(policyPath), now: now)
        }
        guard let (path, bytes) = try environment.projectPolicy() else { return nil }
        let policy = try FindingsPolicy(bytes, path: path, now: now)
        if let file = policy.profilePath, !ConfigurationFile.isInside(file) || Files.hasLink(file) {
            throw UsageFailure(
                "\(path): the profile '\(file)' has to be a path inside the project's folder",
                hint: "type it: --profile FILE")
        }
        // Who runs a gate has to know that a file of the project decided what it says.
        try environment.note("\(path) is applied: \(policy.summary)")
        return policy
    }
}

/// The options of every command that fails on findings.
var judgingParameters: [Parameter<JudgingOptions>] {
    [
        .option(
            "fail-on", \.leastSeverity, .choice("LEVEL"), standard: "high",
            "the least severity that fails"),
        .option(
            "policy", \.policyPath, .path("FILE"), standard: "sallyport.policy",
            "what fails, what has to be seen, and what is accepted, and why"),
        .option(
            "baseline", \.baselinePath, .path("FILE"), "let only what is not in this file fail"),
        .flag("verbose", \.isVerbose, "list mild and accepted findings too, with fingerprints"),
    ]
}
