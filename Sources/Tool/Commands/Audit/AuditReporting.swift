internal import Audit
internal import Base
internal import CommandSyntax
internal import Findings
internal import Presentation
internal import Terminal

/// Writes what an audit found, for people and for machines.
enum AuditReporting {
    /// - Throws: as `ReportFiles.write` does.
    static func write(
        _ report: AuditReport, _ options: AuditOptions, _ environment: Environment
    ) throws -> ExitCode {
        let document = AuditJSON.document(report, countingWarnings: options.failsOnWarnings)
        try options.files.write(besides: report.capturePath, environment) { format in
            switch format {
            case .sarif: SARIFReport().document(report).line + [0x0A]
            case .junit:
                Array(JUnitReport(countsWarnings: options.failsOnWarnings).text(report).utf8)
            default: document.line + [0x0A]
            }
        }
        if options.isJSON {
            try environment.output.write(document.line + [0x0A])
        } else {
            try AuditText.write(
                report, countingWarnings: options.failsOnWarnings, to: environment.output,
                palette: environment.console.palette)
        }
        return report.verdict(countingWarnings: options.failsOnWarnings).exitCode
    }
}
