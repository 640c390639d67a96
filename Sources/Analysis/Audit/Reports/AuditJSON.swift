package import Base
package import Catalogue
internal import TLS

/// Renders a report as one JSON document of the schema `sallyport.audit/1`.
package enum AuditJSON {
    package static func document(
        _ report: AuditReport, countingWarnings: Bool = false
    ) -> JSONText {
        [
            "schema": "sallyport.audit/1",
            "toolVersion": .string(report.toolVersion),
            "startedAt": .string(report.startedAt.rfc3339),
            "durationMs": .thousandths(report.duration),
            "capture": .string(report.capturePath),
            "command": .array(report.command.map(JSONText.string)),
            "verdict": .string(report.verdict(countingWarnings: countingWarnings).rawValue),
            "counts": counts(report.counts),
            "diagnosis": .array(Diagnosis.all(in: report.results).map(diagnosis)),
            "results": .array(report.results.map(result)),
        ]
    }

    /// A probe, in the schema `sallyport.probe/1`.
    package static func document(_ probe: ProbeDescription) -> JSONText {
        [
            "schema": "sallyport.probe/1",
            "id": .string(probe.identifier),
            "family": .string(probe.family.rawValue),
            "profile": .string(probe.profile.rawValue),
            "expectation": .string(probe.expectation.rawValue),
            "severity": .string(probe.severity.rawValue),
            "title": .string(probe.title),
            "reason": .string(probe.reason),
            "source": .string(probe.source),
        ]
    }

    private static func counts(_ counts: AuditCounts) -> JSONText {
        .object(
            ProbeVerdict.allCases.map { verdict in
                JSONText.Member(verdict.rawValue, .integer(Int64(counts[verdict])))
            })
    }

    private static func diagnosis(_ diagnosis: Diagnosis) -> JSONText {
        [
            "client": .string(diagnosis.client),
            "destination": .string(diagnosis.destination),
            "mistake": .string(diagnosis.mistake.rawValue),
            "title": .string(diagnosis.mistake.title),
            "sentence": .string(diagnosis.mistake.sentence),
            "fix": .string(diagnosis.fix),
            "probes": .array(diagnosis.probes.map(JSONText.string)),
        ]
    }

    private static func result(_ result: AuditResult) -> JSONText {
        let probe = result.probe
        return [
            "client": .string(result.client),
            "destination": .string(result.destination),
            "probe": .string(probe.identifier),
            "family": .string(probe.family.rawValue),
            "title": .string(probe.title),
            "expectation": .string(probe.expectation.rawValue),
            "outcome": .string(result.outcome.rawValue),
            "verdict": .string(result.verdict.rawValue),
            "evidence": .string(result.evidence),
            "alert": result.alert.map(alert) ?? .null,
            "tlsVersion": .optional(result.version),
            "severity": .string(probe.severity.rawValue),
            "reason": .string(probe.reason),
            "source": .string(probe.source),
            "fix": .string(probe.fix),
            "cwe": .array(probe.weaknesses.map { .integer(Int64($0)) }),
            "masvs": .array(probe.controls.map(JSONText.string)),
            "connections": .array(result.connections.map(JSONText.integer)),
            "impliedBy": .optional(result.impliedBy),
            "exitStatus": .optional(result.exitStatus),
            "sawToken": result.sawToken.map(JSONText.boolean) ?? .null,
            "fetchedStatus": result.hasFetchedStatus.map(JSONText.boolean) ?? .null,
            "durationMs": .thousandths(result.duration),
        ]
    }

    static func alert(_ code: UInt8) -> JSONText {
        [
            "code": .integer(Int64(code)),
            "name": .string(TLSAlert(isFatal: true, code: code).name),
        ]
    }
}
