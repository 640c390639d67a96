internal import Base

/// The findings as GitLab's code quality reads them: the one form of a finding that a merge request
/// shows in every edition.
enum GitLabDocument {
    /// What is suppressed is left out, as GitLab has no word for it; what was there before is in, as
    /// GitLab compares with the target branch by itself.
    static func document(_ report: FindingsReport, source: SourceLocation) -> JSONText {
        .array(
            report.findings.filter { report.outcome.suppression(of: $0) == nil }.map { finding in
                [
                    "description": .string(
                        "\(finding.place): \(finding.rule.text.title). Fix:"
                            + " \(finding.rule.text.advice)"),
                    "check_name": .string(finding.rule.rawValue),
                    "fingerprint": .string(finding.fingerprint),
                    "severity": .string(severity(of: finding)),
                    "location": [
                        "path": .string(source.path),
                        "lines": ["begin": .integer(source.line)],
                    ],
                ]
            })
    }

    private static func severity(of finding: Finding) -> String {
        guard finding.confidence >= .firm else { return "info" }
        return switch finding.severity {
        case .critical: "blocker"
        case .high: "critical"
        case .medium: "major"
        case .low: "minor"
        case .info: "info"
        }
    }
}
