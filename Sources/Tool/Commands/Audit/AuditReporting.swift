internal import Audit
internal import Base

/// Writes what an audit found, for people and for machines.
enum AuditReporting {
    /// Errors: `file-unwritable`.
    static func write(
        _ report: AuditReport, _ options: AuditOptions, _ environment: Environment
    ) throws(Failure) -> ExitCode {
        if let path = options.sarif {
            try Files.replace(path, SARIFReport().document(report).line + [0x0A])
        }
        if let path = options.junit {
            let junit = JUnitReport(countsWarnings: options.failsOnWarnings)
            try Files.replace(path, Array(junit.text(report).utf8))
        }
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
