internal import Audit
internal import Base
internal import Catalogue

/// Writes what an audit found.
enum AuditReporting {
    static func write(
        _ report: AuditReport, _ options: AuditOptions, _ environment: Environment
    ) throws(Failure) -> ExitCode {
        for r in report.results {
            try environment.output.write("\(r.destination) \(r.probe.identifier) \(r.outcome.rawValue) \(r.verdict.rawValue) \(r.evidence)\n")
        }
        return .clean
    }
}
