internal import Base
internal import HTTP2
internal import Origins
internal import Recording
internal import Sockets
internal import TLS
internal import Traffic
internal import Transport

/// What the connections of one event loop share.
///
/// `@unchecked Sendable`: used on its loop's thread only; the server makes it there.
final class ProxyWorker: @unchecked Sendable {
    let loop: EventLoop
    let wiring: ProxyWiring
    let interceptors: Interceptors
    /// Who answers for the proxy itself; `nil` for nobody.
    private let own: OwnResponder?
    private let policies: PolicyExchange
    /// What the connections are served by that come in.
    private var latest: PolicyInForce?
    /// What others are served by still.
    private var former: [PolicyInForce] = []
    /// Where the proxy listens.
    let listening: [SocketAddress]
    let resolver: Resolver
    /// What goes on without a client.
    let background = BackgroundTasks()
    let longHeads = LongHeadLedger()
    let distrust: DistrustStore
    /// Who tells whose a client's connection is; `nil` where nobody asks.
    let processes: ProcessFinder?
    let insideProcesses: ProcessFinder?
    let recorder: TrafficRecorder
    let serverContext: TLSServerContext
    var fingerprints = FingerprintCache()
    private let ownDiagnosis = SocketDiagnosis()
    private(set) var isDraining = false
    private var drainGrace = UInt64.max
    /// Where heads are written before they are sent. Whoever does waits for nothing meanwhile, or takes
    /// it away.
    var scratch: [UInt8] = []
    private var open: [Int64: ConnectionTask] = [:]
    private var sweeper: LoopTimer?
    private var drainer: LoopTimer?
    /// The connections that were asked to end in a drain.
    private var drained: Set<Int64> = []
    private var cutter: LoopTimer?
    /// Whether connections of clients had to be ended at the deadline.
    private(set) var wasCut = false
    /// Whether the deadline has passed: nothing is begun any more.
    private(set) var isCut = false

    /// How often long-lived connections are announced and unused ones closed, in milliseconds.
    private static let sweepInterval: UInt64 = 250
    /// How long a drain leaves clients that have spoken to be heard, in milliseconds: a round of the
    /// loop or two are enough.
    private static let hearingTime: UInt64 = 100

    init(loop: EventLoop, shared: ProxyShared, listening: [SocketAddress]) {
        self.loop = loop
        wiring = shared.wiring
        interceptors = shared.interceptors
        own = shared.wiring.page.map(OwnResponder.init)
        policies = shared.policies
        self.listening = listening
        resolver = shared.resolver
        distrust = shared.distrust
        let isAudit = !shared.interceptors.probers.isEmpty
        processes = shared.processes.map {
            ProcessFinder(loop: loop, slow: $0, isThorough: isAudit)
        }
        insideProcesses = shared.insideProcesses.map {
            ProcessFinder(loop: loop, slow: $0, isThorough: isAudit)
        }
        recorder = TrafficRecorder(sink: shared.sink, numbers: shared.numbers) { recorder in
            // Held until then: the loop's last connection may end the server in this very round.
            loop.atEndOfRound { recorder.flush() }
        }
        serverContext = TLSServerContext(
            authority: shared.authority, versions: shared.wiring.versions,
            ticketKey: shared.ticketKey)
    }

    var limits: ProxyLimits { wiring.limits }

    /// Takes a head away that is longer than a buffer, so that its room is not kept.
    func takeScratch() -> [UInt8] {
        defer { scratch = [] }
        return scratch
    }

    /// Whether the proxy has a page of its own.
    var hasPage: Bool { own != nil }

    /// Who answers in the place of a host's origins, those that are asked first ahead.
    func responders(for host: String) -> [any OriginResponder] {
        if let own, wiring.isOwn(host) { return [own] }
        return interceptors.responders.filter { $0.answers(for: host) }
    }

    /// What a connection is served by that comes in now.
    var policy: PolicyInForce {
        guard let inForce = latest else { return adopt(policies.current) }
        return policies.newer(than: inForce.version).map(adopt) ?? inForce
    }

    private func adopt(_ version: PolicyExchange.Version) -> PolicyInForce {
        if let former = latest {
            former.origins.retire()
            self.former.append(former)
        }
        let inForce = PolicyInForce(version, of: self)
        if isDraining { inForce.origins.retire() }
        if isCut { inForce.origins.cut() }
        latest = inForce
        return inForce
    }

