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
    private let sound: SoundServers?
    /// Whether all that comes is the probe's, whatever host it names.
    private let ownsPort: Bool
    private let state = Mutex(State())

    private struct State {
        var seen: [AuditDestination: [ProbeObservation]] = [:]
        var impossible: [AuditDestination: String] = [:]
        /// Where clients were shown the probe, and on which connection last.
        var shown: [AuditDestination: Int64] = [:]
        var clearHosts: Set<String> = []
        var isCutOff = false
    }

    /// What the client's other hosts are while one is shown a probe, so that it comes as far as that.
    package struct SoundServers: Sendable {
        let probe: ProbeDescription
        /// Those that the client has found sound before.
        let destinations: Set<AuditDestination>

        package init(_ probe: ProbeDescription, at destinations: Set<AuditDestination>) {
            self.probe = probe
            self.destinations = destinations
        }
    }

    /// Of the connections of one run that are kept; a client that makes more has been seen.
    private static let observationLimit = 64

    /// - Parameters:
    ///   - ownsPort: whether all that comes is the probe's, whatever host it names.
    ///   - sound: those besides that a sound server stands for.
    ///   - concerns: whether a destination is audited; others are left to the proxy.
    package init(
        _ probe: ProbeDescription, _ presenter: any ProbePresenter, ownsPort: Bool = false,
        sound: SoundServers? = nil,
        concerns: @escaping @Sendable (AuditDestination) -> Bool
    ) {
        self.probe = probe
        self.presenter = presenter
        self.ownsPort = ownsPort
        self.sound = sound
        self.concerns = concerns
    }

    package func claim(_ visit: ProbeVisit) -> ProbeClaim {
        let destination = AuditDestination(visit)
        guard concerns(destination) || isSound(destination) else { return .none }
        return destination.serverSpeaksFirst ? .atOnce : .afterOpening
    }

    package func probe(for visit: ProbeVisit) -> (any ProbeMachine)? {
        let destination = destination(of: visit)
        guard concerns(destination) else { return soundServer(for: visit, at: destination) }
        let followed =
            visit.hello == nil ? state.withLock { $0.shown[destination] } : nil
        let report: @Sendable (ProbeObservation) -> Void = { [weak self] observation in
            var observation = observation
            observation.followedConnection = followed
            self?.note(observation, destination)
        }
        do throws(Failure) {
            guard let machine = try presenter.machine(probe, for: visit, report: report) else {
                guard followed == nil else {
                    return presenter.unaskedMachine(
                        probe, for: visit, besides: destination, report: report)
                }
                noteClear(visit, destination)
                return nil
            }
            state.withLock { $0.shown[destination] = visit.connection }
            return machine
        } catch {
            state.withLock { $0.impossible[destination] = error.detail }
            return nil
        }
    }

    private func isSound(_ destination: AuditDestination) -> Bool {
        sound?.destinations.contains(destination) == true
    }

    private func soundServer(
        for visit: ProbeVisit, at destination: AuditDestination
    ) -> (any ProbeMachine)? {
        guard let sound, isSound(destination) else { return nil }
        return presenter.soundMachine(sound.probe, for: visit)
    }

    private func noteClear(_ visit: ProbeVisit, _ destination: AuditDestination) {
        guard visit.hello == nil, visit.port == 80 else { return }
        _ = state.withLock { $0.clearHosts.insert(destination.host) }
    }

    /// What comes in cleartext belongs to the destination whose server sent it there.
    private func destination(of visit: ProbeVisit) -> AuditDestination {
        let named = AuditDestination(visit)
        guard visit.hello == nil else { return named }
        let shown = state.withLock(\.shown).filter { ownsPort || $0.key.host == named.host }
        return shown.max { $0.value < $1.value }?.key ?? named
    }

    private func note(_ observation: ProbeObservation, _ destination: AuditDestination) {
        state.withLock { state in
            guard state.seen[destination, default: []].count < Self.observationLimit else { return }
            var observation = observation
            observation.wasCutOff = state.isCutOff
            state.seen[destination, default: []].append(observation)
        }
    }

    /// Whether the client has to trust the audit's CA for this.
    package var needsAuthority: Bool {
        sound != nil || probe.requirements.contains(.authority)
    }

    /// Says that the command is about to be ended: connections that end from now on end for that.
    package func cutOff() { state.withLock { $0.isCutOff = true } }

    /// What was seen, by destination.
    package var seen: [AuditDestination: [ProbeObservation]] { state.withLock(\.seen) }
    /// Hosts that were spoken to in cleartext before they were in TLS.
    package var clearHosts: Set<String> { state.withLock(\.clearHosts) }
    /// Why the probe could not be shown, by destination.
    package var impossible: [AuditDestination: String] { state.withLock(\.impossible) }
}
