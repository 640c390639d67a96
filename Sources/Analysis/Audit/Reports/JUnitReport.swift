internal import Base
internal import Catalogue
internal import Findings
internal import TLS

/// Renders a report as JUnit XML: a suite for each client and destination, a case for each probe.
package struct JUnitReport: Sendable {
    /// Whether a warning is a failed case.
    package var countsWarnings: Bool

    package init(countsWarnings: Bool = false) {
        self.countsWarnings = countsWarnings
    }

    package func text(_ report: AuditReport) -> String {
        let suites = report.results.places.map { place in
            JUnitDocument.Suite(
                name: place.text, host: place.destination, startedAt: report.startedAt,
                properties: [
                    ("client", place.client), ("destination", place.destination),
                    ("tool", "sallyport \(report.toolVersion)"), ("capture", report.capturePath),
                ],
                cases: report.results.filter { $0.place == place }.map(testCase))
        }
        return JUnitDocument(name: "sallyport audit", duration: report.duration, suites: suites)
            .text
    }

    private func testCase(_ result: AuditResult) -> JUnitDocument.Case {
        let message = "\(result.outcome.rawValue): \(result.evidence)"
        let state: JUnitDocument.Case.State =
            if result.verdict == .fail || countsWarnings && result.verdict == .warn {
                .failed(message: message, type: result.outcome.rawValue)
            } else if result.leavesQuestion {
                .broken(message: message, type: result.outcome.rawValue)
            } else if [.inconclusive, .skipped].contains(result.verdict)
                || result.outcome == .notOffered
            {
                .skipped(message: message)
            } else {
                .passed
            }
        return JUnitDocument.Case(
            group: result.probe.family.rawValue,
            name: "\(result.probe.identifier) (\(result.place.text))", duration: result.duration,
            state: state, details: details(result))
    }

    private func details(_ result: AuditResult) -> String {
        let probe = result.probe
        var lines = [
            "\(probe.identifier): \(probe.title)", "client: \(result.client)",
            "destination: \(result.destination)",
            "verdict: \(result.verdict.rawValue), \(result.outcome.rawValue)",
            "expected: \(probe.expectation.rawValue)", "evidence: \(result.evidence)",
            "severity: \(probe.severity.rawValue)",
        ]
        if let alert = result.alert {
            lines.append("alert: \(alert) (\(TLSAlert(isFatal: true, code: alert).name))")
        }
        if let version = result.version { lines.append("version: \(version)") }
        if let premise = result.impliedBy { lines.append("follows from: \(premise)") }
        if !probe.weaknesses.isEmpty {
            lines.append(
                "weakness: " + probe.weaknesses.map { "CWE-\($0)" }.joined(separator: ", "))
        }
        if !probe.reason.isEmpty { lines.append("why: \(probe.reason)") }
        if !probe.fix.isEmpty { lines.append("fix: \(probe.fix)") }
        return lines.joined(separator: "\n")
    }
}
