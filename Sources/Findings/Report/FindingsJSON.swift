internal import Base
internal import Traffic

/// Renders a report as one JSON document of the schema `sallyport.findings/1`.
package enum FindingsJSON {
    package static func render(_ report: FindingsReport) -> String {
        let document: JSONText = .object([
            ("schema", .string("sallyport.findings/1")),
            ("coverage", coverage(report.coverage)),
            ("inconclusive", .array(report.inconclusive.map { .string($0.rawValue) })),
            ("findings", .array(report.findings.map(object))),
        ])
        return document.text + "\n"
    }

    private static func coverage(_ coverage: FindingsCoverage) -> JSONText {
        .object([
            ("exchanges", .number(coverage.exchanges)),
            ("clear_exchanges", .number(coverage.clearExchanges)),
            ("connections", .number(coverage.connections)),
            ("tls_connections", .number(coverage.tlsConnections)),
            ("client_refused", .number(coverage.clientRefused)),
            ("client_handshake_failed", .number(coverage.clientHandshakeFailed)),
            ("passed_through", .number(coverage.passedThrough)),
            ("origin_unreachable", .number(coverage.originUnreachable)),
            ("origin_untrusted", .number(coverage.originUntrusted)),
            ("truncated_bodies", .number(coverage.truncatedBodies)),
            ("undecodable_bodies", .number(coverage.undecodableBodies)),
            ("malformed_heads", .number(coverage.malformedHeads)),
            ("messages", .number(coverage.messages)),
            ("truncated_messages", .number(coverage.truncatedMessages)),
        ])
    }

    fileprivate static func object(_ finding: Finding) -> JSONText {
        .object([
            ("rule", .string(finding.rule.rawValue)),
            ("title", .string(finding.title)),
            ("severity", .string(finding.severity.rawValue)),
            ("confidence", .string(finding.confidence.rawValue)),
            ("party", .string(finding.party.text)),
            ("blames", .string(finding.rule.party.rawValue)),
            (
                "scheme",
                .string(finding.urlTemplate.dialogue?.scheme ?? finding.scheme.rawValue)
            ),
            ("method", finding.method.map { .string($0.rawValue) } ?? .null),
            ("url", .string(finding.urlTemplate.text)),
            ("selector", finding.selector.map { .string($0.text) } ?? .null),
            ("decode_chain", .array(finding.decodeChain.map { .string($0.rawValue) })),
            ("value", finding.value.map(value) ?? .null),
            ("notes", .array(finding.notes.map { .string($0.text) })),
            ("exchanges", .array(finding.exchanges.map { .number(Int($0)) })),
            ("connections", .array(finding.connections.map { .number(Int($0)) })),
            ("occurrences", .number(finding.occurrences)),
            ("rolled_up", .bool(finding.isRolledUp)),
            ("first_seen", .string(finding.firstSeen.rfc3339)),
            ("last_seen", .string(finding.lastSeen.rfc3339)),
            ("fingerprint", .string(finding.fingerprint)),
            ("reason", .string(finding.reason)),
            ("advice", .string(finding.advice)),
            ("cwe", .array(finding.weaknesses.map { .number($0) })),
        ])
    }

    private static func value(_ value: RedactedValue) -> JSONText {
        .object([
            ("kind", .string(value.kind.rawValue)),
            ("length", .string(value.lengthBucket.rawValue)),
            ("charset", .array(value.charset.names.map { .string($0) })),
            ("prefix", value.prefix.map { .string($0.rawValue) } ?? .null),
            ("tag", .string(value.tag.text)),
        ])
    }
}

extension Finding {
    /// The finding as a JSON object, as it stands in a report.
    package var jsonObjectText: String { FindingsJSON.object(self).text }
}

/// JSON text in the making; keys stay in the order given.
private indirect enum JSONText {
    case null
    case bool(Bool)
    case number(Int)
    case string(String)
    case array([JSONText])
    case object([(String, JSONText)])

    var text: String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .number(let value): String(value)
        case .string(let value): Self.quoted(value)
        case .array(let items): "[" + items.map(\.text).joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.map { Self.quoted($0.0) + ":" + $0.1.text }.joined(separator: ",") + "}"
        }
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case _ where scalar.value < 0x20:
                result += "\\u00" + [UInt8(scalar.value)].hex
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
