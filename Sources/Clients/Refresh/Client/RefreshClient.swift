package import Base
internal import HTTPClient
internal import Origins
package import Sockets

/// The fetch client on a real clock: the scheduler decides, feeds are fetched, pushes arrive.
///
/// `@unchecked Sendable`: used on its loop.
package final class RefreshClient: @unchecked Sendable {
    /// An app, as far as it is one here: some feeds that are fetched together.
    package struct App: Sendable {
        package var app: RefreshApp
        package var urls: [String]
        /// What its pushes are sent to.
        package var topic: String

        /// - Parameter topic: `nil` for the app's name.
        package init(_ app: RefreshApp, urls: [String], topic: String? = nil) {
            self.app = app
            self.urls = urls
            self.topic = topic ?? app.name
        }
    }

    /// What is told while it runs.
    package enum Event: Sendable {
        /// With its time, in milliseconds since 1970.
        case decision(RefreshDecision, at: Int64)
        case report(FeedReport, app: String)
        case socket(DeviceSocket.Event)
        /// So many items that came while the device was locked are with the others now.
        case merged(Int)
        case failed(Failure)
    }

    private var apps: [App]
    private let refresher: FeedRefresher
    private let store: RefreshStore
    private let socket: DeviceSocket?
    private let transfers: (any EndedTransfers)?
    private let clock: @Sendable () -> Int64
    private let signal: LoopWakeup
    private let tell: (Event) -> Void
    private var scheduler: RefreshScheduler
    private var waiting: [RefreshDecision] = []
    private var foreground: ForegroundMachine
    /// Ends wakes whose time is over.
    private var stops: [WakeToken: ClientStop] = [:]
    /// Those of fetches with the user in front of the app.
    private var foregroundStops: [ObjectIdentifier: ClientStop] = [:]
    private var isStopping = false

    /// - Parameters:
    ///   - socket: brings pushes; `nil` for none.
    ///   - transfers: what apps left to a daemon; `nil` for nothing.
    ///   - clock: in milliseconds since 1970, never back.
    ///   - tell: hears of everything, in order; it must not call back.
    package init(
        _ apps: [App], _ refresher: FeedRefresher, _ store: RefreshStore, socket: DeviceSocket?,
        transfers: (any EndedTransfers)? = nil, policy: RefreshPolicy = RefreshPolicy(),
        seed: UInt64, on loop: EventLoop,
        clock: @escaping @Sendable () -> Int64, tell: @escaping (Event) -> Void
    ) {
        self.apps = apps
        self.refresher = refresher
        self.store = store
        self.socket = socket
        self.transfers = transfers
        self.clock = clock
        self.tell = tell
        signal = LoopWakeup(loop)
        foreground = ForegroundMachine(gap: policy.deliveryGap)
        let described = apps.map { entry in
            var app = entry.app
            app.isLocal = app.isLocal || entry.urls.contains(where: Self.isLocal)
            return app
        }
        scheduler = RefreshScheduler(described, policy, seed: seed, at: clock())
        store.configured = Set(apps.flatMap(\.urls))
    }

    private static func isLocal(_ url: String) -> Bool {
        do throws(Failure) {
            return LocalNetwork.holds(try OriginLocation(url).target.host)
        } catch {
            return false
        }
    }

    /// Something happens to the device or an app.
    package func note(_ event: DeviceEvent) {
        let now = caughtUp()
        waiting += stamped(scheduler.take(event, at: now))
        signal.wake()
    }

    /// An app is to fetch other feeds from now on, or over other networks.
    package func configure(_ name: String, urls: [String], allowsCellular: Bool) {
        guard let index = apps.firstIndex(where: { $0.app.name == name }) else { return }
        apps[index].urls = urls
        store.configured = Set(apps.flatMap(\.urls))
        let isLocal = apps[index].app.isLocal || urls.contains(where: Self.isLocal)
        let now = caughtUp()
        waiting += stamped(
            scheduler.configure(
                name, allowsCellular: allowsCellular, isLocal: isLocal, at: now))
        signal.wake()
    }

    /// Transfers of an app have ended: it is woken to hear of them.
    package func noteTransfers(of app: String) {
        let now = caughtUp()
        waiting += stamped(scheduler.endTransfers(of: app, at: now))
        signal.wake()
    }

    /// Ends ``run()``: wakes under way are cut.
    package func stop() {
        isStopping = true
        socket?.close()
        for stop in stops.values { stop.stop() }
        for stop in foregroundStops.values { stop.stop() }
        signal.wake()
    }

    /// Runs until it is stopped, in the client's `run`.
    package func run() async {
        await withDiscardingTaskGroup { group in
            if let socket {
                group.addTask { await socket.run { await self.hear($0) } }
            }
            while !isStopping {
                let now = caughtUp()
                waiting += stamped(scheduler.advance(to: now))
                for decision in waiting {
                    carryOut(decision) { work in group.addTask { await work() } }
                }
                waiting = []
                beginForeground { work in group.addTask { await work() } }
                guard waiting.isEmpty else { continue }
                // Clocks may be set: it looks again each hour, whatever is due when.
                let due = min(scheduler.nextTime ?? .max, foreground.nextTime ?? .max)
                let next = min(max(1, due - clock()), 3_600_000)
                _ = await signal.wait(until: signal.loop.now + UInt64(next))
            }
        }
    }

    private func hear(_ event: DeviceSocket.Event) async {
        tell(.socket(event))
        guard case .push(let push) = event else { return }
        let name = apps.first { $0.topic == push.topic }?.app.name
        let now = caughtUp()
        waiting += stamped(scheduler.push(push.kind, to: name ?? push.topic, at: now))
        signal.wake()
    }

    /// The clock's time, up to which wakes that nobody could begin are left out.
    private func caughtUp() -> Int64 {
        let now = clock()
        waiting += stamped(scheduler.catchUp(to: now))
        return now
    }

    private func stamped(_ decisions: [RefreshDecision]) -> [RefreshDecision] {
        let now = clock()
        for decision in decisions { tell(.decision(decision, at: now)) }
        return decisions
    }

    private func carryOut(
        _ decision: RefreshDecision, _ start: (@escaping @Sendable () async -> Void) -> Void
    ) {
        switch decision {
        case .wake(let wake):
            // What was ended before it began is not begun.
            guard scheduler.isOpen(wake.token) else { return }
            let stop = ClientStop()
            stops[wake.token] = stop
            start {
                if wake.cause == .transfer { return await self.settle(wake) }
                await self.perform(wake, stop)
            }
        case .finished(let token, _, _, _): stops.removeValue(forKey: token)?.stop()
        case .foreground(let name): foreground.want(.init(app: name, cause: .user))
        case .delivered(let name): foreground.want(.init(app: name, cause: .push))
        case .transfersEnded:
            start { await self.transfers?.settle() }
        case .merge: merge()
        case .window, .snapshot, .violation, .terminated, .held, .deferred, .dropped, .banner, .ask:
            break
        }
    }

    /// Begins what apps in use are to fetch. One that was left before it could fetch what a push
    /// announced is woken for it, as far as it may be.
    private func beginForeground(_ start: (@escaping @Sendable () async -> Void) -> Void) {
        let now = caughtUp()
        for fetch in foreground.begin(at: now) {
            guard fetch.cause == .push, !scheduler.isInUse(fetch.app) else {
                start { await self.bringUpToDate(fetch) }
                continue
            }
            foreground.end(fetch, at: now)
            waiting += stamped(scheduler.returnPush(of: fetch.app, at: now))
        }
    }

    private func merge() {
        do throws(Failure) {
            tell(.merged(try store.merge()))
        } catch {
            tell(.failed(error))
        }
    }

    // MARK: Fetching

    /// Fetches the feeds of an app one after the other, and completes the wake exactly once.
    private func perform(_ wake: Wake, _ stop: ClientStop) async {
        let started = clock()
        var result = WakeReport(.noData)
        var hasFailed = false
        for url in apps.first(where: { $0.app.name == wake.app })?.urls ?? [] {
            guard !stop.isStopped else { break }
            var request = FeedRefresher.Request(url, at: clock())
            request.isInBackground = true
            request.usesSideBuffer = wake.usesSideBuffer
            request.stop = stop
            let report = await refresher.refresh(request)
            tell(.report(report, app: wake.app))
            result.bytes += report.bytes
            if report.result == .newData { result.result = .newData }
            hasFailed = hasFailed || report.result == .failed
            if let wait = report.retryAfter {
                result.retryAfter = max(result.retryAfter ?? 0, wait)
            }
        }
        if hasFailed, result.result == .noData { result.result = .failed }
        result.radio = clock() - started + scheduler.policy.radioTail
        // The time of a wake that was ended is over: it has been completed for it.
        guard stops.removeValue(forKey: wake.token) != nil else { return }
        let now = caughtUp()
        waiting += stamped(scheduler.complete(wake.token, result, at: now))
        signal.wake()
    }

    /// Lets an app hear of its transfers.
    private func settle(_ wake: Wake) async {
        await transfers?.settle()
        guard stops.removeValue(forKey: wake.token) != nil else { return }
        let now = caughtUp()
        waiting += stamped(scheduler.complete(wake.token, WakeReport(.newData), at: now))
        signal.wake()
    }

    /// With the user in front of it.
    private func bringUpToDate(_ fetch: ForegroundMachine.Fetch) async {
        await refresh(fetch)
        foreground.end(fetch, at: clock())
        signal.wake()
    }

    /// What needs the local network waits for the user's answer: it is asked for again when that
    /// comes.
    private func refresh(_ fetch: ForegroundMachine.Fetch) async {
        guard let entry = apps.first(where: { $0.app.name == fetch.app }) else { return }
        guard !isStopping, scheduler.mayConnect(fetch.app) else { return }
        let stop = ClientStop()
        foregroundStops[ObjectIdentifier(stop)] = stop
        defer { foregroundStops[ObjectIdentifier(stop)] = nil }
        for url in entry.urls where !stop.isStopped {
            var request = FeedRefresher.Request(url, at: clock())
            // The user may want what a server does not; a stranger's push may not.
            request.heedsPause = fetch.cause == .push
            request.stop = stop
            let report = await refresher.refresh(request)
            tell(.report(report, app: fetch.app))
        }
    }
}
