package import Base
package import Findings
internal import Launching
internal import Processes
internal import Replay
package import Traffic
internal import Views

/// What the run of one command comes to.
package struct RunReport {
    package let outcome: ClientRun.Outcome
    package let findings: FindingsReport
    /// What the command could have sent elsewhere; `nil` unless it was to be left no other way.
    package let coverage: CoverageReport?
    /// What went past the proxy; `nil` where no way past was left.
    private let past: PastConnections?
    private let undecrypted: UndecryptedHosts
    private let connectionCount: Int
    private let failedCount: Int
    private let mayBeCommitted: Bool

    /// Judges what the run recorded, and nothing that the capture had before.
    ///
    /// - Parameter progress: told how many exchanges of how many were passed.
    ///
    /// Errors: those of reading the capture.
    package init(
        _ outcome: ClientRun.Outcome, in capture: any TrafficSource,
        configuration: FindingsConfiguration, expecting expected: [PastPattern] = [],
        progress: (_ done: Int64, _ total: Int64) throws -> Void = { _, _ in }
    ) throws {
        let records = RecordsSince(outcome.firstRecords, in: capture)
        self.outcome = outcome
        mayBeCommitted = WorkTree.wouldTake(outcome.capturePath)
        findings = try CaptureInspection.report(
            on: records, configuration: configuration, progress: progress)
        let isConfined = outcome.network != nil || outcome.confinementFailure != nil
        coverage = isConfined ? CoverageReport(outcome) : nil
        undecrypted = try UndecryptedHosts(records)
        var (count, failed) = (0, 0)
        var origins: Set<String> = []
        try records.connections { record in
            if let address = record.originAddress { origins.insert(address) }
            count += 1
            if record.outcome.isFailure { failed += 1 }
            return true
        }
        (connectionCount, failedCount) = (count, failed)
        past =
            outcome.network == nil
            ? PastConnections(
                outcome.past, expected: expected,
                countsLoopback: configuration.treatsLoopbackAsRemote, origins: origins) : nil
    }

    package var verdict: GateVerdict {
        GateVerdict(findings, besides: besides, missed: missCount > 0 ? misses : nil)
    }

    private typealias Reason = GateVerdict.Reason

    private var missCount: Int { outcome.misses?.count ?? 0 }

    /// The reasons that are not the traffic's own.
    private var besides: [Reason] {
        var reasons: [Reason] = []
        if outcome.ending != .exited(0) {
            reasons.append(
                Reason(code: "command-failed", text: "the command \(outcome.ending.text)"))
        }
        if let failure = outcome.confinementFailure {
            reasons.append(
                Reason(code: "not-leak-proof", text: "not leak-proof: \(failure.detail)"))
        }
        if let text = past?.wentPast { reasons.append(Reason(code: "went-past", text: text)) }
        return reasons
    }

    /// What is told before the findings.
    package var lines: [String] {
        ["the command \(outcome.ending.text); recorded in \(outcome.capturePath)"]
            + (coverage?.lines ?? []) + undecrypted.lines + (past?.lines ?? [])
            + leftRunning + (missCount > 0 ? [misses] : [])
    }

    /// Programs that nothing is seen of any more.
    private var leftRunning: [String] {
        guard !outcome.leftRunning.isEmpty else { return [] }
        let state =
            outcome.network == nil
            ? "what it does from now on is not seen" : "cut off from the network"
        return [
            "left running by the command, and \(state): "
                + outcome.leftRunning.joined(separator: ", ")
        ]
    }

    private var misses: String {
        // More than the first are counted alone.
        let reasons = Set(outcome.misses?.first.map(\.reason) ?? [])
        if reasons == [.difference] {
            return Quantity.text(missCount, "dialogue") + " differed from what was recorded"
        }
        let isHTTP = reasons.isDisjoint(with: [.difference, .dialogue])
        return Quantity.text(missCount, isHTTP ? "request" : "request or dialogue")
            + " had no recorded answer"
    }

    /// What no verdict tells, with what can be done about it.
    package var remarks: [(note: String, hint: String)] {
        var remarks: [(note: String, hint: String)] = []
        for miss in outcome.misses?.first ?? [] { remarks.append((miss.detail, miss.hint)) }
        if failedCount > 0 {
            remarks.append(
                (
                    "\(failedCount) of \(connectionCount) connections failed",
                    "'sallyport connections \(shellQuoted(outcome.capturePath))' says why"
                ))
        }
        if mayBeCommitted {
            remarks.append(
                (
                    "\(outcome.capturePath) holds every secret that passed, and git would commit it",
                    "put *.sallyport into .gitignore, or record elsewhere with --capture"
                ))
        }
        if past?.wentPast != nil {
            remarks.append(
                (
                    "what went past the proxy was not judged",
                    "--capture-all leaves no way past; --expect-past ADDRESS takes it as it is"
                ))
        }
        if takesCertificates {
            remarks.append(
                (
                    "whether it verifies its servers was not looked at",
                    "'sallyport audit -- COMMAND' shows it flawed ones"
                ))
        }
        return remarks
    }

    /// Whether the certificates of the proxy were taken, which says nothing of those of others.
    private var takesCertificates: Bool {
        findings.coverage.tlsConnections > findings.coverage.clientRefused
    }
}

