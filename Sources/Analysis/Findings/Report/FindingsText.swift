internal import Base
internal import Contents

/// Renders a report for a person at a terminal: the worst first, by rule, service, place and field.
///
/// What is mild and does not fail is a line for each rule, unless all of it is asked for.
package struct FindingsText {
    private let report: FindingsReport
    private let isVerbose: Bool
    private let isColored: Bool
    private var lines: [String] = []
    /// Whether something is told by its rule alone.
    private var hasFolded = false

    /// All but the verdict.
    package static func render(
        _ report: FindingsReport, verbose: Bool = false, color: Bool
    ) -> String {
        var text = FindingsText(report: report, isVerbose: verbose, isColored: color)
        text.lines = [FindingsSummary.text(report), ""]
        for severity in Severity.allCases.reversed() { text.add(severity) }
        if text.hasFolded { text.lines += ["(--verbose lists all places)", ""] }
        text.addAccepted()
        if let inventory = report.inventory.text { text.lines += [inventory, ""] }
        while text.lines.last == "" { text.lines.removeLast() }
        // Only what is painted here may begin with an escape.
        return text.lines.map { $0.hasPrefix("\u{1B}[") ? $0 : $0.withoutUnseen }
            .joined(separator: "\n") + "\n"
    }

    private init(report: FindingsReport, isVerbose: Bool, isColored: Bool) {
        self.report = report
        self.isVerbose = isVerbose
        self.isColored = isColored
    }

    // MARK: What counts

    private mutating func add(_ severity: Severity) {
        let found = report.findings.filter { $0.severity == severity && $0.state == .open }
        guard !found.isEmpty else { return }
        lines.append(paint(severity.rawValue.uppercased(), severity))
        let (report, isMild) = (report, severity <= .low && !isVerbose)
        let isFolded = { (group: FindingsGroup) in
            isMild && !group.findings.contains(where: report.fails)
        }
        let groups = FindingsGroup.byRule(found)
        for group in groups where !isFolded(group) { add(group) }
        let folded = groups.filter(isFolded)
        for group in folded { lines += fold(group) }
        if !folded.isEmpty {
            hasFolded = true
            lines.append("")
        }
    }

    private mutating func add(_ group: FindingsGroup) {
        let rule = group.rule
        lines.append("  \(rule.rawValue)  \(rule.text.title)")
        lines.append("    why    " + rule.text.reason)
        lines.append("    fix    " + rule.text.advice)
        let limit = isVerbose ? Int.max : Self.placeLimit
        var (service, place) = ("", "")
        for finding in group.findings.prefix(limit) {
            if finding.party.text != service {
                service = finding.party.text
                place = ""
                lines.append("    at     " + service)
            }
            let method = finding.method.map { $0.rawValue + " " } ?? ""
            if method + finding.urlTemplate.text != place {
                place = method + finding.urlTemplate.text
                lines.append("      " + place)
            }
            lines += describe(finding)
        }
        let more = group.findings.count - limit
        if more > 0 {
            lines.append("      and \(Quantity.text(more, "place")) more; --verbose lists them")
        }
        lines.append("")
    }

    private func fold(_ group: FindingsGroup) -> [String] {
        let services = group.services
        let named = services.prefix(Self.serviceLimit).joined(separator: ", ")
        let more = services.count - Self.serviceLimit
        let line =
            "  \(group.rule.rawValue)  \(group.rule.text.title): "
            + Quantity.text(group.findings.count, "place") + " at \(named)"
            + (more > 0 ? " and \(more) more" : "")
        // Why something is of no severity that would have one elsewhere.
        var notes: [String] = []
        for note in group.findings.flatMap(\.notes) where !notes.contains(note.text) {
            if case .staysLocal = note { notes.append(note.text) }
        }
        return [line] + notes.map { "    note   \($0)" }
    }

    private func describe(_ finding: Finding) -> [String] {
        let verdict = finding.confidence.rawValue + (report.fails(finding) ? ", fails" : "")
        var place = [finding.selector?.text, "(\(verdict))"].compactMap(\.self)
        if !finding.decodeChain.isEmpty {
            place.append("via " + finding.decodeChain.map(\.rawValue).joined(separator: ", "))
        }
        place.append(finding.seenText)
        var lines = ["        " + place.joined(separator: "  ")]
        if let value = finding.value { lines.append("          what   " + value.summary) }
        lines += finding.notes.map { "          note   " + $0.text }
        if isVerbose { lines.append("          print  " + finding.fingerprint) }
        return lines
    }

    // MARK: What is accepted

    private mutating func addAccepted() {
        if isVerbose {
            let accepted = report.findings.filter { $0.state != .open }
            if !accepted.isEmpty { lines.append("ACCEPTED") }
            for group in FindingsGroup.byRule(accepted) { add(group) }
        }
        lines += FindingsSummary.remarks(report)
    }

    private func paint(_ text: String, _ severity: Severity) -> String {
        guard isColored else { return text }
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

    /// How many places of a rule are shown unless all are asked for, and how many services.
    private static let placeLimit = 12
    private static let serviceLimit = 3
}
