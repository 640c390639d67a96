internal import Base

/// What GitHub Actions shows of a job: annotations, and the summary of a step.
enum GitHubReport {
    /// Commands for the log, a line each.
    ///
    /// - Parameter reasons: why the verdict cannot be a clean one.
    static func annotations(
        _ report: FindingsReport, source: SourceLocation, reasons: [String]
    ) -> String {
        let failing = report.findings.filter(report.fails)
        let others = report.findings.filter {
            $0.state == .open && !report.fails($0) && $0.severity >= .medium
        }
        var lines = failing.prefix(limit).map { line("error", $0, source) }
        lines += reasons.prefix(limit).map {
            "::warning title=inconclusive::\(escaped($0))"
        }
        lines += others.prefix(limit - min(limit, reasons.count)).map {
            line("warning", $0, source)
        }
        lines += FindingsSummary.policyRemarks(report).prefix(limit).map {
            "::notice title=policy::\(escaped($0))"
        }
        return lines.map { $0 + "\n" }.joined()
    }

    private static func line(
        _ command: String, _ finding: Finding, _ source: SourceLocation
    ) -> String {
        let file = escaped(source.path, isProperty: true)
        let title = escaped(
            "\(finding.rule.rawValue): \(finding.rule.text.title)", isProperty: true)
        let message = "\(finding.place); fix: \(finding.rule.text.advice)"
        return "::\(command) file=\(file),line=\(source.line),title=\(title)::\(escaped(message))"
    }

    /// A line of the log that cannot become two, nor another command: as the toolkit of Actions
    /// writes them.
    private static func escaped(_ text: String, isProperty: Bool = false) -> String {
        var result = ""
        for character in text.withoutUnseen.unicodeScalars {
            switch character {
            case "%": result += "%25"
            case ":" where isProperty: result += "%3A"
            case "," where isProperty: result += "%2C"
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }

    /// Markdown that is one block of HTML, in which no sign of Markdown means anything.
    static func summary(
        _ report: FindingsReport, of subject: String, reasons: [String]
    ) -> [UInt8] {
        var text = MarkupText()
        let verdict = report.isFailed ? "failed" : reasons.isEmpty ? "passed" : "inconclusive"
        text += "<div><h3>Sallyport: \(verdict)</h3><p>"
        text.append(escaped: FindingsSummary.text(report), keepsLines: false)
        text += "</p><ul>"
        for line in reasons.map({ "inconclusive: \($0)" }) + FindingsSummary.remarks(report) {
            text += "<li>"
            text.append(escaped: line, keepsLines: false)
            text += "</li>"
        }
        text += "</ul>"
        let open = report.findings.filter { $0.state == .open }
        if !open.isEmpty {
            text += "<table><tr><th>severity</th><th>rule</th><th>place</th><th>fix</th></tr>"
            for finding in open.prefix(rowLimit) { add(finding, of: report, to: &text) }
            text += "</table>"
        }
        let more = open.count - rowLimit
        if more > 0 { text += "<p>and \(more) more</p>" }
        text += "<p>"
        text.append(escaped: subject, keepsLines: false)
        text += "</p></div>\n\n"
        return text.bytes
    }

    private static func add(
        _ finding: Finding, of report: FindingsReport, to text: inout MarkupText
    ) {
        let mark = report.fails(finding) ? "<b>\(finding.severity.rawValue)</b>" : nil
        text += "<tr><td>\(mark ?? finding.severity.rawValue)</td>"
        text += "<td>\(finding.rule.rawValue)</td><td><code>"
        text.append(escaped: finding.place, keepsLines: false)
        text += "</code></td><td>"
        text.append(escaped: finding.rule.text.advice, keepsLines: false)
        text += "</td></tr>"
    }

    /// GitHub shows ten of a kind for each step.
    private static let limit = 10
    /// A summary may have a MiB; a row has less than a KiB.
    private static let rowLimit = 400
}