/// The report for programs.
extension RunReport {
    /// One document in the schema `sallyport.run/1`.
    package func json(toolVersion: String) -> JSONText {
        [
            "schema": "sallyport.run/1",
            "toolVersion": .string(toolVersion),
            "startedAt": .string(outcome.startedAt.rfc3339),
            "durationMs": .thousandths(outcome.duration),
            "command": .array(CommandLineRedaction.redact(outcome.command).map { .string($0) }),
            "commandStatus": .integer(Int64(outcome.ending.status)),
            "commandSignal": outcome.ending.signal.map { .integer(Int64($0)) } ?? .null,
            "capture": .string(outcome.capturePath),
            "verdict": .string(verdict.kind.rawValue),
            "failOn": .string(findings.gate.standard.text),
            "reasons": .array(
                verdict.reasons.map { ["code": .string($0.code), "text": .string($0.text)] }),
            "counts": .object(
                Severity.allCases.reversed().map { level in
                    let count = findings.findings.count {
                        $0.severity == level && $0.state == .open
                    }
                    return JSONText.Member(level.rawValue, .integer(Int64(count)))
                }),
            "connections": .integer(Int64(connectionCount)),
            "failedConnections": .integer(Int64(failedCount)),
            "confinement": coverage?.json(undecrypted: undecrypted.texts) ?? .null,
            "past": past?.json ?? .null,
            "leftRunning": .array(outcome.leftRunning.map { .string($0) }),
            "misses": outcome.misses.map { .integer(Int64($0.count)) } ?? .null,
            "findings": FindingsJSON.document(findings),
        ]
    }

    /// The report in one of the forms for files.
    package func document(_ format: ReportFormat, toolVersion: String) -> [UInt8] {
        switch format {
        case .json: json(toolVersion: toolVersion).line + [0x0A]
        case .junit: Array(junit(toolVersion: toolVersion).utf8)
        default:
            findings.document(
                format,
                of: ReportSubject(
                    toolVersion: toolVersion, capture: Files.relative(outcome.capturePath),
                    facts: lines,
                    reasons: besides.map(\.text) + (missCount > 0 ? [misses] : [])))
        }
    }

    /// JUnit XML with a case more: how the command itself ended.
    package func junit(toolVersion: String) -> String {
        let ending = "the command \(outcome.ending.text)"
        let command = JUnitDocument.Case(
            group: "command", name: "the command succeeded", duration: outcome.duration,
            state: outcome.ending == .exited(0)
                ? .passed : .failed(message: ending, type: "command-failed"), details: ending)
        var cases = [command]
        if outcome.misses != nil {
            cases.append(
                JUnitDocument.Case(
                    group: "replay", name: "every request had a recorded answer",
                    state: missCount == 0 ? .passed : .failed(message: misses, type: "missed"),
                    details: (outcome.misses?.first ?? []).map(\.detail).joined(separator: "\n")))
        }
        return findings.junit(
            toolVersion: toolVersion, capture: outcome.capturePath,
            reasons: verdict.reasons.filter { $0.code != "command-failed" }.map(\.text),
            command: "sallyport run", and: cases)
    }
}
