package import Catalogue
internal import TLS

/// What is known of a command that was started anew for one probe.
package struct ProbeRun: Sendable, Equatable {
    package var exitStatus: Int32
    /// Whether it was ended from outside, so that the status says nothing.
    package var wasEnded = false
    /// Whether the probe's random token came back on the command's output; `nil` if that was not
    /// looked at.
    package var sawToken: Bool?
    /// How the same command ended when the server was sound; `nil` before it had that run.
    package var controlExitStatus: Int32?

    package init(
        exitStatus: Int32, wasEnded: Bool = false, sawToken: Bool? = nil,
        controlExitStatus: Int32? = nil
    ) {
        self.exitStatus = exitStatus
        self.wasEnded = wasEnded
        self.sawToken = sawToken
        self.controlExitStatus = controlExitStatus
    }

    /// Whether the command itself reports an error.
    var hasFailed: Bool { exitStatus != 0 && !wasEnded }
}

/// What a client made of a probe, and what says so.
package struct ProbeConclusion: Sendable, Equatable {
    package var outcome: ProbeOutcome
    /// What was seen, in a sentence without a full stop.
    package var evidence: String
    /// The fatal alert of the refusals, if one had any.
    package var alert: UInt8?
    /// Whether the client had refused at first, and went on nevertheless.
    package var isSecondTry = false
}

/// Judges a probe by all connections that one client made for it.
package enum ProbeRule {
    /// - Parameters:
    ///   - connections: in the order in which they began.
    ///   - run: what the command said itself; `nil` for a client that came by itself.
    ///   - leavesSpares: whether the client ends connections to a sound server, too, that it has
    ///     not used, so that such an end is no refusal.
    package static func conclude(
        _ connections: [ConnectionVerdict], of behaviour: ProbeBehaviour = .serve,
        run: ProbeRun? = nil, leavesSpares: Bool = false
    ) -> ProbeConclusion {
        let tally = VerdictTally(connections)
        var conclusion = conclude(tally, of: behaviour, run: run)
        guard conclusion.outcome == .accepted || conclusion.outcome == .inClear, !leavesSpares,
            behaviour.isSpeakingProof
        else { return conclusion }
        conclusion.isSecondTry = tally.beginsWithRefusal
        if conclusion.isSecondTry, conclusion.outcome == .accepted {
            conclusion.evidence += ", after it had refused" + tally.alertText
        }
        return conclusion
    }

    private static func conclude(
        _ tally: VerdictTally, of behaviour: ProbeBehaviour, run: ProbeRun?
    ) -> ProbeConclusion {
        let hasUsedAnswer = run?.sawToken == true && behaviour.isSpeakingProof
        if tally.accepted > 0 || hasUsedAnswer { return acceptance(tally, run) }
        if tally.inClear > 0 {
            return ProbeConclusion(
                outcome: .inClear, evidence: tally.clearText, alert: tally.alert)
        }
        // The server was sound at first: a client that has ended without more did not go on.
        let hasLeft = tally.refused > 0 && tally.alert == nil || tally.late > 0 && run != nil
        if !behaviour.isSpeakingProof, hasLeft {
            return ProbeConclusion(
                outcome: .refused, evidence: "the client ended where a flawed one goes on")
        }
        if tally.refused > 0 {
            return ProbeConclusion(
                outcome: .refused, evidence: tally.refusalText, alert: tally.alert)
        }
        if tally.late >= 2 || tally.late == 1 && saysNo(run) {
            return ProbeConclusion(outcome: .refused, evidence: tally.lateText(run))
        }
        if tally.suspected > 0 {
            return ProbeConclusion(
                outcome: .suspected,
                evidence: "the client took the certificate; what it sent then cannot be read")
        }
        if tally.notOffered > 0 {
            return ProbeConclusion(
                outcome: .notOffered, evidence: "the client offers nothing that the probe needs")
        }
        return ProbeConclusion(outcome: .inconclusive, evidence: tally.unclearText)
    }

    private static func acceptance(_ tally: VerdictTally, _ run: ProbeRun?) -> ProbeConclusion {
        var evidence =
            tally.accepted == 0
            ? "what only the probe's server says came back on the command's output"
            : "the client sent data" + tally.share(tally.accepted)
        // lftp, for one, sends its request before it has looked at the certificate: the data is
        // lost all the same, but the mistake is another one.
        if let run, run.hasFailed, run.sawToken != true, run.controlExitStatus == 0 {
            evidence += ", and its command failed in the end (\(exitText(run)))"
            return ProbeConclusion(
                outcome: .sentThenRefused, evidence: evidence, alert: tally.alert)
        }
        if tally.accepted > 0, run?.sawToken == true { evidence += " and used the answer" }
        return ProbeConclusion(outcome: .accepted, evidence: evidence)
    }

    /// Whether the command reports an error that it does not report when all is well.
    ///
    /// One late end of a connection may be a connection that was opened in advance, which is why
    /// two are asked for. A command that was started for this probe alone, and fails, has said
    /// the same a second time.
    private static func saysNo(_ run: ProbeRun?) -> Bool {
        guard let run, run.hasFailed else { return false }
        return run.controlExitStatus == nil || run.controlExitStatus == 0
    }

    fileprivate static func exitText(_ run: ProbeRun) -> String {
        "exit status \(run.exitStatus)"
    }
}

/// How often each verdict was given.
private struct VerdictTally {
    private(set) var accepted = 0
    private(set) var inClear = 0
    private(set) var refused = 0
    private(set) var late = 0
    private(set) var suspected = 0
    private(set) var notOffered = 0
    private(set) var alert: UInt8?
    /// Whether the first connection that says anything was refused.
    private(set) var beginsWithRefusal = false
    private var reason: String?
    private let total: Int

    init(_ verdicts: [ConnectionVerdict]) {
        total = verdicts.count
        var weakReason: String?
        beginsWithRefusal = verdicts.first { $0.isFailure || $0.isAcceptance }?.isRefusal ?? false
        for verdict in verdicts {
            switch verdict {
            case .accepted: accepted += 1
            case .inClear: inClear += 1
            case .refused(let alert):
                refused += 1
                self.alert = self.alert ?? alert
            case .refusedLate: late += 1
            case .suspected: suspected += 1
            case .notOffered: notOffered += 1
            case .inconclusive(let text): reason = text
            case .noEvidence(let text): weakReason = text
            }
        }
        reason = reason ?? weakReason
    }

    var refusalText: String {
        guard let alert else { return "the client closed during the handshake, without an alert" }
        let name = TLSAlert(isFatal: true, code: alert).name
        return "the client refused with alert \(alert) (\(name))"
    }

    var clearText: String {
        let text = "the client sent its data in cleartext" + share(inClear)
        guard refused > 0 else { return text }
        return text + ", and refused TLS" + alertText
    }

    var alertText: String {
        alert.map { " with alert \($0) (\(TLSAlert(isFatal: true, code: $0).name))" } ?? ""
    }

    func lateText(_ run: ProbeRun?) -> String {
        let text = "the client closed after the handshake and had sent nothing" + share(late)
        guard let run, run.hasFailed else { return text }
        return text + ", and its command failed (\(ProbeRule.exitText(run)))"
    }

    var unclearText: String {
        if total == 0 { return "the client did not connect" }
        if late > 0 {
            return "the client closed after the handshake once, which may have had another cause"
        }
        return reason ?? "nothing was seen of the client's judgement"
    }

    func share(_ count: Int) -> String {
        total == 1 ? "" : " on \(count) of \(total) connections"
    }
}
