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
        var openCount = 0
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
        let destination = AuditDestination(visit)
        guard concerns(destination) else { return nil }
        do throws(Failure) {
            let machine = try presenter.machine(probe, for: visit) { [weak self] observation in
                self?.note(observation, destination)
            }
            state.withLock { $0.openCount += 1 }
            return machine
        } catch {
            state.withLock { $0.impossible[destination] = error.detail }
            return nil
        }
    }

    private func note(_ observation: ProbeObservation, _ destination: AuditDestination) {
        state.withLock { state in
            state.openCount -= 1
            guard state.seen[destination, default: []].count < Self.observationLimit else { return }
            state.seen[destination, default: []].append(observation)
        }
    }

    /// What was seen, by destination.
    package var seen: [AuditDestination: [ProbeObservation]] { state.withLock(\.seen) }
    /// Why the probe could not be shown, by destination.
    package var impossible: [AuditDestination: String] { state.withLock(\.impossible) }
}
