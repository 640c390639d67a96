internal import Audit
internal import Base

/// Writes what an audit found.
enum AuditReporting {
    /// Writes the files first: whoever reads standard output may have gone.
    ///
    /// Errors: `file-unwritable`, and those of `OutputStream`.
    static func write(
        _ report: AuditReport, _ options: AuditOptions, _ environment: Environment
    ) throws(Failure) -> ExitCode {
        if let path = options.sarif {
            try Files.overwrite(path, SARIFReport().document(report).document)
        }
        if let path = options.junit {
            let junit = JUnitReport(countsWarnings: options.failsOnWarnings)
            try Files.overwrite(path, Array(junit.text(report).utf8))
        }
        if options.isJSON {
            let document = AuditJSON.document(report, countingWarnings: options.failsOnWarnings)
            try environment.output.write(document.document)
        } else {
            try AuditText.write(
                report, countingWarnings: options.failsOnWarnings, to: environment.output,
                palette: environment.palette)
        }
        return report.verdict(countingWarnings: options.failsOnWarnings).exitCode
    }
}
