internal import Base
internal import CommandSyntax
internal import Findings
internal import Terminal

/// Files for CI systems, for every command that judges.
struct ReportFiles {
    var paths: [ReportFormat: String] = [:]
    /// Whether GitHub Actions is told as well.
    var tellsGitHub = false

    private var named: [(option: String, format: ReportFormat, path: String)] {
        ReportFormat.allCases.compactMap { format in
            paths[format].map { ("--\(format.rawValue)", format, $0) }
        }
    }

    /// Finds out before a long run whether they can be written.
    ///
    /// - Parameter capture: what they must not take the place of.
    /// - Throws: a `UsageFailure` for a path that means two files, and `file-unwritable`.
    func check(besides capture: String?) throws {
        try refuse(capture)
        for (_, _, path) in named { try Files.checkReplaceable(path) }
    }

    private func refuse(_ capture: String?) throws(UsageFailure) {
        var known: [(option: String, path: String)] = []
        for (option, _, path) in named {
            if let capture, path == capture || Files.isSame(path, capture) {
                throw UsageFailure("\(option): \(path) is the capture, which it would replace")
            }
            if let other = known.first(where: { $0.path == path }), !path.hasPrefix("/dev/") {
                throw UsageFailure(
                    "\(other.option) and \(option): one would replace the other in \(path)")
            }
            known.append((option, path))
        }
    }

    /// Writes those that are asked for.
    ///
    /// - Throws: as `check` does: a path may have become the capture since.
    func write(
        besides capture: String?, _ environment: Environment,
        _ document: (ReportFormat) -> [UInt8]
    ) throws {
        try refuse(capture)
        for (_, format, path) in named { try Files.replace(path, document(format)) }
        guard tellsGitHub else { return }
        try environment.diagnostics.write(document(.annotations))
        if let path = environment.variables["GITHUB_STEP_SUMMARY"], !path.isEmpty {
            try Files.append(path, document(.summary), followsLinks: true)
        }
    }
}

/// The options that name the files.
///
/// - Parameters:
///   - formats: those that the command can write.
///   - failures: what is written as SARIF.
///   - verdicts: what is written as JUnit XML.
func reportParameters(
    _ formats: [ReportFormat], failures: String, verdicts: String
) -> [Parameter<ReportFiles>] {
    formats.map { format in
        let summary: String
        switch format {
        case .json: summary = "write the report as JSON"
        case .sarif: summary = "write \(failures) as SARIF 2.1.0"
        case .junit: summary = "write \(verdicts) as JUnit XML"
        case .gitlab: summary = "write \(failures) as GitLab's code quality"
        case .html: summary = "write \(failures) as a page that needs nothing else"
        case .baseline:
            summary = "write what was found, for --baseline; with it, what is left of it"
        case .annotations, .summary:
            return .flag(
                "github", \.tellsGitHub,
                "in GitHub Actions, annotate the run and add to its summary")
        }
        return .option(format.rawValue, \.paths[format], .path("FILE"), summary)
    }
}
