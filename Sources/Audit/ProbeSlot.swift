internal import Base
package import Catalogue
package import Proxy
internal import Synchronization

/// One probe, shown on every connection that comes while it is on: a client may try again, or open
/// one in advance, and learns nothing else.
package final class ProbeSlot: Prober {
    package let probe: ProbeDescription
    private let presenter: any ProbePresenter
    private let concerns: @Sendable (AuditDestination) -> Bool
    private let state = Mutex(State())

    private struct State {
        var seen: [AuditDestination: [ProbeObservation]] = [:]
        var impossible: [AuditDestination: String] = [:]
        /// Those whose clients were shown the probe.
        var shown: Set<AuditDestination> = []
        var clearHosts: Set<String> = []
        var isCutOff = false
    }

    /// Of the connections of one run that are kept; a client that makes more has been seen.
    private static let observationLimit = 64

    /// - Parameter concerns: whether a destination is audited; others are left to the proxy.
    package init(
        _ probe: ProbeDescription, _ presenter: any ProbePresenter,
        concerns: @escaping @Sendable (AuditDestination) -> Bool
    ) {
        self.probe = probe
        self.presenter = presenter
        self.concerns = concerns
    }

    package func claim(_ visit: ProbeVisit) -> ProbeClaim {
        let destination = AuditDestination(visit)
        guard concerns(destination) else { return .none }
        return destination.serverSpeaksFirst ? .atOnce : .afterOpening
    }

    package func probe(for visit: ProbeVisit) -> (any ProbeMachine)? {
        let destination = destination(of: visit)
        guard concerns(destination) else { return nil }
        do throws(Failure) {
            guard
                let machine = try presenter.machine(
                    probe, for: visit,
                    report: { [weak self] observation in self?.note(observation, destination) })
            else {
                noteClear(visit, destination)
                return nil
            }
            _ = state.withLock { $0.shown.insert(destination) }
            return machine
        } catch {
            state.withLock { $0.impossible[destination] = error.detail }
            return nil
        }
    }

    private func noteClear(_ visit: ProbeVisit, _ destination: AuditDestination) {
        guard visit.hello == nil, visit.port == 80 else { return }
        _ = state.withLock { $0.clearHosts.insert(destination.host) }
    }

    /// What comes in clear belongs to the destination whose server sent it there.
    private func destination(of visit: ProbeVisit) -> AuditDestination {
        let named = AuditDestination(visit)
        guard visit.hello == nil else { return named }
        return state.withLock { $0.shown.first { $0.host == named.host } } ?? named
    }

    private func note(_ observation: ProbeObservation, _ destination: AuditDestination) {
        state.withLock { state in
            guard state.seen[destination, default: []].count < Self.observationLimit else { return }
            var observation = observation
            observation.wasCutOff = state.isCutOff
            state.seen[destination, default: []].append(observation)
        }
    }

    /// Says that the command is about to be ended: connections that end from now on end for that.
    package func cutOff() { state.withLock { $0.isCutOff = true } }

    /// What was seen, by destination.
    package var seen: [AuditDestination: [ProbeObservation]] { state.withLock(\.seen) }
    /// Hosts that were spoken to in clear, although nothing led the client there.
    package var clearHosts: Set<String> { state.withLock(\.clearHosts) }
    /// Why the probe could not be shown, by destination.
    package var impossible: [AuditDestination: String] { state.withLock(\.impossible) }
}
