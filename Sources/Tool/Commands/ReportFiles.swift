internal import Base
internal import Findings

/// Files for CI systems, for every command that judges.
struct ReportFiles {
    var sarif: String?
    var junit: String?

    /// Finds out before a long run whether they can be written.
    ///
    /// - Parameter capture: what they must not take the place of.
    /// - Throws: a `UsageFailure` for a path that means two files, and `file-unwritable`.
    func check(besides capture: String?) throws {
        try refuse(capture)
        for path in [sarif, junit] {
            if let path { try Files.checkReplaceable(path) }
        }
    }

    private func refuse(_ capture: String?) throws(UsageFailure) {
        for (option, path) in [("--sarif", sarif), ("--junit", junit)] {
            guard let path, let capture, path == capture || Files.isSame(path, capture) else {
                continue
            }
            throw UsageFailure("\(option): \(path) is the capture, which it would replace")
        }
        if let sarif, sarif == junit, !sarif.hasPrefix("/dev/") {
            throw UsageFailure("--sarif and --junit: one would replace the other in \(sarif)")
        }
    }

    /// Errors: `file-unwritable`.
    func write(
        sarif document: @autoclosure () -> JSONText, junit text: @autoclosure () -> String
    ) throws(Failure) {
        if let sarif { try Files.replace(sarif, document().line + [0x0A]) }
        if let junit { try Files.replace(junit, Array(text().utf8)) }
    }

    /// Writes findings.
    ///
    /// - Throws: as `check` does: a path may have become the capture since.
    func write(
        _ report: FindingsReport, capture: String, failingFrom severity: Severity
    ) throws {
        try refuse(capture)
        let version = CommandLineTool.version
        try write(
            sarif: report.sarif(toolVersion: version, capture: capture),
            junit: report.junit(
                toolVersion: version, capture: capture, failingFrom: severity))
    }
}

/// The options that name the files.
///
/// - Parameters:
///   - failures: what is written as SARIF.
///   - verdicts: what is written as JUnit XML.
func reportParameters(failures: String, verdicts: String) -> [Parameter<ReportFiles>] {
    [
        .option("sarif", \.sarif, .path("FILE"), "write \(failures) as SARIF 2.1.0"),
        .option("junit", \.junit, .path("FILE"), "write \(verdicts) as JUnit XML"),
    ]
}
