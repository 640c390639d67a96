package import Catalogue
package import Proxy
internal import Sockets

/// A port for each probe, for clients that their own test suite leads there.
package final class ServeDesk: Prober {
    private let slots: [UInt16: ProbeSlot]
    private let ports: [UInt16]

    /// - Parameter probes: with the ports that they are at.
    package init(_ probes: [(port: UInt16, probe: ProbeDescription)], _ presenter: any ProbePresenter) {
        slots = Dictionary(
            uniqueKeysWithValues: probes.map { entry in
                (entry.port, ProbeSlot(entry.probe, presenter) { _ in true })
            })
        ports = probes.map(\.port)
    }

    package func claim(_ visit: ProbeVisit) -> ProbeClaim {
        slots[visit.listener.port]?.claim(visit) ?? .none
    }

    package func probe(for visit: ProbeVisit) -> (any ProbeMachine)? {
        slots[visit.listener.port]?.probe(for: visit)
    }

    /// Judges all that came.
    package func results(client: String) -> [AuditResult] {
        let ledger = AuditLedger(client: client)
        let shown = ports.compactMap { slots[$0] }
        // What the sound server was met with decides what the rest is worth.
        let ordered =
            shown.filter { $0.probe.identifier == AuditLedger.control }
            + shown.filter { $0.probe.identifier != AuditLedger.control }
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
        return ledger.results(inOrderOf: shown.map(\.probe))
    }
}
