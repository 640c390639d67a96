package import Base

/// The report in the forms that CI systems read.
extension FindingsReport {
    /// SARIF with every finding; one that is a mere guess is a note.
    ///
    /// - Parameters:
    ///   - capture: the path of the capture, where results are placed if there is no policy.
    ///   - reasons: why enough was not seen.
    package func sarif(toolVersion: String, capture: String, reasons: [String]) -> JSONText {
        let source = source(capture)
        let results = findings.map { finding in
            SARIFDocument.Result(
                rule: rule(finding.rule),
                level: finding.confidence >= .firm ? SARIFDocument.level(finding.severity) : "note",
                message:
                    "\(finding.place): \(finding.rule.text.title): \(finding.rule.text.reason)."
                    + " Fix: \(finding.rule.text.advice)",
                source: source, place: finding.service, fingerprint: finding.fingerprint,
                isNew: outcome.baseline == nil ? nil : finding.state != .known,
                suppression: outcome.suppression(of: finding)?.justification,
                properties: [
                    "confidence": .string(finding.confidence.rawValue),
                    "party": .string(finding.service),
                    "blames": .string(finding.rule.text.party.rawValue),
                    "occurrences": .integer(Int64(finding.occurrences)),
                    "notes": .array(finding.notes.map { .string($0.text) }),
                    "exchanges": .array(finding.exchanges.map { .integer($0) }),
                    "connections": .array(finding.connections.map { .integer($0) }),
                    "firstSeenAt": .string(finding.firstSeen.rfc3339),
                ])
        }
        return SARIFDocument(
            category: "sallyport-check/", toolVersion: toolVersion, results: results,
            warnings: reasons, remarks: FindingsSummary.policyRemarks(self)
        ).json
    }

    /// The severity of a rule is that of its worst finding.
    private func rule(_ id: RuleID) -> SARIFDocument.Rule {
        let found = findings.filter { $0.rule == id }
        let isSure = found.contains { $0.confidence == .certain }
        return SARIFDocument.Rule(
            id: id.rawValue, title: id.text.title, description: id.text.reason,
            help: "\(id.text.reason)\nFix: \(id.text.advice)",
            severity: found.map(\.severity).max() ?? .info,
            precision: isSure
                ? "very-high" : found.contains { $0.confidence == .firm } ? "high" : "low",
            tags: ["security"] + id.text.weaknesses.map { "external/cwe/cwe-\($0)" })
    }

    /// JUnit XML with a case for each rule, one for whether enough was seen, and one for whether
    /// the policy's suppressions are needed.
    ///
    /// - Parameters:
    ///   - reasons: why enough was not seen.
    ///   - command: that judged.
    ///   - others: cases besides.
    package func junit(
        toolVersion: String, capture: String, reasons: [String],
        command: String = "sallyport check", and others: [JUnitDocument.Case] = []
    ) -> String {
        let rules = RuleID.allCases.map { id in
            let found = findings.filter { $0.rule == id }
            let failed = found.filter(fails)
            return JUnitDocument.Case(
                group: id.text.party.rawValue, name: "\(id.rawValue): \(id.text.title)",
                state: failed.isEmpty
                    ? .passed
                    : .failed(
                        message: failed.map(\.place).joined(separator: ", "), type: id.rawValue),
                details: found.map(details).joined(separator: "\n\n"))
        }
        let reasons = reasons.joined(separator: ", ")
        let coverage = JUnitDocument.Case(
            group: "coverage", name: "enough was seen",
            state: reasons.isEmpty ? .passed : .broken(message: reasons, type: "inconclusive"),
            details: reasons)
        let suite = JUnitDocument.Suite(
            name: command, host: capture, startedAt: nil,
            properties: [("tool", "sallyport \(toolVersion)"), ("capture", capture)],
            cases: rules + [coverage] + policyCases + others)
        return JUnitDocument(name: command, duration: 0, suites: [suite]).text
    }

    private var policyCases: [JUnitDocument.Case] {
        guard !outcome.path.isEmpty || outcome.baseline != nil else { return [] }
        let stale = outcome.expired.count + outcome.unused.count
        let message = "\(Quantity.text(stale, "suppression")) expired or not needed"
        return [
            JUnitDocument.Case(
                group: "policy", name: "what is accepted is needed",
                state: stale == 0 ? .passed : .skipped(message: message),
                details: FindingsSummary.remarks(self).joined(separator: "\n"))
        ]
    }

    private func details(_ finding: Finding) -> String {
        let numbers = { (name: String, ids: [Int64]) -> String? in
            ids.isEmpty ? nil : "\(name): \(ids.map(String.init).joined(separator: ", "))"
        }
        let rule = finding.rule
        let lines: [String?] = [
            "\(rule.rawValue): \(rule.text.title)", "where: \(finding.place)",
            "service: \(finding.service)",
            "severity: \(finding.severity.rawValue), \(finding.confidence.rawValue)",
            acceptance(of: finding).map { "accepted: \($0)" },
            "seen: \(finding.occurrences) times", numbers("exchanges", finding.exchanges),
            numbers("connections", finding.connections),
            finding.notes.isEmpty
                ? nil : "notes: \(finding.notes.map(\.text).joined(separator: "; "))",
            "why: \(rule.text.reason)", "fix: \(rule.text.advice)",
        ]
        return lines.compactMap { $0 }.joined(separator: "\n")
    }

    /// Why a finding does not count, `nil` if it does.
    func acceptance(of finding: Finding) -> String? {
        switch finding.state {
        case .open: nil
        case .known: "in \(outcome.baseline?.path ?? "the baseline")"
        case .suppressed: outcome.suppression(of: finding)?.justification
        }
    }
}
