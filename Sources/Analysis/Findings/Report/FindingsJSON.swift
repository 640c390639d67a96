package import Base
internal import Redaction
internal import Traffic

/// Makes one JSON document of a report, in the schema `sallyport.findings/1`.
package enum FindingsJSON {
    package static func document(_ report: FindingsReport) -> JSONText {
        [
            "schema": .string("sallyport.findings/1"),
            "coverage": coverage(report.coverage),
            "firstParties": [
                "services": .array(report.firstParties.names.map { .string($0) }),
                "guessed": .boolean(report.firstParties.isGuessed),
            ],
            "inconclusive": .array(report.inconclusive.map { .string($0.rawValue) }),
            "findings": .array(report.findings.map(object)),
        ]
    }

    private static func coverage(_ coverage: FindingsCoverage) -> JSONText {
        [
            "exchanges": .integer(Int64(coverage.exchanges)),
            "clearExchanges": .integer(Int64(coverage.clearExchanges)),
            "connections": .integer(Int64(coverage.connections)),
            "tlsConnections": .integer(Int64(coverage.tlsConnections)),
            "clientRefused": .integer(Int64(coverage.clientRefused)),
            "clientHandshakeFailed": .integer(Int64(coverage.clientHandshakeFailed)),
            "passedThrough": .integer(Int64(coverage.passedThrough)),
            "originUnreachable": .integer(Int64(coverage.originUnreachable)),
            "originUntrusted": .integer(Int64(coverage.originUntrusted)),
            "originHandshakeFailed": .integer(Int64(coverage.originHandshakeFailed)),
            "broken": .integer(Int64(coverage.broken)),
            "timedOut": .integer(Int64(coverage.timedOut)),
            "truncatedBodies": .integer(Int64(coverage.truncatedBodies)),
            "undecodableBodies": .integer(Int64(coverage.undecodableBodies)),
            "partlyReadBodies": .integer(Int64(coverage.partlyReadBodies)),
            "malformedHeads": .integer(Int64(coverage.malformedHeads)),
            "missingHeads": .integer(Int64(coverage.missingHeads)),
            "messages": .integer(Int64(coverage.messages)),
            "truncatedMessages": .integer(Int64(coverage.truncatedMessages)),
            "notUnderstood": .integer(Int64(coverage.notUnderstood)),
            "notDecrypted": .integer(Int64(coverage.notDecrypted)),
            "packetsMissing": .integer(Int64(coverage.packetsMissing)),
        ]
    }

    private static func object(_ finding: Finding) -> JSONText {
        [
            "rule": .string(finding.rule.rawValue),
            "title": .string(finding.rule.text.title),
            "severity": .string(finding.severity.rawValue),
            "confidence": .string(finding.confidence.rawValue),
            "party": .string(finding.party.text),
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
            "reason": .string(finding.rule.text.reason),
            "advice": .string(finding.rule.text.advice),
            "cwe": .array(finding.rule.text.weaknesses.map { .integer(Int64($0)) }),
        ]
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
