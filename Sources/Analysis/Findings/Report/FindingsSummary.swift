internal import Base

/// What every report for people says of the whole.
enum FindingsSummary {
    static func text(_ report: FindingsReport) -> String {
        let counts = counts(report.findings.filter { $0.state == .open })
        let others = report.findings.count { $0.state != .open }
        let nothing = others > 0 ? "no findings that count" : "no findings"
        var text = counts.isEmpty ? nothing : "findings: \(counts)"
        if others > 0 { text += "; \(others) accepted" }
        let coverage = report.coverage
        text +=
            "; looked at " + Quantity.text(coverage.exchanges, "exchange")
            + " on " + Quantity.text(coverage.connections, "connection")
        if coverage.missingHeads > 0 {
            text += ", \(coverage.missingHeads) without a recorded head and not judged"
        }
        if coverage.messages > 0 { text += ", " + Quantity.text(coverage.messages, "message") }
        if coverage.clientRefused > 0 { text += ", \(coverage.clientRefused) refused by clients" }
        if coverage.originFailed > 0 { text += ", \(coverage.originFailed) without their origin" }
        if coverage.truncatedBodies > 0 {
            text += ", " + bodies(coverage.truncatedBodies) + " in part"
        }
        if coverage.partlyReadBodies > 0 {
            text += ", " + bodies(coverage.partlyReadBodies)
            text += " not looked into to the end"
        }
        if coverage.broken > 0 { text += ", \(coverage.broken) broken off" }
        if coverage.timedOut > 0 { text += ", \(coverage.timedOut) timed out" }
        return text
    }

    private static func bodies(_ count: Int) -> String {
        count == 1 ? "1 body" : "\(count) bodies"
    }

    /// Such as `1 critical, 2 medium`; empty for none.
    static func counts(_ findings: [Finding]) -> String {
        Severity.allCases.reversed().compactMap { severity -> String? in
            let count = findings.count { $0.severity == severity }
            return count == 0 ? nil : "\(count) \(severity.rawValue)"
        }.joined(separator: ", ")
    }

    /// What a policy and a baseline took out of the verdict, what of them is not needed, and what was
    /// guessed.
    static func remarks(_ report: FindingsReport) -> [String] {
        let outcome = report.outcome
        var lines: [String] = []
        for (index, suppression) in outcome.suppressions.enumerated() {
            let found = report.findings.filter { $0.state == .suppressed(by: index) }
            guard !found.isEmpty else { continue }
            lines.append(
                "suppressed: \(counts(found)) by \(outcome.path):\(suppression.line)"
                    + " (\(suppression.justification))")
        }
        if let baseline = outcome.baseline {
            let known = report.findings.filter { $0.state == .known }
            if !known.isEmpty { lines.append("known: \(counts(known)) in \(baseline.path)") }
            for entry in baseline.unseen.prefix(lineLimit) {
                lines.append("not seen this time: \(entry.fingerprint) \(entry.title)")
            }
            let more = baseline.unseen.count - lineLimit
            if more > 0 { lines.append("not seen this time: \(more) more of \(baseline.path)") }
            if !baseline.unseen.isEmpty {
                lines.append(
                    "    (what is fixed leaves the baseline with --write-baseline \(baseline.path))"
                )
            }
        }
        if report.firstParties.isGuessed, report.findings.contains(where: \.dependsOnParty),
            let name = report.firstParties.names.first
        {
            lines.append("first party: \(name), as far as that can be guessed (--first-party)")
        }
        for suppression in outcome.expired {
            lines.append(
                "expired: \(outcome.path):\(suppression.line): \(suppression.subject)"
                    + " (\(suppression.justification)): renew it or take it out")
        }
        for suppression in outcome.unused {
            lines.append(
                "not needed: \(outcome.path):\(suppression.line): \(suppression.subject):"
                    + " nothing was found for it")
        }
        return lines
    }

    private static let lineLimit = 20
}
