package import Base
internal import HTTPClient
internal import Origins
internal import Recording
package import Refresh
internal import Sockets
package import Transfer

/// A fetch client with everything it needs.
///
/// `@unchecked Sendable`: what changes is used on its loop.
package final class FetchService: @unchecked Sendable {
    private var configuration: FetchConfiguration
    /// What is done where the management server says nothing.
    private let standard: FetchConfiguration
    private let loops: EventLoops
    private let client: HTTPClient
    private let store: RefreshStore
    /// Held as long as it runs.
    private let lock: FileLock
    private let start: (() throws(Failure) -> DaemonProcess)?
    private let take: (FetchEvent) throws(Failure) -> Void
    private var running: RefreshClient?
    private var managed: ManagedClient?
    /// What happened before it ran.
    private var noted: [DeviceEvent] = []
    private var stop = ClientStop()
    private var isStopped = false
    /// Why it ended by itself.
    private var failure: Failure?

    /// Opens the folder of the state, and reads what names the proxies.
    ///
    /// - Parameters:
    ///   - start: starts the daemon of the transfers; `nil` if none is to be started.
    ///   - take: hears of everything, in order; its error ends the run.
    ///
    /// Errors: `store-in-use`, `folder-not-private`, those of ``RefreshStore`` and ``ProxySource``, and `no-event-loop`.
    package init(
        _ configuration: FetchConfiguration,
        startingDaemon start: (() throws(Failure) -> DaemonProcess)?,
        tell take: @escaping (FetchEvent) throws(Failure) -> Void
    ) async throws {
        self.configuration = configuration
        standard = configuration
        self.start = start
        self.take = take
        try Files.makeOwnFolder(
            configuration.store, "folder of the state", option: "--store")
        guard let lock = try FileLock.take(configuration.store + "/lock") else {
            throw Failure(
                "store-in-use", party: .tool,
                "another program fetches into \(configuration.store)",
                hint: "end it, or name another folder with --store")
        }
        self.lock = lock
        store = try RefreshStore(folder: configuration.store)
        let loops = try EventLoops(count: 1)
        self.loops = loops
        var network = ClientConfiguration()
        network.authorities = configuration.authorities + (try configuration.proxies.authorities())
        network.proxies = try await withTaskExecutorPreference(loops.all[0]) {
            try await configuration.proxies.settings(on: loops.all[0])
        }
        network.forwardsCleartext = true
        network.keepsSecrecy = true
        network.endsBeyondKept = true
        network.timeLimit = Self.exchangeLimit
        client = HTTPClient(
            network, on: loops.all[0], recorder: TrafficRecorder(sink: nil))
    }

    deinit { loops.stop() }

    /// Ends the run: what is under way is cut.
    package func end() {
        loops.all[0].execute { self.endOnLoop() }
    }

    /// Something happens to the device or the app.
    package func note(_ event: DeviceEvent) {
        loops.all[0].execute {
            guard let running = self.running else { return self.noted.append(event) }
            running.note(event)
        }
    }

    private func endOnLoop() {
        isStopped = true
        stop.stop()
        managed?.cut()
        running?.stop()
    }

    /// Ends the run with an error.
    package func fail(_ error: Failure) {
        loops.all[0].execute {
            self.failure = self.failure ?? error
            self.endOnLoop()
        }
    }

    private func tell(_ kind: FetchEvent.Kind) {
        managed?.count(kind)
        guard failure == nil else { return }
        do throws(Failure) {
            try take(FetchEvent(at: Self.now(), kind: kind))
        } catch {
            // Nothing more is told; whoever tells this must not be called back.
            failure = error
            end()
        }
    }

    /// In milliseconds: as long as a wake has.
    private static let exchangeLimit: UInt64 = 30_000

    private static func now() -> Int64 { Timestamp.now().microseconds / 1000 }

    // MARK: Until it is ended

    /// Runs until it is ended; once only.
    ///
    /// Errors: `url-invalid`, those of who hears.
    package func run() async throws {
        try await withTaskExecutorPreference(loops.all[0]) {
            try await self.client.run { try await self.refresh() }
        }
    }

    private func refresh() async throws {
        for note in store.notes { tell(.note(note)) }
        try await beginManaged()
        let handover = makeHandover()
        let watch = makeWatch(handover)
        let refresh = try makeClient(handover, watch)
        let name = configuration.app.name
        watch.onEnd = { [unowned refresh] in refresh.noteTransfers(of: name) }
        if !isStopped { await run(refresh, handover, watch) }
        await tellManaged()
        if let failure { throw failure }
    }

    private func run(
        _ refresh: RefreshClient, _ handover: TransferHandover, _ watch: TransferWatch
    ) async {
        running = refresh
        for event in noted { refresh.note(event) }
        let hour = LoopWakeup(loops.all[0])
        await withDiscardingTaskGroup { group in
            group.addTask { await watch.run() }
            group.addTask { await self.follow(handover, until: hour) }
            await refresh.run()
            watch.stop()
            hour.stop()
        }
        running = nil
    }

    private func makeHandover() -> TransferHandover {
        TransferHandover(configuration, on: loops.all[0], starting: start) { [unowned self] event in
            tell(event)
        }
    }

    private func makeWatch(_ handover: TransferHandover) -> TransferWatch {
        TransferWatch(configuration, handover, on: loops.all[0]) { [unowned self] event in
            tell(event)
        }
    }

    private func makeClient(
        _ handover: TransferHandover, _ watch: TransferWatch
    ) throws(Failure) -> RefreshClient {
        let clock = FetchClock()
        return RefreshClient(
            [.init(configuration.app, urls: configuration.urls, topic: configuration.topic)],
            FeedRefresher(client, store, handover: handover), store, socket: try makeSocket(),
            transfers: watch, seed: configuration.seed, on: loops.all[0], clock: { clock.now() },
            tell: { [unowned self] in tell(.client($0)) })
    }

    private func makeSocket() throws(Failure) -> DeviceSocket? {
        guard var push = configuration.push else { return nil }
        push.topics = [configuration.topic ?? configuration.app.name]
        push.seed = configuration.seed
        return try DeviceSocket(client, push, on: loops.all[0])
    }

    // MARK: Once

    /// Fetches each feed once, as in a wake.
    ///
    /// Errors: those of who hears.
    package func refreshOnce() async throws -> FetchOutcome {
        try await withTaskExecutorPreference(loops.all[0]) {
            try await self.client.run { try await self.fetchAll() }
        }
    }

    private func fetchAll() async throws -> FetchOutcome {
        for note in store.notes { tell(.note(note)) }
        try await beginManaged()
        let handover = makeHandover()
        if !isStopped { await makeWatch(handover).hear() }
        let refresher = FeedRefresher(client, store, handover: handover)
        store.configured = Set(configuration.urls)
        var outcome = FetchOutcome.unasked
        for url in configuration.urls where !isStopped {
            var request = FeedRefresher.Request(url, at: Self.now())
            request.isInBackground = true
            request.stop = stop
            let report = await refresher.refresh(request)
            tell(.client(.report(report, app: configuration.app.name)))
            outcome.note(report)
        }
        await tellManaged()
        if let failure { throw failure }
        return isStopped ? .unasked : outcome
    }
}

