internal import Audit
internal import Base
internal import Catalogue
internal import Launching
internal import Proxy
internal import Synchronization
internal import TLS

/// Audits one command: starts it for one probe after the other, and judges what it did.
struct AuditRunTask: Sendable {
    let launcher: AuditLauncher
    let presenter: any ProbePresenter
    /// What is shown, in this order; the sound server comes first.
    let probes: [ProbeDescription]
    let ledger: AuditLedger
    /// Which destinations are audited.
    let concerns: @Sendable (AuditDestination) -> Bool
    /// Whether the command can be led to a host that a probe has of its own.
    let leadsHosts: Bool
    /// How many commands may run at once.
    let jobs: Int
    /// Called when another probe is done.
    let advance: @Sendable () -> Void

    /// How often a probe is shown until it is clear what the client makes of it.
    private static let attemptLimit = 3

    /// - Returns: how the command ended, if it did not come to its server; `nil` if it did.
    ///
    /// Errors: those of starting the command.
    func run() async throws(Failure) -> AuditLauncher.Trace? {
        guard let first = probes.first else { return nil }
        let trace = try await show(first, index: 0)
        guard !ledger.destinations.isEmpty else { return trace }
        let queue = ProbeQueue(probes.dropFirst())
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<jobs {
                group.addTask {
                    while let (index, probe) = queue.next(), !launcher.isStopped {
                        do throws(Failure) {
                            try await show(probe, index: index)
                        } catch {
                            queue.stop(error)
                        }
                    }
                }
            }
        }
        if let failure = queue.failure { throw failure }
        return nil
    }

    /// Shows a probe until its outcome is clear, or notes why it is not shown.
    ///
    /// - Returns: how the command ended the last time, `nil` if it was not started.
    @discardableResult
    private func show(
        _ probe: ProbeDescription, index: Int
    ) async throws(Failure) -> AuditLauncher.Trace? {
        defer { advance() }
        var waiting = Set<AuditDestination>()
        for destination in ledger.destinations {
            if let foregone = ledger.foregone(probe, at: destination) {
                ledger.note(foregone, [], at: destination)
            } else {
                waiting.insert(destination)
            }
        }
        let isFirst = ledger.destinations.isEmpty
        let anchors = try prepare(probe, &waiting)
        guard isFirst || !waiting.isEmpty else { return nil }
        var last: AuditLauncher.Trace?
        var attempt = 0
        var seen: [AuditDestination: [ProbeObservation]] = [:]
        while attempt < Self.attemptLimit, isFirst || !waiting.isEmpty, !launcher.isStopped {
            let hosts = probe.host.map { [$0] } ?? Set(waiting.map(\.host))
            let sound = isFirst ? nil : soundServers(besides: hosts)
            let slot = ProbeSlot(probe, presenter, sound: sound) { [concerns] destination in
                isFirst ? concerns(destination) : hosts.contains(destination.host)
            }
            let trace = try await launcher.run(
                slot, trusting: anchors, index: index * Self.attemptLimit + attempt)
            attempt += 1
            last = trace
            if isFirst { ledger.note(clearHosts: slot.clearHosts) }
            for (place, observations) in slot.seen {
                seen[home(of: place, probe, waiting), default: []] += observations
            }
            for (place, reason) in slot.impossible {
                let destination = home(of: place, probe, waiting)
                ledger.noteImpossible(probe, at: destination, reason)
                waiting.remove(destination)
            }
            if isFirst { waiting.formUnion(slot.seen.keys) }
            for destination in waiting {
                let observations = seen[destination] ?? []
                let result = judge(probe, destination, observations, trace)
                // Whoever interrupts us may have interrupted the command before.
                if launcher.isStopped, !result.outcome.isAcceptance { continue }
                ledger.note(result, observations, at: destination)
                // One that waits for somebody would wait as long again.
                let waits = trace.timedOut && observations.contains(where: \.wasCutOff)
                if result.outcome != .inconclusive || waits { waiting.remove(destination) }
            }
            if isFirst, waiting.isEmpty { return last }
        }
        return last
    }

    /// Stands for the hosts that the probe is not shown at: a program that a refusal ends would not
    /// come to the others, and their true servers need not be there.
    private func soundServers(besides hosts: Set<String>) -> ProbeSlot.SoundServers? {
        let others = ledger.controlled.filter { !hosts.contains($0.host) }
        guard let control = probes.first, !others.isEmpty else { return nil }
        return ProbeSlot.SoundServers(control, at: others)
    }

    /// What the command has to be told to trust; a destination where that cannot be, or that the
    /// probe is not for, waits no longer.
    private func prepare(
        _ probe: ProbeDescription, _ waiting: inout Set<AuditDestination>
    ) throws(Failure) -> [Certificate] {
        var anchors: [Certificate] = []
        for destination in waiting {
            do throws(Failure) {
                if let host = probe.host, host != destination.host, !leadsHosts {
                    throw Failure(
                        "probe-not-possible", party: .tool,
                        "it is for the host \(host), to which the command cannot be led here")
                }
                anchors += try presenter.anchors(of: probe, host: probe.host ?? destination.host)
            } catch  where error.code == "probe-not-possible" {
                ledger.noteImpossible(probe, at: destination, error.detail)
                waiting.remove(destination)
            }
        }
        return anchors
    }

    /// Which audited destination a connection stands for: that of a probe that has a host of its own
    /// is one of the client's at the host that is audited.
    private func home(
        of place: AuditDestination, _ probe: ProbeDescription, _ waiting: Set<AuditDestination>
    ) -> AuditDestination {
        guard probe.host == place.host else { return place }
        return waiting.first { $0.port == place.port } ?? place
    }

    private func judge(
        _ probe: ProbeDescription, _ destination: AuditDestination,
        _ observations: [ProbeObservation], _ trace: AuditLauncher.Trace
    ) -> AuditResult {
        let status: Int32 =
            switch trace.ending {
            case .exited(let code): code
            case .signalled(let number): 128 + number
            }
        let proof = presenter.proof(
            of: probe.host.map { AuditDestination(host: $0, port: destination.port) }
                ?? destination)
        let run = ProbeRun(
            exitStatus: status, wasEnded: trace.timedOut || launcher.isStopped,
            sawToken: probe.behaviour.isProvedByAnswer
                ? trace.output.containsSubsequence(Array(proof.utf8)) : nil)
        var result = ledger.judge(probe, at: destination, observations, run: run)
        result.duration = trace.duration
        if trace.timedOut { result.evidence += "; the command was ended after its time" }
        return result
    }
}

/// Probes that wait to be shown.
private final class ProbeQueue: Sendable {
    private let state: Mutex<State>

    private struct State {
        var next = 0
        var probes: [ProbeDescription]
        var failure: Failure?
    }

    init(_ probes: ArraySlice<ProbeDescription>) {
        state = Mutex(State(probes: Array(probes)))
    }

    /// Why no more are shown.
    var failure: Failure? { state.withLock(\.failure) }

    /// - Returns: the place in the audit's order, and the probe.
    func next() -> (Int, ProbeDescription)? {
        state.withLock { state in
            guard state.next < state.probes.count else { return nil }
            state.next += 1
            return (state.next, state.probes[state.next - 1])
        }
    }

    func stop(_ failure: Failure) {
        state.withLock { state in
            state.next = state.probes.count
            state.failure = state.failure ?? failure
        }
    }
}

extension [UInt8] {
    fileprivate func containsSubsequence(_ other: [UInt8]) -> Bool {
        guard let first = other.first, count >= other.count else { return false }
        var start = 0
        while start <= count - other.count {
            if self[start] == first, self[start..<start + other.count].elementsEqual(other) {
                return true
            }
            start += 1
        }
        return false
    }
}
