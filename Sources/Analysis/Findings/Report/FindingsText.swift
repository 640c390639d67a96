internal import Base
internal import Redaction

/// Renders a report for a person at a terminal.
package enum FindingsText {
    /// - Parameter reasons: why the verdict cannot be clean, besides those of the report.
    package static func render(
        _ report: FindingsReport, and reasons: [String] = [], color: Bool
    ) -> String {
        var lines = [summary(report), ""]
        for severity in Severity.allCases.reversed() {
            let findings = report.findings.filter { $0.severity == severity }
            guard !findings.isEmpty else { continue }
            lines.append(paint(severity.rawValue.uppercased(), severity, color))
            for finding in findings {
                lines += block(finding)
                lines.append("")
            }
        }
        if report.firstParties.isGuessed, report.findings.contains(where: \.dependsOnParty),
            let name = report.firstParties.names.first
        {
            lines.append("first party: \(name), as far as that can be guessed (--first-party)")
        }
        lines += (report.inconclusive.map(\.text) + reasons).map { "inconclusive: \($0)" }
        while lines.last == "" { lines.removeLast() }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func summary(_ report: FindingsReport) -> String {
        let counts = Severity.allCases.reversed().compactMap { severity -> String? in
            let count = report.findings.count { $0.severity == severity }
            return count == 0 ? nil : "\(count) \(severity.rawValue)"
        }
        let what = counts.isEmpty ? "no findings" : "findings: " + counts.joined(separator: ", ")
        let coverage = report.coverage
        var text =
            "\(what); looked at " + Quantity.text(coverage.exchanges, "exchange")
            + " on " + Quantity.text(coverage.connections, "connection")
        if coverage.missingHeads > 0 {
            text += ", \(coverage.missingHeads) without a recorded head and not judged"
        }
        if coverage.messages > 0 { text += ", " + Quantity.text(coverage.messages, "message") }
        if coverage.clientRefused > 0 { text += ", \(coverage.clientRefused) refused by clients" }
        if coverage.originFailed > 0 { text += ", \(coverage.originFailed) without their origin" }
        if coverage.truncatedBodies > 0 {
            text += ", " + Quantity.text(coverage.truncatedBodies, "content") + " in part"
        }
        if coverage.partlyReadBodies > 0 {
            text += ", " + Quantity.text(coverage.partlyReadBodies, "content")
            text += " not looked into to the end"
        }
        if coverage.broken > 0 { text += ", \(coverage.broken) broken off" }
        if coverage.timedOut > 0 { text += ", \(coverage.timedOut) timed out" }
        return text
    }

    private static func block(_ finding: Finding) -> [String] {
        var lines = [
            "  \(finding.rule.rawValue)  \(finding.rule.text.title) "
                + " (\(finding.confidence.rawValue))"
        ]
        let method = finding.method.map { $0.rawValue + " " } ?? ""
        var place = method + finding.urlTemplate.text
        if let selector = finding.selector { place += "  in \(selector.text)" }
        if !finding.decodeChain.isEmpty {
            place += "  via " + finding.decodeChain.map(\.rawValue).joined(separator: ", ")
        }
        lines.append("    where  " + place)
        if let value = finding.value { lines.append("    what   " + describe(value)) }
        for note in finding.notes { lines.append("    note   " + note.text) }
        lines.append("    why    " + finding.rule.text.reason)
        lines.append("    fix    " + finding.rule.text.advice)
        lines.append("    seen   " + seen(finding))
        return lines
    }

    private static func describe(_ value: RedactedValue) -> String {
        var text = "\(value.kind.rawValue), \(value.lengthBucket.rawValue) characters"
        if !value.charset.isEmpty { text += " of \(value.charset.names.joined(separator: ", "))" }
        if let prefix = value.prefix { text += ", begins with \(prefix.rawValue)" }
        return text + ", tag \(value.tag.text)"
    }

    private static func seen(_ finding: Finding) -> String {
        let times = finding.occurrences == 1 ? "once" : "\(finding.occurrences) times"
        let ids = finding.exchanges.isEmpty ? finding.connections : finding.exchanges
        let what = finding.exchanges.isEmpty ? "connection" : "exchange"
        let more = finding.occurrences > ids.count ? ", …" : ""
        let list = ids.map(String.init).joined(separator: ", ")
        return "\(times), \(what)\(ids.count == 1 ? "" : "s") \(list)\(more)"
    }

    private static func paint(_ text: String, _ severity: Severity, _ color: Bool) -> String {
        guard color else { return text }
        let code =
            switch severity {
            case .critical: "1;31"
            case .high: "31"
            case .medium: "33"
            case .low: "36"
            case .info: "2"
            }
        return "\u{1B}[\(code)m\(text)\u{1B}[0m"
    }
}