// MARK: Managed configuration

extension FetchService {
    /// Reads the configuration for the first time. A server that cannot be reached says nothing; one
    /// that says what must not be said ends the run.
    ///
    /// Errors: `url-invalid`, `managed-invalid`, `managed-secret`.
    private func beginManaged() async throws(Failure) {
        guard let server = configuration.managed else { return }
        let managed = try ManagedClient(client, server: server, app: configuration.app.name)
        self.managed = managed
        do throws(Failure) {
            if let read = try await managed.read() { adopt(read) }
        } catch {
            guard !isStopped else { return }
            guard !Self.refusals.contains(error.code) else { throw error }
            noteManaged(error)
        }
    }

    private static let refusals = ["managed-invalid", "managed-secret"]

    /// Each hour: reads what has changed, and tells what was counted.
    private func follow(_ handover: TransferHandover, until end: LoopWakeup) async {
        guard let managed else { return }
        while !end.isStopped {
            await end.rest(for: Self.managedInterval)
            guard !end.isStopped else { return }
            do throws(Failure) {
                if let read = try await managed.read() {
                    adopt(read)
                    handover.configure(allowsCellular: configuration.app.allowsCellular)
                    apply()
                }
            } catch {
                // What was read before holds.
                if !isStopped { noteManaged(error) }
            }
            guard !isStopped else { return }
            await tellManaged()
        }
    }

    private func adopt(_ read: ManagedConfiguration) {
        configuration.app.interval = read.interval ?? standard.app.interval
        configuration.app.allowsCellular = read.allowsCellular ?? standard.app.allowsCellular
        configuration.urls = read.feeds ?? standard.urls
        tell(.configured(read))
    }

    private func apply() {
        let app = configuration.app
        running?.configure(
            app.name, urls: configuration.urls, allowsCellular: app.allowsCellular)
        running?.note(.interval(app.name, app.interval))
    }

    private func noteManaged(_ error: Failure) {
        tell(.note("the management server: \(error.detail)"))
    }

    private func tellManaged() async {
        do throws(Failure) {
            try await managed?.tell(within: isStopped ? Self.lastWordLimit : nil)
        } catch {
            noteManaged(error)
        }
    }

    /// In milliseconds.
    private static let managedInterval: UInt64 = 3_600_000
    /// In milliseconds: how long the end may wait for who hears the counts.
    private static let lastWordLimit: UInt64 = 1000
}

extension ManagedClient {
    /// Sums of what happened, without what it was about.
    fileprivate func count(_ kind: FetchEvent.Kind) {
        switch kind {
        case .client(.decision(.wake, _)): count(.wakes)
        case .client(.report(let report, _)):
            switch report.result {
            case .newData: count(.newData)
            case .noData: count(.noData)
            case .failed: count(.failed)
            }
        default: break
        }
    }
}

/// What came of fetching each feed once.
package enum FetchOutcome: Sendable, Equatable {
    /// No server was asked: each feed is gone, or its server wants to be left alone.
    case unasked
    case upToDate
    case failed

    fileprivate mutating func note(_ report: FeedReport) {
        if report.failure != nil { self = .failed }
        if self == .unasked, !report.wasSkipped { self = .upToDate }
    }
}
