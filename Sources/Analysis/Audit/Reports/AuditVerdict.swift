internal import Catalogue

/// What an audit says as a whole.
package enum AuditVerdict: String, Sendable {
    /// Everything that had to be seen was seen, and was right.
    case clean
    case failed
    /// Nothing failed, but something that had to be seen was not.
    case inconclusive
}

extension AuditReport {
    /// - Parameter countingWarnings: whether a warning fails the audit, too.
    package func verdict(countingWarnings: Bool = false) -> AuditVerdict {
        let verdicts = Set(results.map(\.verdict))
        if verdicts.contains(.fail) || countingWarnings && verdicts.contains(.warn) {
            return .failed
        }
        // Nothing that was skipped is a pass: a client that never came has passed nothing.
        let wasJudged = results.contains(where: \.isAnswer)
        return wasJudged && !results.contains(where: \.leavesQuestion) ? .clean : .inconclusive
    }

    package var counts: AuditCounts { AuditCounts(results) }
}

extension AuditResult {
    /// Whether a client did something that was asked about; that it refuses a sound server is an
    /// answer to nothing else.
    fileprivate var isAnswer: Bool {
        switch verdict {
        case .pass, .warn, .fail: true
        case .note: probe.expectation != .accept
        case .inconclusive, .skipped: false
        }
    }

    /// Whether something should have been seen of a client here, and was not.
    ///
    /// Not so for what is only noted, nor for what this machine cannot present. A client that refuses
    /// the sound server may talk to nobody: what else it refuses says little.
    var leavesQuestion: Bool {
        if probe.identifier == ControlRule.identifier, outcome == .refused { return true }
        return probe.expectation != .inform
            && (verdict == .inconclusive || outcome == .uncontrolled)
    }
}

/// How many results have which verdict.
package struct AuditCounts: Sendable, Equatable {
    private var numbers: [ProbeVerdict: Int] = [:]

    package init(_ results: [AuditResult]) {
        for result in results { numbers[result.verdict, default: 0] += 1 }
    }

    package subscript(verdict: ProbeVerdict) -> Int { numbers[verdict] ?? 0 }

    package var total: Int { numbers.values.reduce(0, +) }
}
