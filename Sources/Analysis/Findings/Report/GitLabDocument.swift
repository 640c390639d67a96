internal import Base

/// The findings as GitLab's code quality reads them: the one form of a finding that a merge request
/// shows in every edition.
enum GitLabDocument {
    /// What is suppressed is left out, as GitLab has no word for it; what was there before is in, as
    /// GitLab compares with the target branch by itself.
    ///
    /// - Parameter reasons: why enough was not seen; an empty list would look like a good one.
    static func document(
        _ report: FindingsReport, source: SourceLocation, reasons: [String]
    ) -> JSONText {
        let found = report.findings.filter { report.outcome.suppression(of: $0) == nil }.map {
            issue(
                $0.rule.rawValue,
                "\($0.place): \($0.rule.text.title). Fix: \($0.rule.text.advice)",
                fingerprint: $0.fingerprint, severity: severity(of: $0), at: source)
        }
        let unseen = reasons.map {
            issue(
                "inconclusive", "inconclusive: \($0)", fingerprint: "inconclusive: \($0)",
                severity: "major", at: source)
        }
        return .array(found + unseen)
    }

    private static func issue(
        _ check: String, _ description: String, fingerprint: String, severity: String,
        at source: SourceLocation
    ) -> JSONText {
        [
            "description": .string(description),
            "check_name": .string(check),
            "fingerprint": .string(fingerprint),
            "severity": .string(severity),
            "location": [
                "path": .string(source.path), "lines": ["begin": .integer(source.line)],
            ],
        ]
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
