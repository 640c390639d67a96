internal import Base

/// The report for a browser: one page, a section for each severity that opens and closes.
struct FindingsHTML {
    private let report: FindingsReport
    private var text = MarkupText()

    /// - Parameter reasons: all that keep the verdict from being a clean one.
    static func page(
        _ report: FindingsReport, of subject: ReportSubject, reasons: [String]
    ) -> [UInt8] {
        var page = FindingsHTML(report: report)
        page.text.beginPage(title: "Findings in \(subject.capture)", style: style)
        page.addHead(subject.capture, subject.facts, reasons)
        for severity in Severity.allCases.reversed() { page.add(severity) }
        page.addAccepted()
        page.addCoverage()
        page.text += "<footer>sallyport "
        page.text.append(escaped: subject.toolVersion)
        page.text += "</footer>\n"
        page.text.endPage()
        return page.text.bytes
    }

    private init(report: FindingsReport) {
        self.report = report
    }

    private mutating func addHead(_ subject: String, _ facts: [String], _ reasons: [String]) {
        text += "<h1>Findings in "
        text.append(subject)
        let verdict =
            report.isFailed
            ? ("failed", "Failed")
            : reasons.isEmpty
                ? ("clean", "Passed") : ("open", "Inconclusive")
        text += "</h1>\n<p class=\"verdict \(verdict.0)\">\(verdict.1): "
        text.append(escaped: FindingsSummary.text(report))
        text += "</p>\n"
        addList(facts, "facts")
        addList(reasons.map { "inconclusive: \($0)" }, "reasons")
    }

    private mutating func addList(_ lines: [String], _ name: String) {
        guard !lines.isEmpty else { return }
        text += "<ul class=\"\(name)\">\n"
        for line in lines {
            text += "<li>"
            text.append(escaped: line)
            text += "</li>\n"
        }
        text += "</ul>\n"
    }

    // MARK: Findings

    private mutating func add(_ severity: Severity) {
        let found = report.findings.filter { $0.severity == severity && $0.state == .open }
        guard !found.isEmpty else { return }
        // What is mild stays closed unless it fails.
        let isOpen = severity > .low || found.contains(where: report.fails)
        open(severity.rawValue, "\(severity.rawValue), \(found.count)", isOpen: isOpen)
        for group in FindingsGroup.byRule(found) { add(group) }
        text += "</details>\n"
    }

    private mutating func open(_ name: String, _ title: String, isOpen: Bool) {
        text += "<details class=\"\(name)\"\(isOpen ? " open" : "")><summary>\(title)</summary>\n"
    }

    private mutating func add(_ group: FindingsGroup) {
        let rule = group.rule
        text += "<section><h3>\(rule.rawValue): "
        text.append(escaped: rule.text.title)
        text += "</h3>\n<p>"
        text.append(escaped: rule.text.reason)
        text += ".<br><strong>Fix:</strong> "
        text.append(escaped: rule.text.advice)
        text += ".</p>\n<table>\n<thead><tr><th>service</th><th>place</th><th>what</th>"
        text += "<th>seen</th></tr></thead>\n<tbody>\n"
        for finding in group.findings { addRow(finding) }
        text += "</tbody></table></section>\n"
    }

    private mutating func addRow(_ finding: Finding) {
        text += report.fails(finding) ? "<tr class=\"fails\"><td>" : "<tr><td>"
        text.append(finding.party.text)
        text += "</td><td>"
        text.append([finding.method?.rawValue, finding.urlTemplate.text].joined)
        if let selector = finding.selector {
            text += "<br>"
            text.append(selector.text)
        }
        if !finding.decodeChain.isEmpty {
            text += "<br>via \(finding.decodeChain.map(\.rawValue).joined(separator: ", "))"
        }
        text += "</td><td>\(finding.confidence.rawValue)"
        for line in [finding.value?.summary].compactMap(\.self) + finding.notes.map(\.text) {
            text += "<br>"
            text.append(escaped: line)
        }
        if let acceptance = report.acceptance(of: finding) {
            text += "<br><em>accepted: "
            text.append(escaped: acceptance)
            text += "</em>"
        }
        text += "</td><td>\(finding.seenText)<br><code>\(finding.fingerprint)</code></td></tr>\n"
    }

    // MARK: What does not count, and what was looked at

    private mutating func addAccepted() {
        let accepted = report.findings.filter { $0.state != .open }
        let lines = FindingsSummary.remarks(report)
        guard !accepted.isEmpty || !lines.isEmpty else { return }
        open("accepted", "accepted, \(accepted.count)", isOpen: false)
        addList(lines, "policy")
        for group in FindingsGroup.byRule(accepted) { add(group) }
        text += "</details>\n"
    }

    private mutating func addCoverage() {
        open("coverage", "what was looked at", isOpen: false)
        text += "<table>\n"
        for (name, count) in report.coverage.counts where count > 0 {
            text += "<tr><th scope=\"row\">\(name)</th><td>\(count)</td></tr>\n"
        }
        text += "</table></details>\n"
    }

    /// On a phone, a row of a table is a block.
    private static let style = """
        details { margin: .8rem 0; } summary { cursor: pointer; padding: .3rem .6rem; }
        details > summary { border-left: .5rem solid #888; background: #8881; }
        details.critical > summary { border-color: #8e1b1b; }
        details.high > summary { border-color: #c0392b; }
        details.medium > summary { border-color: #b8860b; }
        details.low > summary { border-color: #2b7fc0; }
        tr.fails td:first-child { box-shadow: inset 3px 0 #c0392b; }
        p.failed { color: #c0392b; } p.open { color: #b8860b; } p.clean { color: #2e8b57; }
        section table { table-layout: fixed; }
        th:nth-child(1) { width: 15%; } th:nth-child(2) { width: 37%; }
        th:nth-child(4) { width: 18%; } .coverage table { width: auto; }
        code, footer { font-size: .85em; opacity: .75; }
        @media (max-width: 45rem) {
        main { padding: .8rem; } thead { display: none; }
        tr { display: block; border-top: 1px solid #8888; padding: .3rem 0; }
        td { display: block; border: 0; padding: .1rem .6rem; } }
        @media print { details::details-content { content-visibility: visible; } }
        """
}

extension [String?] {
    fileprivate var joined: String { compactMap(\.self).joined(separator: " ") }
}
