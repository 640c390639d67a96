package import Base
internal import Findings
internal import TLS

/// The report for programs.
extension BatteryReport {
    /// One document in the schema `sallyport.battery/1`.
    package var json: JSONText {
        [
            "schema": "sallyport.battery/1",
            "toolVersion": .string(toolVersion),
            "startedAt": .string(startedAt.rfc3339),
            "durationMs": .thousandths(duration),
            "battery": .string(kind.rawValue),
            "client": .string(client),
            "command": .array(command.map(JSONText.string)),
            "verdict": .string(verdict.rawValue),
            "counts": .object(
                BatteryOutcome.allCases.map {
                    JSONText.Member(
                        $0 == .notMet ? "notMet" : $0.rawValue, .integer(Int64(count($0))))
                }),
            "untried": .each(untried) { .string($0.id) },
            "diagnosis": .each(diagnosis) { diagnosis in
                [
                    "mistake": .string(diagnosis.mistake.rawValue),
                    "title": .string(diagnosis.mistake.title),
                    "sentence": .string(diagnosis.mistake.sentence),
                    "fix": .string(diagnosis.mistake.fix(in: kind)),
                    "cases": .each(diagnosis.cases) { .string($0) },
                ]
            },
            "results": .each(results, Self.member),
        ]
    }

    private static func member(_ result: BatteryResult) -> JSONText {
        let tried = result.tried
        return [
            "case": .string(tried.id), "title": .string(tried.title),
            "outcome": .string(result.outcome.rawValue),
            "evidence": .string(result.evidence),
            "demand": .string(tried.demand), "source": .string(tried.source),
            "severity": .string(tried.severity.rawValue),
            "serverIsRight": .boolean(tried.isServerRight),
            "exitStatus": .optional(result.exitStatus),
            "runs": .integer(Int64(result.runs)),
            "requests": .each(result.requests) { .string($0.text) },
            "durationMs": .thousandths(result.duration),
        ]
    }

    /// What was wrong in silence, as SARIF 2.1.0.
    package var sarif: JSONText {
        SARIFDocument(
            category: "sallyport-battery/\(kind.rawValue)/", toolVersion: toolVersion,
            startedAt: startedAt,
            results: judged.filter { $0.outcome == .silent }.map(alert),
            warnings: verdict == .inconclusive ? ["what had to be seen was not seen"] : []
        ).json
    }

    private func alert(_ result: BatteryResult) -> SARIFDocument.Result {
        let tried = result.tried
        let id = "\(kind.rawValue)/\(tried.id)"
        let help = "\(tried.demand) (\(tried.source))"
        return SARIFDocument.Result(
            rule: SARIFDocument.Rule(
                id: id, title: tried.title, description: tried.title, help: help,
                severity: tried.severity, precision: "very-high",
                tags: ["correctness", "external/cwe/cwe-353"]),
            level: SARIFDocument.level(tried.severity),
            message: "\(client), \(tried.title): silent: \(result.evidence). Fix: \(tried.demand).",
            source: SourceLocation(source), place: client,
            fingerprint: TLS.Digests.sha256(Array("\(id)|\(client)".utf8)).hex,
            properties: Self.member(result))
    }

    /// Every case, as JUnit XML.
    package var junit: String {
        JUnitDocument(
            name: "sallyport battery", duration: duration,
            suites: [
                JUnitDocument.Suite(
                    name: client, host: "localhost", startedAt: startedAt,
                    properties: [
                        ("client", client), ("battery", kind.rawValue),
                        ("tool", "sallyport \(toolVersion)"),
                    ], cases: results.map(testCase) + untried.map(untriedCase))
            ]
        ).text
    }

    private func testCase(_ result: BatteryResult) -> JUnitDocument.Case {
        let (tried, message) = (result.tried, "\(result.outcome.rawValue): \(result.evidence)")
        let state: JUnitDocument.Case.State =
            switch result.outcome {
            case .silent: .failed(message: message, type: "silent")
            case .inconclusive: .broken(message: message, type: "inconclusive")
            case .detected where tried.isControl: .broken(message: message, type: "detected")
            case .notMet: .skipped(message: message)
            case .correct, .detected: .passed
            }
        return JUnitDocument.Case(
            group: kind.rawValue, name: "\(tried.id): \(tried.title) (\(client))",
            duration: result.duration, state: state,
            details: ([message, "demand: \(tried.demand)", "source: \(tried.source)"]
                + result.requests.map(\.text)).joined(separator: "\n"))
    }

    private func untriedCase(_ tried: BatteryCase) -> JUnitDocument.Case {
        let message = isInterrupted ? "not run: interrupted" : "not run: 'sound' was not right"
        return JUnitDocument.Case(
            group: kind.rawValue, name: "\(tried.id): \(tried.title) (\(client))",
            state: .skipped(message: message), details: message)
    }
}
