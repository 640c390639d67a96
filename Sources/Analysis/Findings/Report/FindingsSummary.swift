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
        if coverage.undecodableBodies > 0 {
            text += ", " + bodies(coverage.undecodableBodies) + " in an unknown coding"
        }
        let heads = coverage.partlyReadHeads
        if heads > 0 {
            text += ", " + Quantity.text(heads, "head") + " not looked into to the end"
        }
        if coverage.malformedHeads > 0 {
            text += ", " + Quantity.text(coverage.malformedHeads, "malformed head")
        }
        if coverage.truncatedMessages > 0 {
            text += ", messages of " + Quantity.text(coverage.truncatedMessages, "connection")
            text += " in part"
        }
        if coverage.forgottenValues > 0 {
            text += ", " + Quantity.text(coverage.forgottenValues, "value") + " compared no longer"
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
        var lines = policyRemarks(report)
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

    /// How a policy moves what fails, beside what it suppresses.
    static func policyRemarks(_ report: FindingsReport) -> [String] {
        let (gate, path) = (report.gate, report.outcome.path)
        let standard = FindingsGate(gate.standard)
        let spared = report.findings.filter {
            $0.state == .open && standard.reaches($0) && !gate.reaches($0)
        }
        var lines = FindingsGroup.byRule(spared).map { group in
            let line = gate.lines[group.rule].map { " by \(path):\($0)" } ?? ""
            let level = gate.rules[group.rule]?.text ?? ""
            return "not failed by its own level: \(counts(group.findings))\(line)"
                + " (\(group.rule.rawValue) = \(level))"
        }
        if gate.waivesPartlyRead { lines.append("waived by \(path): partly-read") }
        let parties = report.outcome.firstParties.prefix(lineLimit)
        if !parties.isEmpty {
            let more = report.outcome.firstParties.count - parties.count
            lines.append(
                "first parties by \(path): \(parties.joined(separator: ", "))"
                    + (more > 0 ? " and \(more) more" : ""))
        }
        return lines
    }

    private static let lineLimit = 20
}
