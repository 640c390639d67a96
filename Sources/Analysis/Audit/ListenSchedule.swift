internal import Base
package import Catalogue
package import Proxy
internal import Sockets
internal import Synchronization
internal import TLS
internal import Traffic

/// Shows each client at each destination one probe after the other, with connections between them
/// that pass through, so that an app stays usable.
package final class ListenSchedule: Prober {
    private let presenter: any ProbePresenter
    /// The sound server comes first.
    private let probes: [ProbeDescription]
    private let concerns: @Sendable (AuditDestination) -> Bool
    private let now: @Sendable () -> UInt64
    private let state = Mutex(State())

    private struct State {
        var pages: [Key: Page] = [:]
        var ledgers: [Client: AuditLedger] = [:]
        var showingCount = 0
        /// Who spoke to a host in cleartext although TLS had not failed.
        var clearVisitors: Set<ClearVisitor> = []
    }

    private struct ClearVisitor: Hashable {
        let executable: String?
        let address: String
        let host: String
    }

    private struct Key: Hashable {
        let client: Client
        let destination: AuditDestination
    }

    /// Who a client is, in falling order of certainty: the program, or the address with what tells
    /// its TLS stack.
    private struct Client: Hashable {
        let executable: String?
        /// Empty where the program is known, which may come from several addresses.
        let address: String
        /// JA4 without what a resumption changes; `nil` where the program is known.
        let stack: String?

        init(_ visit: ProbeVisit) {
            if let path = visit.process?.executable, !path.isEmpty {
                executable = path.split(separator: "/").last.map(String.init) ?? path
                address = ""
                stack = nil
            } else {
                executable = nil
                address = visit.peer.host
                stack = visit.hello?.withoutResumption.ja4(sha256: Digests.sha256) ?? "-"
            }
        }

        var name: String { executable ?? "\(address) \(stack ?? "-")" }

        /// Whether a connection in cleartext, which shows no TLS stack, may be of the same client.
        func mayBe(_ other: Client) -> Bool {
            executable == other.executable && address == other.address
        }
    }

    /// What one client is shown at one destination.
    private struct Page {
        let ledger: AuditLedger
        var queue: ArraySlice<ProbeDescription>
        var current: Showing?
        /// The probe that was shown last, and the how many-th of all showings that was.
        var last: ProbeDescription?
        var lastShowing = 0
        /// The connection on which it was shown last.
        var lastConnection: Int64 = 0
        /// When the client last ended TLS without having said anything, if it has not begun it since.
        var refusedAt: UInt64?
        var mustPass = false
        var attempts: [String: Int] = [:]
        /// What connections of probes that were put back have shown.
        var seen: [String: [ProbeObservation]] = [:]
        var doneCount = 0
        /// The probes that failed.
        var failures: Set<String> = []

        var isOpen: Bool { current?.openCount ?? 0 > 0 }
    }

    private struct Showing {
        let probe: ProbeDescription
        var openCount = 0
    }

    /// How often a probe is shown until it is clear what the client makes of it.
    private static let attemptLimit = 4
    /// Of pairs of a client and a destination; those that come later pass through.
    private static let pageLimit = 1_024
    /// How long after a refusal a request in cleartext may come for its sake, in milliseconds: a program
    /// that goes on without TLS does so at once, and what a person asks for later is another matter.
    private static let fallbackLimit: UInt64 = 5_000

    /// - Parameters:
    ///   - now: in milliseconds of a clock that rises.
    ///   - concerns: whether a destination is audited; others are left to the proxy.
    package init(
        _ probes: [ProbeDescription], _ presenter: any ProbePresenter,
        now: @escaping @Sendable () -> UInt64,
        concerns: @escaping @Sendable (AuditDestination) -> Bool
    ) {
        self.now = now
        self.probes = probes
        self.presenter = presenter
        self.concerns = concerns
    }

    // MARK: Connections

    package func claim(_ visit: ProbeVisit) -> ProbeClaim {
        concerns(AuditDestination(visit)) ? .afterOpening : .none
    }

    package func probe(for visit: ProbeVisit) -> (any ProbeMachine)? {
        guard visit.hello != nil else { return followUp(visit) }
        let key = Key(client: Client(visit), destination: AuditDestination(visit))
        guard concerns(key.destination) else { return nil }
        while let probe = next(key, visit.connection) {
            do throws(Failure) {
                return try machine(probe, visit, key)
            } catch {
                abandon(probe, key, error.detail)
            }
        }
        return nil
    }

    private func machine(
        _ probe: ProbeDescription, _ visit: ProbeVisit, _ key: Key
    ) throws(Failure) -> (any ProbeMachine)? {
        try presenter.machine(probe, for: visit) { [weak self] observation in
            self?.note(observation, probe, key)
        }
    }

    /// What comes in cleartext may be where the last probe has sent the client.
    private func followUp(_ visit: ProbeVisit) -> (any ProbeMachine)? {
        let client = Client(visit)
        let host = AuditDestination(visit).host
        let shown = state.withLock { state in
            state.pages.filter { key, page in
                key.destination.host == host && key.client.mayBe(client) && page.last != nil
            }
            .max { $0.value.lastShowing < $1.value.lastShowing }
        }
        let visitor = ClearVisitor(
            executable: client.executable, address: client.address, host: host)
        guard let shown, let last = shown.value.last else {
            noteUnasked(visitor)
            return nil
        }
        do throws(Failure) {
            guard
                let machine = try machine(last, visit, shown.key)
                    ?? fallback(last, visit, shown, visitor)
            else { return nil }
            // It is told of when it ends, as those that showed the probe are.
            state.withLock { state in
                guard state.pages[shown.key]?.current?.probe.identifier == last.identifier else {
                    return
                }
                state.pages[shown.key]?.current?.openCount += 1
            }
            return machine
        } catch {
            return nil
        }
    }

    /// What comes in cleartext without having been sent there may come because TLS has failed.
    private func fallback(
        _ probe: ProbeDescription, _ visit: ProbeVisit, _ shown: (key: Key, value: Page),
        _ visitor: ClearVisitor
    ) -> (any ProbeMachine)? {
        let page = shown.value
        let isShown = page.current?.probe.identifier == probe.identifier && page.isOpen
        let isFresh = page.refusedAt.map { now() <= $0 + Self.fallbackLimit } ?? false
        let speaksClear = state.withLock { $0.clearVisitors.contains(visitor) }
        guard isShown || isFresh, !speaksClear else {
            noteUnasked(visitor)
            return nil
        }
        return presenter.unaskedMachine(probe, for: visit, besides: shown.key.destination) {
            [weak self] observation in
            var observation = observation
            observation.followedConnection = page.lastConnection
            self?.note(observation, probe, shown.key)
        }
    }

    private func noteUnasked(_ visitor: ClearVisitor) {
        state.withLock { state in
            guard state.clearVisitors.count < Self.pageLimit else { return }
            state.clearVisitors.insert(visitor)
        }
    }

    /// The probe that the next connection is shown; `nil` if it is to pass.
    private func next(_ key: Key, _ connection: Int64) -> ProbeDescription? {
        state.withLock { state in
            guard var page = state.pages[key] ?? makePage(key, &state) else { return nil }
            defer { state.pages[key] = page }
            page.refusedAt = nil
            // A client may try again, or have opened two: both are shown the same.
            if page.current == nil {
                if page.mustPass {
                    page.mustPass = false
                    return nil
                }
                page.current = Self.nextShowing(&page, key.destination)
            }
            page.current?.openCount += 1
            if let current = page.current {
                state.showingCount += 1
                page.last = current.probe
                page.lastShowing = state.showingCount
                page.lastConnection = connection
            }
            return page.current?.probe
        }
    }

    private func makePage(_ key: Key, _ state: inout State) -> Page? {
        guard state.pages.count < Self.pageLimit else { return nil }
        let ledger = state.ledgers[key.client] ?? AuditLedger(client: key.client.name)
        state.ledgers[key.client] = ledger
        ledger.note(key.destination)
        return Page(ledger: ledger, queue: probes[...])
    }

    private static func nextShowing(_ page: inout Page, _ destination: AuditDestination) -> Showing?
    {
        while let probe = page.queue.popFirst() {
            guard let foregone = page.ledger.foregone(probe, at: destination) else {
                return Showing(probe: probe)
            }
            page.ledger.note(foregone, [], at: destination)
            page.doneCount += 1
        }
        return nil
    }

    /// Judges what needs no more than the client's first message, which has come.
    private static func judgeOffers(_ page: inout Page, _ destination: AuditDestination) {
        for probe in page.queue where probe.trait != nil {
            guard let result = page.ledger.foregone(probe, at: destination) else { continue }
            page.ledger.note(result, [], at: destination)
            page.doneCount += 1
        }
        page.queue.removeAll { $0.trait != nil }
    }

    private func abandon(_ probe: ProbeDescription, _ key: Key, _ reason: String) {
        state.withLock { state in
            state.pages[key]?.ledger.noteImpossible(probe, at: key.destination, reason)
            state.pages[key]?.current = nil
            state.pages[key]?.doneCount += 1
        }
    }

    private func note(_ observation: ProbeObservation, _ probe: ProbeDescription, _ key: Key) {
        state.withLock { state in
            guard var page = state.pages[key] else { return }
            defer { state.pages[key] = page }
            let name = probe.identifier
            page.seen[name, default: []].append(observation)
            if page.current?.probe.identifier == name { page.current?.openCount -= 1 }
            let seen = page.seen[name] ?? []
            if observation.mayBeRefusal { page.refusedAt = now() }
            let result = page.ledger.judge(probe, at: key.destination, seen, run: nil)
            if result.outcome == .inconclusive, page.attempts[name, default: 0] < Self.attemptLimit
            {
                // Shown again, at the end of the queue if others wait: a connection that was opened
                // in advance must not eat it.
                guard page.current?.openCount ?? 0 == 0 else { return }
                page.attempts[name, default: 0] += 1
                page.current = nil
                if name == AuditLedger.control {
                    page.queue = [probe] + page.queue
                } else {
                    page.queue.append(probe)
                }
                return
            }
            page.ledger.note(result, seen, at: key.destination)
            if result.verdict == .fail { page.failures.insert(name) }
            if name == AuditLedger.control { Self.judgeOffers(&page, key.destination) }
            guard page.current?.probe.identifier == name else { return }
            page.current = nil
            page.mustPass = true
            page.doneCount += 1
        }
    }

    // MARK: What came of it

    /// One line of the table of progress.
    package struct Progress: Sendable, Equatable {
        package let client: String
        package let destination: String
        package let doneCount: Int
        package let totalCount: Int
        package let failureCount: Int
        /// The probe that is shown, `nil` between two.
        package let current: String?
    }

    package var progress: [Progress] {
        state.withLock { state in
            state.pages.sorted {
                ($0.key.client.name, $0.key.destination)
                    < ($1.key.client.name, $1.key.destination)
            }
            .map { key, page in
                Progress(
                    client: key.client.name, destination: key.destination.text,
                    doneCount: page.doneCount, totalCount: probes.count,
                    failureCount: page.failures.count, current: page.current?.probe.identifier)
            }
        }
    }

    package var results: [AuditResult] {
        let ledgers = state.withLock { state in
            state.ledgers.sorted { $0.key.name < $1.key.name }.map(\.value)
        }
        return ledgers.flatMap {
            $0.results(inOrderOf: probes, missing: "the client did not come for it")
        }
    }
}
