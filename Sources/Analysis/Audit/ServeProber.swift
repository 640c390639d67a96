package import Catalogue
package import Proxy
internal import Sockets
internal import Synchronization

/// A port for each probe, for clients that their own test suite leads there.
package final class ServeProber: Prober {
    /// Those that have a port.
    package let shown: [ProbeDescription]
    private let presenter: any ProbePresenter
    private let passive: [ProbeDescription]
    private let probes: [ProbeDescription]
    private let state = Mutex(State())

    private struct State {
        /// The place of the probe that is at a port.
        var places: [UInt16: Int] = [:]
        var ports: Set<UInt16> = []
        /// In the order in which they came first.
        var visitors: [ServeVisitor] = []
        /// What each was shown, by the probe's place.
        var slots: [ServeVisitor: [Int: ProbeSlot]] = [:]

        /// - Returns: the visitor, or the one that stands for those who are not told apart any more.
        mutating func admit(_ visitor: ServeVisitor) -> ServeVisitor {
            if slots[visitor] != nil { return visitor }
            let admitted = visitors.count < visitorLimit ? visitor : .others
            if slots[admitted] == nil {
                visitors.append(admitted)
                slots[admitted] = [:]
            }
            return admitted
        }
    }

    /// Of visitors that are told apart.
    private static let visitorLimit = 1_024

    package init(_ probes: [ProbeDescription], _ presenter: any ProbePresenter) {
        self.probes = probes
        self.presenter = presenter
        passive = probes.filter { $0.trait != nil }
        shown = probes.filter { $0.trait == nil }
    }

    /// Says where those are, in their order; before the first connection.
    package func open(at ports: [UInt16]) {
        state.withLock { state in
            for (place, port) in ports.enumerated() { state.places[port] = place }
            state.ports = Set(ports)
        }
    }

    private func slot(_ visit: ProbeVisit) -> ProbeSlot? {
        state.withLock { state -> ProbeSlot? in
            guard let place = state.places[visit.listener.port] else { return nil }
            let visitor = state.admit(ServeVisitor(visit, ports: state.ports))
            if let known = state.slots[visitor]?[place] { return known }
            let slot = ProbeSlot(shown[place], presenter, ownsPort: true) { _ in true }
            state.slots[visitor, default: [:]][place] = slot
            return slot
        }
    }

    /// Asked before the client's program is known.
    package func claim(_ visit: ProbeVisit) -> ProbeClaim {
        guard state.withLock({ $0.places[visit.listener.port] }) != nil else { return .none }
        return AuditDestination(visit).serverSpeaksFirst ? .atOnce : .afterOpening
    }

    package func probe(for visit: ProbeVisit) -> (any ProbeMachine)? {
        slot(visit)?.probe(for: visit)
    }

    // MARK: What came of it

    /// Judges all that came, client by client.
    ///
    /// - Parameter name: what the client is called; `nil` for the program's name. Where several came,
    ///   each has its own behind it.
    package func results(client name: String?) -> [AuditResult] {
        let clients = clients
        return clients.flatMap { client in
            let called = clients.count == 1 ? name : name.map { "\($0): \(client.name)" }
            return judge(client.slots, as: called ?? client.name)
        }
    }

    private typealias Client = (name: String, slots: [[Int: ProbeSlot]])

    /// Visitors of one program are one client, unless each of them came to the sound server: arguments
    /// may differ from one run to the next, and what was not shown one would be missing.
    private var clients: [Client] {
        let (visitors, slots) = state.withLock { ($0.visitors, $0.slots) }
        var programs: [String?] = []
        for visitor in visitors where !programs.contains(visitor.program) {
            programs.append(visitor.program)
        }
        let control = shown.firstIndex { $0.identifier == AuditLedger.control }
        return programs.flatMap { program -> [Client] in
            let alike = visitors.filter { $0.program == program }
            let areApart = alike.allSatisfy { visitor in
                control.flatMap { slots[visitor]?[$0] }.map { !$0.seen.isEmpty } ?? false
            }
            guard areApart else {
                return [(program ?? "client", alike.compactMap { slots[$0] })]
            }
            return zip(ServeVisitor.names(of: alike), alike).map { name, visitor in
                (name, [slots[visitor] ?? [:]])
            }
        }
    }

    private func judge(_ slots: [[Int: ProbeSlot]], as client: String) -> [AuditResult] {
        let ledger = AuditLedger(client: client)
        // What the sound server was met with decides what the rest is worth.
        let ordered =
            shown.indices.filter { shown[$0].identifier == AuditLedger.control }
            + shown.indices.filter { shown[$0].identifier != AuditLedger.control }
        for place in ordered {
            note(slots.compactMap { $0[place] }, of: shown[place], in: ledger)
        }
        for destination in ledger.destinations {
            for result in passive.compactMap({ ledger.foregone($0, at: destination) }) {
                ledger.note(result, [], at: destination)
            }
        }
        return ledger.results(inOrderOf: probes, missing: "no client came to its port")
    }

    private func note(
        _ slots: [ProbeSlot], of probe: ProbeDescription, in ledger: AuditLedger
    ) {
        for (destination, reason) in slots.flatMap(\.impossible) {
            ledger.noteImpossible(probe, at: destination, reason)
        }
        let seen = slots.reduce(into: [:]) { $0.merge($1.seen) { $0 + $1 } }
        for (destination, observations) in seen {
            let result =
                ledger.foregone(probe, at: destination).flatMap {
                    $0.outcome == .uncontrolled ? $0 : nil
                } ?? ledger.judge(probe, at: destination, observations, run: nil)
            ledger.note(result, observations, at: destination)
        }
    }
}
