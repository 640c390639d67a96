internal import Audit
internal import Base
internal import Catalogue
internal import CommandSyntax
internal import Runs
internal import Terminal

/// The probes that an audit would show.
enum AuditList {
    /// Errors: `catalogue-invalid`, `unknown-probe`.
    static func write(
        _ options: AuditOptions, _ environment: Environment
    ) throws(Failure) -> ExitCode {
        let probes = try options.audit.selectedProbes()
        guard !options.isJSON else {
            for probe in probes {
                try environment.output.write(AuditJSON.document(probe).line + [0x0A])
            }
            return .clean
        }
        let rows = probes.map { probe in
            [
                probe.identifier, probe.profile.rawValue, probe.expectation.rawValue,
                probe.severity.rawValue, probe.title,
            ]
        }
        let widths = (0..<4).map { column in rows.map { $0[column].utf8.count }.max() ?? 0 }
        for row in rows {
            let cells = row.prefix(4).enumerated().map { column, text in
                text + String(repeating: " ", count: widths[column] - text.utf8.count)
            }
            try environment.output.write(
                (cells + [row[4]]).joined(separator: "  ") + "\n")
        }
        return .clean
    }
}
