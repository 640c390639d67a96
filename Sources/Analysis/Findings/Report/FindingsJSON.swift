package import Base
internal import Contents
internal import Traffic

/// Makes one JSON document of a report, in the schema `sallyport.findings/1`.
package enum FindingsJSON {
    package static func document(_ report: FindingsReport) -> JSONText {
        [
            "schema": .string("sallyport.findings/1"),
            "coverage": .object(
                report.coverage.counts.map { JSONText.Member($0.name, .integer(Int64($0.count))) }),
            "firstParties": [
                "services": .array(report.firstParties.names.map { .string($0) }),
                "guessed": .boolean(report.firstParties.isGuessed),
            ],
            "inventory": report.inventory.json,
            "inconclusive": .array(report.inconclusive.map { .string($0.rawValue) }),
            "unmet": .array(report.outcome.unmet.map { .string($0) }),
            "failOn": .string(report.gate.standard.text),
            "policy": policy(report),
            "baseline": baseline(report),
            "findings": .array(report.findings.map { object($0, in: report) }),
        ]
    }

    private static func policy(_ report: FindingsReport) -> JSONText {
        let outcome = report.outcome
        guard !outcome.path.isEmpty else { return .null }
        let isSuppressed = { (finding: Finding) in outcome.suppression(of: finding) != nil }
        return [
            "path": .string(outcome.path),
            "gateRules": .array(
                report.gate.rules.sorted { $0.key.order < $1.key.order }.map { rule, level in
                    [
                        "rule": .string(rule.rawValue), "failOn": .string(level.text),
                        "line": report.gate.lines[rule].map { .integer(Int64($0)) } ?? .null,
                    ]
                }),
            "firstParties": .array(outcome.firstParties.map { .string($0) }),
            "suppressed": .integer(Int64(report.findings.count(where: isSuppressed))),
            "expired": .array(outcome.expired.map(object)),
            "unused": .array(outcome.unused.map(object)),
        ]
    }

    private static func object(_ suppression: Suppression) -> JSONText {
        [
            "line": .integer(Int64(suppression.line)),
            "subject": .string(suppression.subject),
            "reason": .string(suppression.reason),
            "owner": .optional(suppression.owner),
            "expires": .optional(suppression.lastDay),
        ]
    }

    private static func baseline(_ report: FindingsReport) -> JSONText {
        guard let baseline = report.outcome.baseline else { return .null }
        return [
            "path": .string(baseline.path),
            "known": .integer(Int64(baseline.knownCount)),
            "unseen": .array(
                baseline.unseen.map {
                    ["fingerprint": .string($0.fingerprint), "title": .string($0.title)]
                }),
        ]
    }

    private static func object(_ finding: Finding, in report: FindingsReport) -> JSONText {
        [
            "rule": .string(finding.rule.rawValue),
            "title": .string(finding.rule.text.title),
            "severity": .string(finding.severity.rawValue),
            "confidence": .string(finding.confidence.rawValue),
            "party": .string(finding.service),
            "blames": .string(finding.rule.text.party.rawValue),
            "scheme": .string(finding.urlTemplate.dialogue?.scheme ?? finding.scheme.rawValue),
            "method": finding.method.map { .string($0.rawValue) } ?? .null,
            "url": .string(finding.urlTemplate.text),
            "selector": finding.selector.map { .string($0.text) } ?? .null,
            "decodeChain": .array(finding.decodeChain.map { .string($0.rawValue) }),
            "value": finding.value.map(value) ?? .null,
            "notes": .array(finding.notes.map { .string($0.text) }),
            "exchanges": .array(finding.exchanges.map { .integer($0) }),
            "connections": .array(finding.connections.map { .integer($0) }),
            "occurrences": .integer(Int64(finding.occurrences)),
            "rolledUp": .boolean(finding.isRolledUp),
            "firstSeenAt": .string(finding.firstSeen.rfc3339),
            "lastSeenAt": .string(finding.lastSeen.rfc3339),
            "fingerprint": .string(finding.fingerprint),
            "state": .string(state(of: finding)),
            "fails": .boolean(report.fails(finding)),
            "suppression": report.outcome.suppression(of: finding).map(object) ?? .null,
            "reason": .string(finding.rule.text.reason),
            "advice": .string(finding.rule.text.advice),
            "cwe": .array(finding.rule.text.weaknesses.map { .integer(Int64($0)) }),
        ]
    }

    /// The words are a contract.
    private static func state(of finding: Finding) -> String {
        switch finding.state {
        case .open: "open"
        case .known: "known"
        case .suppressed: "suppressed"
        }
    }

    private static func value(_ value: RedactedValue) -> JSONText {
        [
            "kind": .string(value.kind.rawValue),
            "length": .string(value.lengthBucket.rawValue),
            "charset": .array(value.charset.names.map { .string($0) }),
            "prefix": value.prefix.map { .string($0.rawValue) } ?? .null,
            "tag": .string(value.tag.text),
        ]
    }
}
