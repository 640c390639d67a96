package import Base
internal import Catalogue
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
        let results = report.results.filter(isSelected).prefix(Self.resultLimit)
        var rules: [ProbeDescription] = []
        var indexes: [String: Int] = [:]
        for probe in results.map(\.probe) where indexes[probe.identifier] == nil {
            indexes[probe.identifier] = rules.count
            rules.append(probe)
        }
        let run: JSONText = [
            "tool": [
                "driver": [
                    "name": "Sallyport", "version": .string(report.toolVersion),
                    "rules": .array(rules.map(rule)),
                ]
            ],
            "automationDetails": ["id": "sallyport-audit/"],
            "invocations": [
                [
                    "executionSuccessful": true,
                    "startTimeUtc": .string(report.startedAt.rfc3339),
                ]
            ],
            "columnKind": "utf16CodeUnits",
            "results": .array(
                results.map { object($0, indexes[$0.probe.identifier] ?? 0, report.sources) }),
        ]
        return [
            "$schema": .string(Self.schema), "version": "2.1.0", "runs": .array([run]),
        ]
    }

    private func isSelected(_ result: AuditResult) -> Bool {
        switch selection {
        case .failures: result.verdict == .fail
        case .warnings: result.verdict == .fail || result.verdict == .warn
        case .all: true
        }
    }

    // MARK: Rules

    private func rule(_ probe: ProbeDescription) -> JSONText {
        var properties: [JSONText.Member] = [
            .init("tags", .array(tags(probe).map(JSONText.string))),
            .init("precision", "very-high"),
        ]
        if let score = score(probe.severity) {
            properties.append(.init("security-severity", .string(score)))
        }
        let short = probe.title.isEmpty ? probe.identifier : probe.title
        let full = probe.reason + (probe.source.isEmpty ? "" : " (\(probe.source))")
        return [
            "id": .string(probe.identifier),
            "name": .string(probe.identifier),
            "shortDescription": text(short),
            "fullDescription": text(probe.reason.isEmpty ? short : full),
            "help": text(help(probe)),
            "defaultConfiguration": ["level": .string(level(probe.severity))],
            "properties": .object(properties),
        ]
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

    private func tags(_ probe: ProbeDescription) -> [String] {
        let weaknesses = probe.weaknesses.map { "external/cwe/cwe-\($0)" }
        let tags = ["security", probe.family.rawValue] + weaknesses + probe.controls
        return Array(tags.prefix(Self.tagLimit))
    }

    /// GitHub reads more than 9.0 as critical, 7.0 to 8.9 as high, 4.0 to 6.9 as medium.
    private func score(_ severity: Severity) -> String? {
        switch severity {
        case .critical: "9.5"
        case .high: "8.0"
        case .medium: "5.5"
        case .low: "2.0"
        case .info: nil
        }
    }

    private func level(_ severity: Severity) -> String {
        switch severity {
        case .critical, .high: "error"
        case .medium: "warning"
        case .low, .info: "note"
        }
    }

    // MARK: Results

    private func object(
        _ result: AuditResult, _ ruleIndex: Int, _ sources: [String: String]
    ) -> JSONText {
        let kind = kind(result.verdict)
        let probe = result.probe
        let title = probe.title.isEmpty ? probe.identifier : probe.title
        var message =
            "\(result.place.text), \(title): \(result.outcome.rawValue): \(result.evidence)."
        if kind == "fail", !probe.fix.isEmpty { message += " Fix: \(probe.fix)" }
        let identity = "\(probe.identifier)|\(result.client)|\(result.destination)"
        return [
            "ruleId": .string(probe.identifier),
            "ruleIndex": .integer(Int64(ruleIndex)),
            "kind": .string(kind),
            "level": .string(resultLevel(result)),
            "message": ["text": .string(Self.escapedBraces(message))],
            "locations": .array([location(result, sources)]),
            "partialFingerprints": [
                "primaryLocationLineHash": .string(Digests.sha256(Array(identity.utf8)).hex)
            ],
            "properties": properties(result),
        ]
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
        case .fail: level(result.probe.severity)
        case .warn: result.probe.severity > .low ? "warning" : "note"
        case .pass, .note, .inconclusive, .skipped: "none"
        }
    }

    private func location(_ result: AuditResult, _ sources: [String: String]) -> JSONText {
        let source = SourceLocation(sources[result.client] ?? standardSource)
        return [
            "physicalLocation": [
                "artifactLocation": ["uri": .string(source.uri)],
                "region": ["startLine": .integer(source.line), "startColumn": 1],
            ],
            "logicalLocations": .array([
                ["fullyQualifiedName": .string(result.place.text)]
            ]),
        ]
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

    private func text(_ text: String) -> JSONText {
        ["text": .string(String(text.unicodeScalars.prefix(Self.textLimit)))]
    }

    /// Braces stand for arguments in a result's message unless doubled (SARIF §3.11.5).
    private static func escapedBraces(_ text: String) -> String {
        text.reduce(into: "") { result, character in
            result.append(character)
            if character == "{" || character == "}" { result.append(character) }
        }
    }

    private static let schema =
        "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
    // What GitHub takes.
    private static let resultLimit = 25_000
    private static let tagLimit = 20
    private static let textLimit = 1024
}
