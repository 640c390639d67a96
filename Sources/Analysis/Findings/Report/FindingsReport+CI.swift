package import Base

/// The report in the forms that CI systems read.
extension FindingsReport {
    /// SARIF with every finding; one that is a mere guess is a note.
    ///
    /// - Parameter capture: the path of the capture, where results are placed.
    package func sarif(toolVersion: String, capture: String) -> JSONText {
        let source = SourceLocation(capture)
        let results = findings.map { finding in
            SARIFDocument.Result(
                rule: rule(finding.rule),
                level: finding.confidence >= .firm ? SARIFDocument.level(finding.severity) : "note",
                message:
                    "\(finding.place): \(finding.rule.text.title): \(finding.rule.text.reason)."
                    + " Fix: \(finding.rule.text.advice)",
                source: source, place: finding.party.text, fingerprint: finding.fingerprint,
                properties: [
                    "confidence": .string(finding.confidence.rawValue),
                    "party": .string(finding.party.text),
                    "blames": .string(finding.rule.text.party.rawValue),
                    "occurrences": .integer(Int64(finding.occurrences)),
                    "notes": .array(finding.notes.map { .string($0.text) }),
                    "exchanges": .array(finding.exchanges.map { .integer($0) }),
                    "connections": .array(finding.connections.map { .integer($0) }),
                    "firstSeenAt": .string(finding.firstSeen.rfc3339),
                ])
        }
        return SARIFDocument(
            category: "sallyport-check/", toolVersion: toolVersion, results: results
        ).json
    }

    /// The severity of a rule is that of its worst finding.
    private func rule(_ id: RuleID) -> SARIFDocument.Rule {
        SARIFDocument.Rule(
            id: id.rawValue, title: id.text.title, description: id.text.reason,
            help: "\(id.text.reason)\nFix: \(id.text.advice)",
            severity: findings.filter { $0.rule == id }.map(\.severity).max() ?? .info,
            precision: "high",
            tags: ["security"] + id.text.weaknesses.map { "external/cwe/cwe-\($0)" })
    }

    /// JUnit XML with a case for each rule, and one for whether enough was seen.
    ///
    /// - Parameters:
    ///   - severity: the least one that fails.
    ///   - reasons: why enough was not seen; those of the report if none are given.
    ///   - others: cases besides.
    package func junit(
        toolVersion: String, capture: String, failingFrom severity: Severity,
        reasons: [String]? = nil, and others: [JUnitDocument.Case] = []
    ) -> String {
        let rules = RuleID.allCases.map { id in
            let found = findings.filter { $0.rule == id }
            let failed = found.filter { $0.severity >= severity && $0.confidence >= .firm }
            return JUnitDocument.Case(
                group: id.text.party.rawValue, name: "\(id.rawValue): \(id.text.title)",
                state: failed.isEmpty
                    ? .passed
                    : .failed(
                        message: failed.map(\.place).joined(separator: ", "), type: id.rawValue),
                details: found.map(\.details).joined(separator: "\n\n"))
        }
        let reasons = (reasons ?? inconclusive.map(\.text)).joined(separator: ", ")
        let coverage = JUnitDocument.Case(
            group: "coverage", name: "enough was seen",
            state: reasons.isEmpty ? .passed : .skipped(message: reasons), details: reasons)
        let suite = JUnitDocument.Suite(
            name: "sallyport check", host: capture, startedAt: nil,
            properties: [("tool", "sallyport \(toolVersion)"), ("capture", capture)],
            cases: rules + [coverage] + others)
        return JUnitDocument(name: "sallyport check", duration: 0, suites: [suite]).text
    }
}

extension Finding {
    /// Such as `POST http://api.example/login, form.password`.
    fileprivate var place: String {
        let target = [method?.rawValue, urlTemplate.text].compactMap { $0 }.joined(separator: " ")
        return selector.map { "\(target), \($0.text)" } ?? target
    }

    fileprivate var details: String {
        let numbers = { (name: String, ids: [Int64]) -> String? in
            ids.isEmpty ? nil : "\(name): \(ids.map(String.init).joined(separator: ", "))"
        }
        let lines: [String?] = [
            "\(rule.rawValue): \(rule.text.title)", "where: \(place)", "service: \(party.text)",
            "severity: \(severity.rawValue), \(confidence.rawValue)",
            "seen: \(occurrences) times", numbers("exchanges", exchanges),
            numbers("connections", connections),
            notes.isEmpty ? nil : "notes: \(notes.map(\.text).joined(separator: "; "))",
            "why: \(rule.text.reason)", "fix: \(rule.text.advice)",
        ]
        return lines.compactMap { $0 }.joined(separator: "\n")
    }
}
