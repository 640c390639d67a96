package import Catalogue
package import Proxy
internal import Sockets
internal import Synchronization

/// A port for each probe, for clients that their own test suite leads there.
package final class ServeDesk: Prober {
    private let slots: [ProbeSlot]
    private let passive: [ProbeDescription]
    private let probes: [ProbeDescription]
    /// The place of the slot that is at a port.
    private let places = Mutex<[UInt16: Int]>([:])

    package init(_ probes: [ProbeDescription], _ presenter: any ProbePresenter) {
        self.probes = probes
        passive = probes.filter { $0.trait != nil }
        slots = probes.filter { $0.trait == nil }.map { ProbeSlot($0, presenter) { _ in true } }
    }

    /// Those that have a port.
    package var shown: [ProbeDescription] { slots.map(\.probe) }

    /// Says where those are, in their order; before the first connection.
    package func open(at ports: [UInt16]) {
        places.withLock { places in
            for (place, port) in ports.enumerated() { places[port] = place }
        }
    }

    private func slot(_ visit: ProbeVisit) -> ProbeSlot? {
        places.withLock { $0[visit.listener.port] }.map { slots[$0] }
    }

    package func claim(_ visit: ProbeVisit) -> ProbeClaim { slot(visit)?.claim(visit) ?? .none }

    package func probe(for visit: ProbeVisit) -> (any ProbeMachine)? {
        slot(visit)?.probe(for: visit)
    }

    /// Judges all that came.
    package func results(client: String) -> [AuditResult] {
        let ledger = AuditLedger(client: client)
        // What the sound server was met with decides what the rest is worth.
        let ordered =
            slots.filter { $0.probe.identifier == AuditLedger.control }
            + slots.filter { $0.probe.identifier != AuditLedger.control }
        for slot in ordered {
            for (destination, reason) in slot.impossible {
                ledger.noteImpossible(slot.probe, at: destination, reason)
            }
            for (destination, observations) in slot.seen {
                let result =
                    ledger.foregone(slot.probe, at: destination).flatMap {
                        $0.outcome == .uncontrolled ? $0 : nil
                    } ?? ledger.judge(slot.probe, at: destination, observations, run: nil)
                ledger.note(result, observations, at: destination)
            }
        }
        for destination in ledger.destinations {
            for result in passive.compactMap({ ledger.foregone($0, at: destination) }) {
                ledger.note(result, [], at: destination)
            }
        }
        return ledger.results(inOrderOf: probes, missing: "no client came to its port")
    }
}
