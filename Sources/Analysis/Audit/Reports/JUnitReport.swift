internal import Base
internal import Catalogue
internal import TLS

/// Renders a report as JUnit XML: a suite for each client and destination, a case for each probe.
///
/// There is no one schema; this is what Jenkins, GitLab and pytest's readers share. Some of them
/// show neither the message nor the suite, so the text of a failure says all of it again.
package struct JUnitReport: Sendable {
    /// Whether a warning is a failed case.
    package var countsWarnings: Bool

    package init(countsWarnings: Bool = false) {
        self.countsWarnings = countsWarnings
    }

    package func text(_ report: AuditReport) -> String {
        let suites = report.results.places.map { place in
            (place, report.results.filter { $0.place == place })
        }
        var lines = [
            #"<?xml version="1.0" encoding="UTF-8"?>"#,
            "<testsuites"
                + attributes(
                    [("name", "sallyport audit")] + counts(report.results)
                        + [("time", seconds(report.duration))]) + ">",
        ]
        for (place, results) in suites { lines += suite(place, results, report) }
        lines.append("</testsuites>")
        return lines.joined(separator: "\n") + "\n"
    }

    private func suite(
        _ place: AuditResult.Place, _ results: [AuditResult], _ report: AuditReport
    ) -> [String] {
        let duration = results.reduce(into: Int64(0)) { $0 += max(0, min($1.duration, .max - $0)) }
        let opening =
            [("name", place.text)] + counts(results) + [
                ("time", seconds(duration)),
                // Without the fraction and the zone, which some readers do not take.
                ("timestamp", String(report.startedAt.rfc3339.prefix(19))),
                ("hostname", place.destination),
            ]
        let properties = [
            ("client", place.client), ("destination", place.destination),
            ("tool", "sallyport \(report.toolVersion)"), ("capture", report.capturePath),
        ].map { "      <property" + attributes([("name", $0.0), ("value", $0.1)]) + "/>" }
        return ["  <testsuite" + attributes(opening) + ">", "    <properties>"] + properties
            + ["    </properties>"] + results.flatMap(testCase) + ["  </testsuite>"]
    }

    private func testCase(_ result: AuditResult) -> [String] {
        let opening =
            "    <testcase"
            + attributes([
                ("classname", result.probe.family.rawValue),
                ("name", "\(result.probe.identifier) (\(result.place.text))"),
                ("time", seconds(result.duration)),
            ]) + ">"
        let message = "\(result.outcome.rawValue): \(result.evidence)"
        let body = MarkupText.escaped(details(result))
        let inner =
            if isFailure(result) {
                "<failure"
                    + attributes([("message", message), ("type", result.outcome.rawValue)])
                    + ">\(body)</failure>"
            } else if isSkipped(result) {
                "<skipped" + attributes([("message", message)]) + "/>"
            } else {
                "<system-out>\(body)</system-out>"
            }
        return [opening, "      " + inner, "    </testcase>"]
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

    private func isFailure(_ result: AuditResult) -> Bool {
        result.verdict == .fail || countsWarnings && result.verdict == .warn
    }

    private func isSkipped(_ result: AuditResult) -> Bool {
        result.verdict == .inconclusive || result.verdict == .skipped
            || result.outcome == .notOffered
    }

    private func counts(_ results: [AuditResult]) -> [(String, String)] {
        [
            ("tests", String(results.count)), ("failures", String(results.count(where: isFailure))),
            ("errors", "0"),
            ("skipped", String(results.count { !isFailure($0) && isSkipped($0) })),
        ]
    }

    private func attributes(_ pairs: [(String, String)]) -> String {
        pairs.map { " \($0.0)=\"\(MarkupText.escaped($0.1, keepsLines: false))\"" }.joined()
    }

    private func seconds(_ microseconds: Int64) -> String {
        let time = max(0, microseconds)
        return "\(time / 1_000_000).\(padded(Int(time % 1_000_000), 6))"
    }
}
