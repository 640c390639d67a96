package import Catalogue
internal import Findings
internal import Synchronization
internal import TLS

/// What is known of one client so far: its results, and what follows from them for what is still to
/// be shown.
package final class AuditLedger: Sendable {
    private let client: String
    private let seesClear: Bool
    private let state = Mutex(State())

    private struct State {
        var pages: [AuditDestination: Page] = [:]
        /// To which the client spoke in cleartext before it did in TLS, while its servers were sound.
        var clearHosts: Set<String> = []
        /// What it asked each host for in cleartext then, after it had been there in TLS.
        var clearRequests: [String: Set<String>] = [:]
    }

    /// One destination's.
    private struct Page {
        var results: [String: AuditResult] = [:]
        var accepted: Set<String> = []
        /// Whether the client was seen to speak first, once its server was sound.
        var speaksFirst: Bool?
        /// Whether the client takes a sound server with the audit's CA; `nil` before that was tried.
        var isControlled: Bool?
        var controlExitStatus: Int32?
        /// Whether it left a connection to the sound server unused, and used another.
        var leavesSpares = false
        /// What the client offered the sound server, and where.
        var offers: [ClientHelloOffer] = []
        var offerConnections: [Int64] = []
    }

    /// - Parameter seesClear: whether all that the client sends to port 80 comes to us.
    package init(client: String, seesClear: Bool = false) {
        self.client = client
        self.seesClear = seesClear
    }

    /// Takes note of hosts that the client spoke to in cleartext, by itself.
    package func note(clearHosts: Set<String>) {
        state.withLock { $0.clearHosts.formUnion(clearHosts) }
    }

    package var destinations: [AuditDestination] { state.withLock { $0.pages.keys.sorted() } }

    /// Those whose sound server the client takes.
    package var controlled: Set<AuditDestination> {
        state.withLock { Set($0.pages.filter { $0.value.isControlled == true }.keys) }
    }

    /// What is known of a probe without showing it; `nil` if it has to be shown.
    package func foregone(
        _ probe: ProbeDescription, at destination: AuditDestination
    ) -> AuditResult? {
        if let trait = probe.trait { return judge(probe, trait, at: destination) }
        let page = state.withLock { $0.pages[destination] } ?? Page()
        let accepted = page.accepted
        let isControlled = page.isControlled
        let control = page.results[Self.control]?.outcome
        if probe.requirements.contains(.authority), isControlled == false {
            return result(probe, destination, .uncontrolled, Self.uncontrolledText(control))
        }
        guard let premise = FamilyRule.implying(probe, accepted: accepted) else { return nil }
        var implied = result(probe, destination, .implied, "it follows from \(premise)")
        implied.isSecondTry = page.results[premise]?.isSecondTry ?? false
        implied.impliedBy = premise
        return implied
    }

    private static func uncontrolledText(_ control: ProbeOutcome?) -> String {
        switch control {
        case .inconclusive:
            "it is not known whether the client takes a sound server, without which its refusals"
                + " say nothing"
        case .inClear:
            "the client speaks in cleartext to a sound server, and how it would verify is not seen"
        default:
            "the client refuses a sound server that the audit's CA vouches for, so that its"
                + " refusals say nothing"
        }
    }

    private func judge(
        _ probe: ProbeDescription, _ trait: ClientTrait, at destination: AuditDestination
    ) -> AuditResult {
        let page = state.withLock { $0.pages[destination] }
        let (outcome, evidence) =
            trait == .clearRequest
            ? judgeClear(destination, isKnown: page?.isControlled != nil)
            : OfferRule.judge(trait, page?.offers ?? [], host: destination.host)
        var judged = result(probe, destination, outcome, evidence)
        if trait != .clearRequest { judged.connections = page?.offerConnections ?? [] }
        return judged
    }

    private func judgeClear(
        _ destination: AuditDestination, isKnown: Bool
    ) -> (outcome: ProbeOutcome, evidence: String) {
        guard seesClear else {
            return (.notPossible, "what the client sends in cleartext need not come by here")
        }
        let isShown = state.withLock { state in
            state.clearHosts.contains(destination.host)
                || (state.clearRequests[destination.host] ?? []).contains { $0.hasPrefix("80 ") }
        }
        if isShown {
            return (.shown, "the client spoke to the host in cleartext, at port 80")
        }
        return isKnown
            ? (.notShown, "the client did not speak to the host in cleartext")
            : (.notSeen, "the client did not come")
    }

    /// What connections of one showing say.
    ///
    /// - Parameter run: how the command ended that was started for it; `nil` for none.
    package func judge(
        _ probe: ProbeDescription, at destination: AuditDestination,
        _ observations: [ProbeObservation], run: ProbeRun?
    ) -> AuditResult {
        let page = state.withLock { $0.pages[destination] }
        var run = run
        run?.controlExitStatus = page?.controlExitStatus
        // The sound server's own run says whether the client speaks. A command that fails there
        // would have: it pins another key, which it looks for when the handshake is done.
        let hasFailedControl =
            probe.identifier == Self.control && run?.hasFailed == true
        let speaksFirst =
            page?.speaksFirst ?? (Self.speaks(observations) || hasFailedControl ? true : nil)
        let verdicts = judgeClear(observations, of: probe, at: destination, speaksFirst)
            .filter { !$0.hasAskedForStatus }.sorted { $0.connection < $1.connection }
            .map { ConnectionRule.judge($0, speaksFirst: speaksFirst) }
        let conclusion = ProbeRule.conclude(
            verdicts, of: probe.behaviour, run: run,
            leavesSpares: page?.leavesSpares ?? false)
        var judged = result(probe, destination, conclusion.outcome, conclusion.evidence)
        judged.isSecondTry = conclusion.isSecondTry
        if let proof = observations.lazy.compactMap(\.proof).first {
            judged.evidence += ": \(proof)"
        }
        if probe.behaviour.publishesStatus {
            let hasFetched = observations.contains(where: \.hasAskedForStatus)
            judged.hasFetchedStatus = hasFetched
            judged.evidence = judged.outcome.text(hasFetched) + ": " + judged.evidence
        }
        let offers = observations.compactMap(\.offer)
        judged.namesHost = offers.isEmpty ? nil : offers.contains(where: \.namesHost)
        judged.alert = conclusion.alert
        judged.version = observations.lazy.compactMap(\.version).first
        judged.connections = observations.map(\.connection).sorted()
        judged.exitStatus = run?.exitStatus
        judged.sawToken = run?.sawToken
        return judged
    }

    /// Tells requests in cleartext that came because TLS had failed from those that the client makes
    /// anyway, which are left out.
    private func judgeClear(
        _ observations: [ProbeObservation], of probe: ProbeDescription,
        at destination: AuditDestination, _ speaksFirst: Bool?
    ) -> [ProbeObservation] {
        let (isUnknown, own) = state.withLock { state in
            (
                state.clearHosts.contains(destination.host),
                state.clearRequests[destination.host] ?? []
            )
        }
        let failed = observations.filter { seen in
            // A server that is sound at first is left when it has spoken.
            probe.behaviour.isSpeakingProof && seen.clearRequest == nil && !seen.hasAskedForStatus
                && ConnectionRule.judge(seen, speaksFirst: speaksFirst).isFailure
        }.map(\.connection)
        return observations.compactMap { seen in
            guard let request = seen.clearRequest else { return seen }
            // What it asked for before it was known to be of interest may have been the same.
            if isUnknown || own.contains(request) { return nil }
            // Of the probes that wait for it, it is the proof.
            if seen.acceptedBytes > 0 { return seen }
            guard let last = seen.followedConnection, failed.contains(where: { $0 <= last }) else {
                return nil
            }
            var seen = seen
            seen.isInClear = true
            return seen
        }
    }

    private static func speaks(_ observations: [ProbeObservation]) -> Bool {
        observations.contains { $0.acceptedBytes > 0 && !$0.hasGreeted && !$0.isInClear }
    }

    private func result(
        _ probe: ProbeDescription, _ destination: AuditDestination, _ outcome: ProbeOutcome,
        _ evidence: String
    ) -> AuditResult {
        AuditResult(
            client: client, destination: destination.text, probe: probe, outcome: outcome,
            verdict: VerdictRule.verdict(probe.expectation, outcome), evidence: evidence)
    }

    /// A probe that cannot be shown there.
    package func noteImpossible(
        _ probe: ProbeDescription, at destination: AuditDestination, _ reason: String
    ) {
        note(result(probe, destination, .notPossible, reason), [], at: destination)
    }

    /// Keeps a result. That of the sound server decides what others are worth.
    package func note(
        _ result: AuditResult, _ observations: [ProbeObservation], at destination: AuditDestination
    ) {
        state.withLock { state in
            var page = state.pages[destination] ?? Page()
            page.results[result.probe.identifier] = result
            if result.outcome == .accepted { page.accepted.insert(result.probe.identifier) }
            if result.probe.identifier == Self.control {
                page.isControlled = result.outcome == .accepted
                page.controlExitStatus = page.isControlled == true ? result.exitStatus : nil
                if page.isControlled == true { page.speaksFirst = Self.speaks(observations) }
                page.leavesSpares = observations.contains {
                    ConnectionRule.judge($0, speaksFirst: page.speaksFirst).isFailure
                }
                if page.isControlled == true {
                    state.clearRequests[destination.host, default: []]
                        .formUnion(observations.compactMap(\.clearRequest))
                }
                let hellos = observations.filter { $0.offer != nil }
                page.offers = hellos.compactMap(\.offer)
                page.offerConnections = hellos.map(\.connection).sorted()
            }
            state.pages[destination] = page
        }
    }

    /// Takes note of a destination that the client has come to, even if nothing comes of it.
    package func note(_ destination: AuditDestination) {
        state.withLock { state in
            state.pages[destination] = state.pages[destination] ?? Page()
        }
    }

    /// All results in an order of probes, destination by destination.
    ///
    /// - Parameter reason: why those are not known that have not been noted: none is left out, as
    ///   what is missing would pass for seen.
    package func results(
        inOrderOf probes: [ProbeDescription], missing reason: String
    ) -> [AuditResult] {
        destinations.flatMap { destination in
            let results = state.withLock { $0.pages[destination]?.results ?? [:] }
            return probes.map { probe in
                results[probe.identifier] ?? foregone(probe, at: destination)
                    ?? result(probe, destination, .inconclusive, reason)
            }
        }
    }

    /// The probe that all others are measured by.
    package static let control = "control-good"
}

extension ProbeOutcome {
    /// In words, with whether the certificate's status was fetched.
    fileprivate func text(_ hasFetched: Bool) -> String {
        let fetched = hasFetched ? "fetched" : "not fetched"
        return switch self {
        case .accepted, .sentThenRefused: fetched + " and accepted"
        case .refused: fetched + " and refused"
        default: fetched
        }
    }
}
