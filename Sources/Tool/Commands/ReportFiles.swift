internal import Base
internal import Findings

/// Files for CI systems, for every command that judges.
struct ReportFiles {
    var sarif: String?
    var junit: String?

    /// Finds out before a long run whether they can be written.
    ///
    /// Errors: `file-unwritable`.
    func check() throws(Failure) {
        for path in [sarif, junit] {
            if let path { try Files.checkReplaceable(path) }
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
    /// Errors: `file-unwritable`.
    func write(
        _ report: FindingsReport, capture: String, failingFrom severity: Severity
    ) throws(Failure) {
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
