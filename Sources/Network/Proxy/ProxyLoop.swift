internal import Base
internal import HTTP2
internal import Recording
internal import Sockets
internal import TLS
internal import Traffic
internal import Transport

/// What the connections of one event loop share.
///
/// `@unchecked Sendable`: used on its loop's thread only; the server makes it there.
final class ProxyLoop: @unchecked Sendable {
    let loop: EventLoop
    let plan: ProxyPlan
    let ownPorts: Set<UInt16>
    private let listening: [SocketAddress]
    let resolver: Resolver
    let distrust: DistrustStore
    /// Who tells whose a client's connection is; `nil` where nobody asks.
    let processes: ProcessFinder?
    let insideProcesses: ProcessFinder?
    let recorder: TrafficRecorder
    let serverContext: TLSServerContext
    /// Made when an origin is first asked: it reads the system's certificates.
    private(set) lazy var clientContext = TLSClientContext(
        versions: plan.versions, extraAuthorities: plan.originTrust.extraAuthorities)
    var pool: OriginPool
    let background = BackgroundTasks()
    let longHeads = LongHeadLedger()
    /// Connections of HTTP/2 to origins, whoever uses them.
    var http2Origins: [ObjectIdentifier: HTTP2Connection] = [:]
    var fingerprints = FingerprintCache()
    private(set) var isDraining = false
    private var drainGrace = UInt64.max
    private var open: [Int64: ConnectionTask] = [:]
    private var sweeper: LoopTimer?
    private var drainer: LoopTimer?
    private var cutter: LoopTimer?
    /// Whether connections of clients had to be ended at the deadline.
    private(set) var wasCut = false
    /// Whether the deadline has passed: nothing is begun any more.
    private(set) var isCut = false
    private var lookUps: [ObjectIdentifier: LoopWakeup] = [:]

    /// How often long-lived connections are announced and unused ones closed, in milliseconds.
    private static let sweepInterval: UInt64 = 250
    /// How long a drain leaves clients that have spoken to be heard, in milliseconds: a round of the
    /// loop or two are enough.
    private static let hearingTime: UInt64 = 100

    init(loop: EventLoop, shared: ProxyShared, listening: [SocketAddress]) {
        self.loop = loop
        plan = shared.plan
        ownPorts = Set(listening.map(\.port))
        self.listening = listening
        resolver = shared.resolver
        distrust = shared.distrust
        let isAudit = shared.plan.prober != nil
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
            authority: shared.authority, versions: shared.plan.versions,
            ticketKey: shared.ticketKey)
        pool = OriginPool(limits: shared.plan.limits)
    }

    /// Whether an address is one of the proxy's own listeners: what comes in there would come back
    /// for ever, and a page in a browser could reach what only the machine's owner may.
    func isOwn(_ address: SocketAddress) -> Bool {
        guard ownPorts.contains(address.port) else { return false }
        return address.isLoopback || address.isWildcard
            || listening.contains { $0.host == address.host }
    }

    func opened(_ task: ConnectionTask) {
        open[task.id] = task
    }

    func closed(_ task: ConnectionTask) {
        open[task.id] = nil
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
        pool.sweep(now: loop.now)
        for connection in http2Origins.values { connection.sweep() }
        for task in open.values {
            task.announce(olderThan: Self.sweepInterval)
            task.relay?.announce(olderThan: Int64(Self.sweepInterval) * 1000)
            task.relay?.rest(idleFor: Self.sweepInterval)
            task.http2Relay?.sweep(interval: Self.sweepInterval)
        }
    }

    /// Takes a connection to an origin back from a client that is done with it.
    func release(_ leg: OriginLeg) {
        if isDraining { leg.close() } else { pool.give(leg, now: loop.now) }
    }

    /// How long the answer is still waited for, in milliseconds, of a client that has ended its
    /// direction: it may read on, or be gone. In a drain it has half of the time.
    var halfCloseGrace: UInt64 { min(plan.limits.halfCloseGrace, drainGrace / 2) }

    /// Ends connections that wait for a request, lets the others finish theirs, and ends those too
    /// when `grace` milliseconds have passed.
    func drain(grace: UInt64) {
        isDraining = true
        drainGrace = grace
        pool.closeAll()
        for task in open.values { task.relay?.hurryIfClientEnded() }
        let unheard = open.values.filter { $0.drain(judgesUnread: true) }
        if !unheard.isEmpty {
            let timer = loop.makeTimer {
                for task in unheard { _ = task.drain(judgesUnread: false) }
            }
            drainer = timer
            loop.set(timer, due: loop.now + Self.hearingTime)
        }
        let timer = loop.makeTimer { [unowned self] in self.cut() }
        cutter = timer
        loop.set(timer, due: loop.now + grace)
    }

    /// Ends whatever is left, and again what was on its way at that moment.
    private func cut() {
        isCut = true
        if !open.isEmpty { wasCut = true }
        for task in open.values { task.cut() }
        for connection in http2Origins.values { connection.cut() }
        for lookUp in lookUps.values { lookUp.stop() }
        // Some wait for an origin that is no leg of theirs yet. Whoever shares the loop is at its
        // end as well.
        if wasCut { loop.closeAllChannels() }
        if let cutter { loop.set(cutter, due: loop.now + Self.sweepInterval) }
    }

    /// The addresses of a host, while there is time for a connection to it.
    ///
    /// Errors: `name-not-found`, `name-lookup-failed`.
    func addresses(of host: String, _ port: UInt16) async throws(Failure) -> [SocketAddress] {
        let wakeup = LoopWakeup(loop)
        lookUps[ObjectIdentifier(wakeup)] = wakeup
        defer { lookUps[ObjectIdentifier(wakeup)] = nil }
        return try await resolver.addresses(
            of: host, port: port, waking: wakeup, until: loop.now + plan.limits.connectTimeout)
    }

    /// Hands over what is still to be recorded, when the last client's connection has ended. What is
    /// left in the background has time until the cut.
    func finish() {
        if let sweeper { loop.set(sweeper, due: .max) }
        if let drainer { loop.set(drainer, due: .max) }
        sweeper = nil
        drainer = nil
        pool.closeAll()
        for connection in http2Origins.values { connection.drain() }
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
    let plan: ProxyPlan
    let authority: CertificateAuthority
    let sink: any TrafficSink
    let numbers: RecordNumbers
    let resolver: Resolver
    let ticketKey: [UInt8]
}