    /// Every way to origins that something goes over still.
    private var origins: [OriginConnector] {
        former.map(\.origins) + (latest.map { [$0.origins] } ?? [])
    }

    func opened(_ task: ConnectionTask) {
        open[task.id] = task
        task.policy.connectionCount += 1
    }

    func closed(_ task: ConnectionTask) {
        open[task.id] = nil
        task.policy.connectionCount -= 1
    }

    func startSweeping() {
        let timer = loop.makeTimer { [unowned self] in
            self.sweep()
            if let sweeper = self.sweeper {
                self.loop.set(sweeper, due: self.loop.now + Self.sweepInterval)
            }
        }
        sweeper = timer
        loop.set(timer, due: loop.now + Self.sweepInterval)
    }

    private func sweep() {
        // What no new connection has asked for yet gives up its unused ones as well.
        _ = policy
        for origins in origins { origins.sweep() }
        former.removeAll { !$0.isInUse }
        for task in open.values {
            task.lookForClient()
            task.announce(olderThan: Self.sweepInterval)
            task.relay?.announce(olderThan: Int64(Self.sweepInterval) * 1000)
            task.relay?.rest(idleFor: Self.sweepInterval)
            task.http2Relay?.sweep(interval: Self.sweepInterval)
        }
    }

    /// Who tells of the sockets that clients have; `nil` where the kernel does not say.
    func diagnosis(of mode: ProxyPlan.Mode) -> SocketDiagnosis? {
        mode == .captured ? wiring.captured?.diagnosis : ownDiagnosis
    }

    /// How long the answer is still waited for, in milliseconds, of a client that has ended its
    /// direction: it may read on, or be gone. In a drain it has half of the time.
    var halfCloseGrace: UInt64 { min(limits.halfCloseGrace, drainGrace / 2) }

    /// Ends connections that wait for a request, lets the others finish theirs, and ends those too
    /// when `grace` milliseconds have passed.
    func drain(grace: UInt64) {
        isDraining = true
        drainGrace = grace
        for origins in origins { origins.retire() }
        for task in open.values { task.relay?.hurryIfEnded() }
        drained = Set(open.values.filter { !$0.drain(judgesUnread: true) }.map(\.id))
        let drainer = loop.makeTimer { [unowned self] in drainAgain() }
        self.drainer = drainer
        loop.set(drainer, due: loop.now + Self.hearingTime)
        let cutter = loop.makeTimer { [unowned self] in self.cut() }
        self.cutter = cutter
        loop.set(cutter, due: loop.now + grace)
    }

    /// Those that were left, and those that waited to be accepted: there may be more of them than there are
    /// descriptors.
    private func drainAgain() {
        for task in open.values
        where !drained.contains(task.id) && loop.now >= task.openedTick + Self.hearingTime
            && !task.drain(judgesUnread: false)
        {
            drained.insert(task.id)
        }
        if let drainer { loop.set(drainer, due: loop.now + Self.hearingTime) }
    }

    /// Ends whatever is left, and again what was on its way at that moment.
    private func cut() {
        isCut = true
        if !open.isEmpty { wasCut = true }
        for task in open.values { task.cut() }
        for origins in origins { origins.cut() }
        // Some wait for an origin that is no leg of theirs yet. Whoever shares the loop is at its
        // end as well.
        if wasCut { loop.closeAllChannels() }
        if let cutter { loop.set(cutter, due: loop.now + Self.sweepInterval) }
    }

    /// Hands over what is still to be recorded, when the last client's connection has ended. What is
    /// left in the background has time until the cut.
    func finish() {
        if let sweeper { loop.set(sweeper, due: .max) }
        if let drainer { loop.set(drainer, due: .max) }
        sweeper = nil
        drainer = nil
        for origins in origins { origins.drain() }
        background.stop()
        recorder.flush()
    }

    /// Takes note that nothing is left.
    func close() {
        if let cutter { loop.set(cutter, due: .max) }
        cutter = nil
    }
}

/// What all loops share; values and things that guard themselves.
struct ProxyShared: Sendable {
    let processes: SearchThread?
    let insideProcesses: SearchThread?
    let distrust = DistrustStore()
    let wiring: ProxyWiring
    let interceptors: Interceptors
    let policies: PolicyExchange
    let authority: CertificateAuthority
    let sink: any TrafficSink
    let numbers: RecordNumbers
    let resolver: Resolver
    let ticketKey: [UInt8]
}
