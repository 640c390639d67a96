package import Audit
package import Base
internal import Catalogue
package import Terminal

/// Writes an audit's report for a person at a terminal: what each client made of each probe, what
/// that means, and what is not known.
package struct AuditText {
    private let report: AuditReport
    private let countsWarnings: Bool
    private let stream: OutputStream
    private let palette: Palette
    private var lines: [String] = []

    package static func write(
        _ report: AuditReport, countingWarnings: Bool = false, to stream: OutputStream,
        palette: Palette
    ) throws(Failure) {
        try AuditMatrix(report.results, to: stream, palette: palette).write()
        var text = AuditText(
            report: report, countsWarnings: countingWarnings, stream: stream, palette: palette)
        text.addDiagnosis()
        text.addDetails(of: .fail, "failed", .red)
        text.addDetails(of: .warn, "warnings", .yellow)
        text.addNotes()
        text.addUnknown()
        text.addSummary()
        try stream.write(text.lines.joined(separator: "\n") + "\n")
    }

    private mutating func addDiagnosis() {
        let diagnoses = Diagnosis.all(in: report.results)
        guard !diagnoses.isEmpty else { return }
        addHeading("diagnosis", .bold)
        for diagnosis in diagnoses {
            let place = "\(diagnosis.client)@\(diagnosis.destination)"
            add("  ", "\(place) \(diagnosis.mistake.title)")
            add("    ", diagnosis.mistake.sentence)
            add("    fix    ", diagnosis.fix)
            add("    shown  ", "by " + diagnosis.probes.joined(separator: ", "))
        }
    }

    /// What follows from another probe is told in a line: its evidence is the other's. What was sent
    /// in cleartext says nothing of what the probe is about.
    private mutating func addDetails(
        of verdict: ProbeVerdict, _ heading: String, _ style: Palette.Style
    ) {
        let results = report.results.filter { $0.verdict == verdict }
        guard !results.isEmpty else { return }
        addHeading(heading, style)
        for result in results where ![.implied, .inClear].contains(result.outcome) {
            let probe = result.probe
            let severity = "(\(probe.severity.rawValue))"
            add("  ", "\(probe.identifier): \(probe.title) \(severity)")
            add("    who    ", result.place.text)
            add("    seen   ", seen(result))
            let why = [probe.reason, probe.source].filter { !$0.isEmpty }
            if !why.isEmpty { add("    why    ", why.joined(separator: " ")) }
            if !probe.fix.isEmpty { add("    fix    ", probe.fix) }
        }
        addGroups(results.filter { $0.outcome == .implied }) { result in
            "\(result.place.text): follow from \(result.impliedBy ?? "another probe")"
        }
        addGroups(results.filter { $0.outcome == .inClear }) { result in
            "\(result.place.text): \(result.outcome.rawValue): \(result.evidence)"
        }
    }

    private func seen(_ result: AuditResult) -> String {
        var text = "\(result.outcome.rawValue): \(result.evidence)"
        if let version = result.version { text += ", \(version)" }
        let connections = result.connections.map(String.init)
        if !connections.isEmpty {
            text += connections.count == 1 ? ", connection " : ", connections "
            text += connections.joined(separator: ", ")
        }
        return text
    }

    private mutating func addNotes() {
        let results = report.results.filter { $0.verdict == .note }
        guard !results.isEmpty else { return }
        addHeading("noted", .bold)
        addGroups(results) { "\($0.place.text): \($0.outcome.rawValue)" }
    }

    private mutating func addUnknown() {
        for (verdict, heading) in [(ProbeVerdict.inconclusive, "not known"), (.skipped, "skipped")]
        {
            let results = report.results.filter { $0.verdict == verdict }
            guard !results.isEmpty else { continue }
            addHeading(heading, .bold)
            addGroups(results) { "\($0.place.text): \($0.evidence)" }
        }
    }

    /// The probes with the same reason, together.
    private mutating func addGroups(
        _ results: [AuditResult], by reason: (AuditResult) -> String
    ) {
        var reasons: [String] = []
        var probes: [String: [String]] = [:]
        for result in results {
            let reason = reason(result)
            if probes[reason] == nil { reasons.append(reason) }
            probes[reason, default: []].append(result.probe.identifier)
        }
        for reason in reasons {
            add("  ", reason)
            add("    ", (probes[reason] ?? []).joined(separator: ", "))
        }
    }

    private mutating func addSummary() {
        let counts = report.counts
        let words: [(ProbeVerdict, String)] = [
            (.fail, "failed"), (.warn, "to look at"), (.pass, "passed"), (.note, "noted"),
            (.inconclusive, "not known"), (.skipped, "skipped"),
        ]
        let parts = words.filter { counts[$0.0] > 0 }.map { "\(counts[$0.0]) \($0.1)" }
        let verdict = report.verdict(countingWarnings: countsWarnings)
        lines.append("")
        add(
            "",
            "\(verdict.rawValue): "
                + (parts.isEmpty ? "nothing was seen" : parts.joined(separator: ", ")))
    }

    private mutating func addHeading(_ text: String, _ style: Palette.Style) {
        lines += ["", palette.paint(text, style)]
    }

    /// Adds `text` behind `label`, its further lines below its first where the terminal is narrow.
    private mutating func add(_ label: String, _ text: String) {
        let text = TerminalText.sanitized(text)
        guard stream.isTerminal, let columns = stream.columns else {
            lines.append(label + text)
            return
        }
        let width = max(Self.leastWidth, columns - label.count)
        let blank = String(repeating: " ", count: label.count)
        for (index, line) in TerminalText.wrapped(text, columns: width).enumerated() {
            lines.append((index == 0 ? label : blank) + line)
        }
    }

    private init(
        report: AuditReport, countsWarnings: Bool, stream: OutputStream, palette: Palette
    ) {
        self.report = report
        self.countsWarnings = countsWarnings
        self.stream = stream
        self.palette = palette
    }

    private static let leastWidth = 20
}
