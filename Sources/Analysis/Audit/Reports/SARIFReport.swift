package import Base
internal import Catalogue
internal import Findings
internal import TLS

/// Renders a report as SARIF 2.1.0, as GitHub's code scanning wants it.
package struct SARIFReport: Sendable {
    /// Which results are written.
    package enum Selection: String, Sendable, CaseIterable {
        /// What failed: each becomes an alert.
        case failures
        case warnings
        /// Everything, with its kind; viewers that know no kinds show passes as alerts.
        case all
    }

    package var selection = Selection.failures
    /// Where results of a client without a source are placed, such as the file that configures the
    /// audit: `.github/workflows/audit.yml:12`.
    ///
    /// A result without a place makes GitHub refuse the whole file. What is no file of the
    /// repository is shown without its text.
    package var standardSource = "sallyport-audit"

    package init(selection: Selection = .failures, standardSource: String? = nil) {
        self.selection = selection
        if let standardSource { self.standardSource = standardSource }
    }

    package func document(_ report: AuditReport) -> JSONText {
        SARIFDocument(
            category: "sallyport-audit/", toolVersion: report.toolVersion,
            startedAt: report.startedAt,
            results: report.results.filter(isSelected).map { result($0, report.sources) },
            warnings: report.verdict() == .inconclusive
                ? ["what had to be seen was not seen"] : []
        ).json
    }

    private func isSelected(_ result: AuditResult) -> Bool {
        switch selection {
        case .failures: result.verdict == .fail
        case .warnings: result.verdict == .fail || result.verdict == .warn
        case .all: true
        }
    }

    private func rule(_ probe: ProbeDescription) -> SARIFDocument.Rule {
        let title = title(probe)
        let full = probe.reason + (probe.source.isEmpty ? "" : " (\(probe.source))")
        return SARIFDocument.Rule(
            id: probe.identifier, title: title, description: probe.reason.isEmpty ? title : full,
            help: help(probe), severity: probe.severity, precision: "very-high",
            tags: ["security", probe.family.rawValue]
                + probe.weaknesses.map { "external/cwe/cwe-\($0)" } + probe.controls)
    }

    private func title(_ probe: ProbeDescription) -> String {
        probe.title.isEmpty ? probe.identifier : probe.title
    }

    private func help(_ probe: ProbeDescription) -> String {
        var lines: [String] = []
        if !probe.reason.isEmpty { lines.append(probe.reason) }
        if !probe.source.isEmpty { lines.append("Source: " + probe.source) }
        if !probe.history.isEmpty {
            lines.append("Got wrong before: " + probe.history.joined(separator: ", "))
        }
        if !probe.fix.isEmpty { lines.append("Fix: " + probe.fix) }
        return lines.isEmpty ? probe.identifier : lines.joined(separator: "\n")
    }

    private func result(
        _ result: AuditResult, _ sources: [String: String]
    ) -> SARIFDocument.Result {
        let kind = kind(result.verdict)
        let probe = result.probe
        var message =
            "\(result.place.text), \(title(probe)): \(result.outcome.rawValue): \(result.evidence)."
        if kind == "fail", !probe.fix.isEmpty { message += " Fix: \(probe.fix)" }
        let identity = "\(probe.identifier)|\(result.client)|\(result.destination)"
        return SARIFDocument.Result(
            rule: rule(probe), kind: kind, level: resultLevel(result), message: message,
            source: SourceLocation(sources[result.client] ?? standardSource),
            place: result.place.text, fingerprint: TLS.Digests.sha256(Array(identity.utf8)).hex,
            properties: properties(result))
    }

    private func kind(_ verdict: ProbeVerdict) -> String {
        switch verdict {
        case .fail, .warn: "fail"
        case .pass: "pass"
        case .note: "informational"
        case .inconclusive: "open"
        case .skipped: "notApplicable"
        }
    }

    /// Only a failure has a level (SARIF §3.27.10).
    private func resultLevel(_ result: AuditResult) -> String {
        switch result.verdict {
        case .fail: SARIFDocument.level(result.probe.severity)
        case .warn: result.probe.severity > .low ? "warning" : "note"
        case .pass, .note, .inconclusive, .skipped: "none"
        }
    }

    private func properties(_ result: AuditResult) -> JSONText {
        [
            "client": .string(result.client),
            "destination": .string(result.destination),
            "outcome": .string(result.outcome.rawValue),
            "verdict": .string(result.verdict.rawValue),
            "evidence": .string(result.evidence),
            "alert": result.alert.map(AuditJSON.alert) ?? .null,
            "tlsVersion": .optional(result.version),
            "connections": .array(result.connections.map(JSONText.integer)),
            "impliedBy": .optional(result.impliedBy),
        ]
    }
}
