package import Base

/// What a client made of one case.
package enum BatteryOutcome: String, Sendable, CaseIterable {
    /// It said that it was done, and so it was.
    case correct
    /// It said that it failed.
    case detected
    /// It said that it was done, and what it made is wrong.
    case silent
    /// It said nothing in its time, or could not be started.
    case inconclusive
    /// What the case lets go wrong did not come to pass, so that nothing can be said.
    case notMet = "not-met"
}

package struct BatteryResult: Sendable {
    package let tried: BatteryCase
    package let outcome: BatteryOutcome
    /// What was seen, in a sentence without a full stop.
    package let evidence: String
    /// Of the last run; `nil` if none ended by itself.
    package let exitStatus: Int32?
    package let runs: Int
    package let requests: [BatteryRequestRecord]
    /// Of a download.
    package let content: BatteryContent
    /// In microseconds.
    package let duration: Int64

    /// - Parameters:
    ///   - exitStatus: `nil` for a command that was ended after its time.
    ///   - isRight: whether what the command made is what it should be.
    ///   - seen: of what it made.
    package init(
        _ tried: BatteryCase, exitStatus: Int32?, isRight: Bool,
        content: BatteryContent = .other, seen: String, runs: Int,
        requests: [BatteryRequestRecord], duration: Int64
    ) {
        self.tried = tried
        self.exitStatus = exitStatus
        self.runs = runs
        self.requests = requests
        self.content = content
        self.duration = duration
        let ended = exitStatus.map { "run \(runs) exited with \($0)" }
        let isMet = requests.meet(tried)
        switch exitStatus {
        case nil: outcome = .inconclusive
        case 0: outcome = !isRight ? .silent : isMet ? .correct : .notMet
        // A client that gives up although the server is right has failed, whatever it met.
        default: outcome = isMet || tried.isServerRight ? .detected : .notMet
        }
        let missing = outcome == .notMet ? "; what goes wrong here never reached it" : ""
        evidence = "\(ended ?? "run \(runs) was ended after its time"); \(seen)\(missing)"
    }

    /// A command that could not be started.
    package init(_ tried: BatteryCase, failure: Failure) {
        self.tried = tried
        (exitStatus, runs, requests, content, duration) = (nil, 0, [], .nothing, 0)
        outcome = .inconclusive
        evidence = failure.detail
    }
}

/// How what a client made differs from what it should be.
package enum BatteryDifference {
    package static func text(_ bytes: [UInt8]?, expected: [UInt8]) -> String {
        guard let bytes else { return "there is no file" }
        let size = "the file has \(bytes.count) of \(expected.count) bytes"
        guard bytes != expected else { return "the file is right" }
        let place = zip(bytes, expected).enumerated().first { $1.0 != $1.1 }?.offset
        return size + (place.map { " and differs from byte \($0) on" } ?? "")
    }
}

/// All that a battery found of one client.
package struct BatteryReport: Sendable {
    package let kind: BatteryKind
    package let client: String
    package let command: [String]
    package let results: [BatteryResult]
    package let startedAt: Timestamp
    /// In microseconds.
    package let duration: Int64
    package let toolVersion: String
    /// Where the client is written, for reports that point at files.
    package let source: String

    package init(
        kind: BatteryKind, client: String, command: [String], results: [BatteryResult],
        startedAt: Timestamp, duration: Int64, toolVersion: String, source: String?
    ) {
        self.kind = kind
        self.client = client
        self.command = command
        self.results = results
        self.startedAt = startedAt
        self.duration = duration
        self.toolVersion = toolVersion
        self.source = source ?? "sallyport-audit"
    }

    /// The cases that were judged; a client that fails the sound one was not.
    package var judged: [BatteryResult] { results.filter { !$0.tried.isControl } }

    /// The cases that were not tried.
    package var untried: [BatteryCase] { Array(kind.cases.dropFirst(results.count)) }

    /// Whether somebody ended it; a client that fails the sound case is not tried on others.
    package var isInterrupted: Bool {
        !untried.isEmpty && (results.isEmpty || results[0].outcome == .correct)
    }

    package func count(_ outcome: BatteryOutcome) -> Int {
        judged.count { $0.outcome == outcome }
    }

    package var verdict: AuditVerdict {
        if count(.silent) > 0 { return .failed }
        let isControlled = results.first?.outcome == .correct
        let isMet = judged.contains { $0.outcome == .correct || $0.outcome == .detected }
        return isControlled && isMet && untried.isEmpty && count(.inconclusive) == 0
            ? .clean : .inconclusive
    }
}
