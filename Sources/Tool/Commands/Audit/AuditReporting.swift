internal import Audit
internal import Base

/// Writes what an audit found, for people and for machines.
enum AuditReporting {
    /// Errors: `file-unwritable`.
    static func write(
        _ report: AuditReport, _ options: AuditOptions, _ environment: Environment
    ) throws(Failure) -> ExitCode {
        try options.files.write(
            sarif: SARIFReport().document(report),
            junit: JUnitReport(countsWarnings: options.failsOnWarnings).text(report))
        if options.isJSON {
            let document = AuditJSON.document(report, countingWarnings: options.failsOnWarnings)
            try environment.output.write(document.line + [0x0A])
        } else {
            try AuditText.write(
                report, countingWarnings: options.failsOnWarnings, to: environment.output,
                palette: environment.palette)
        }
        return report.verdict(countingWarnings: options.failsOnWarnings).exitCode
    }
}
