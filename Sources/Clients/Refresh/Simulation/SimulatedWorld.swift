internal import Base

/// What a trace says of servers and networks, and what fetching from them costs: the same for
/// whatever decides when that is done. Times are in milliseconds since 1970.
struct SimulatedWorld {
    struct App {
        let trace: RefreshTrace.App
        var published: [Publication] = []
        /// How many of them the device has.
        var knownCount = 0
        /// When the device last had all there was.
        var currentAt: Int64
        var isOpen = false
        var isFailing = false
        var fault: AppFault?
    }

    struct Publication {
        let at: Int64
        let thumbnails: Int64
        let assets: Int64
    }

    /// A fetch under way.
    struct Fetch {
        let index: Int
        let start: Int64
        let end: Int64
        /// What the server had when it was asked.
        let seenCount: Int
        let fails: Bool
        let bytes: Int64
        let radio: Int64
    }

    let seed: UInt64
    private(set) var apps: [App]
    private(set) var link = DeviceLink.wifi
    private(set) var measures = RefreshMeasures()
    private var fetchCount: UInt64 = 0
    /// Until when the radio is up, whoever is the reason.
    private var radioUntil: Int64 = 0

    init(_ trace: RefreshTrace, seed: UInt64) {
        self.seed = seed
        let start = trace.start.microseconds / 1000
        apps = trace.apps.map { App(trace: $0, currentAt: start) }
    }

    func index(of name: String) -> Int? { apps.firstIndex { $0.trace.app.name == name } }

    mutating func take(_ kind: RefreshTrace.Kind, at now: Int64) {
        switch kind {
        case .device(let event): take(event, at: now)
        case .published(let name, let thumbnails, let assets):
            guard let index = index(of: name) else { return }
            apps[index].published.append(
                Publication(at: now, thumbnails: thumbnails, assets: assets))
        case .outage(let name, let isOn):
            if let index = index(of: name) { apps[index].isFailing = isOn }
        case .behaviour(let name, let fault):
            if let index = index(of: name) { apps[index].fault = fault }
        case .pushed, .end: break
        }
    }

    private mutating func take(_ event: DeviceEvent, at now: Int64) {
        switch event {
        case .link(let link): self.link = link
        case .radio(let length): radioUntil = max(radioUntil, now + length)
        case .opened(let name):
            guard let index = index(of: name) else { return }
            measureOpening(index, at: now)
            apps[index].isOpen = true
            fetchInForeground(index, at: now)
        case .closed(let name):
            guard let index = index(of: name), apps[index].isOpen else { return }
            apps[index].isOpen = false
            fetchInForeground(index, at: now)
        default: break
        }
    }

    /// How old what the user sees first is.
    private mutating func measureOpening(_ index: Int, at now: Int64) {
        let app = apps[index]
        measures.ages.append(now - app.currentAt)
        let missing = app.published.dropFirst(app.knownCount).first
        measures.stalenesses.append(missing.map { now - $0.at } ?? 0)
    }

    // MARK: Fetches

    /// With the user in front of it, an app has what is there at once.
    private mutating func fetchInForeground(_ index: Int, at now: Int64) {
        guard link != .none, !apps[index].isFailing else { return }
        measures.foregroundBytes += cost(index, seenCount: apps[index].published.count)
        know(index, count: apps[index].published.count, at: now)
    }

    /// A conditional request, and the document with the thumbnails of what is new.
    private func cost(_ index: Int, seenCount: Int) -> Int64 {
        let app = apps[index]
        guard seenCount > app.knownCount else { return Self.requestSize }
        return app.published[app.knownCount..<seenCount].reduce(
            Self.requestSize + app.trace.documentSize
        ) { $0 + $1.thumbnails }
    }

    mutating func begin(_ index: Int, at now: Int64) -> Fetch {
        fetchCount += 1
        let drawn = SplitMix.word(seed: seed ^ Self.latencySeed, fetchCount)
        let seen = apps[index].published.count
        let fails = link == .none || apps[index].isFailing
        var bytes = fails ? 0 : cost(index, seenCount: seen)
        if apps[index].fault == .overBytes { bytes += 4 << 20 }
        let rate: Int64 = link == .cellular ? 1_000 : 5_000
        let latency: Int64 = link == .none ? 50 : 200 + Int64(drawn % 700)
        let end = now + latency + bytes / rate
        return Fetch(
            index: index, start: now, end: end, seenCount: seen, fails: fails, bytes: bytes,
            radio: fails && link == .none ? 0 : keepRadioUp(from: now, to: end))
    }

    /// - Returns: how much longer the radio is up for it, in milliseconds.
    private mutating func keepRadioUp(from start: Int64, to end: Int64) -> Int64 {
        let until = end + Self.radioTail
        let more = max(0, until - max(start, radioUntil))
        radioUntil = max(radioUntil, until)
        return more
    }

    /// - Returns: the result of a fetch, when its time has come.
    mutating func finish(_ fetch: Fetch) -> WakeReport {
        let app = apps[fetch.index]
        measures.backgroundBytes += fetch.bytes
        measures.radio += fetch.radio
        guard !fetch.fails, link != .none else { return report(fetch, .failed) }
        let isNew = fetch.seenCount > app.knownCount
        if isNew {
            measures.handedOver += app.published[app.knownCount..<fetch.seenCount].reduce(0) {
                $0 + $1.assets
            }
            measures.usefulWakes += 1
        }
        know(fetch.index, count: fetch.seenCount, at: fetch.start)
        return report(fetch, isNew ? .newData : .noData)
    }

    private func report(_ fetch: Fetch, _ result: RefreshResult) -> WakeReport {
        let isHeavy = apps[fetch.index].fault == .overProcessor
        return WakeReport(
            result, bytes: fetch.bytes, radio: fetch.radio, processor: isHeavy ? 20_000 : 150)
    }

    private mutating func know(_ index: Int, count: Int, at time: Int64) {
        apps[index].knownCount = max(apps[index].knownCount, count)
        apps[index].currentAt = max(apps[index].currentAt, time)
    }

    mutating func noteWake(isPush: Bool) {
        measures.wakes += 1
        if isPush { measures.pushWakes += 1 }
    }

    mutating func notePush() { measures.backgroundBytes += Self.pushSize }

    mutating func noteWindow() { measures.windows += 1 }

    mutating func noteViolation() { measures.violations += 1 }

    /// Both heads of a request that finds nothing new, and its part of the connection.
    private static let requestSize: Int64 = 700
    private static let pushSize: Int64 = 400
    private static let radioTail: Int64 = 10_000
    private static let latencySeed: UInt64 = 0x6C61_7465_6E63_79
}

/// What a way of refreshing took and brought.
package struct RefreshMeasures: Sendable, Equatable {
    package var wakes = 0
    /// Those of them that brought something new.
    package var usefulWakes = 0
    package var pushWakes = 0
    package var windows = 0
    package var violations = 0
    package var backgroundBytes: Int64 = 0
    package var foregroundBytes: Int64 = 0
    /// Of whole assets, left to transfers.
    package var handedOver: Int64 = 0
    /// How long the radio was up for wakes, in milliseconds.
    package var radio: Int64 = 0
    /// At each opening: for how long the device had not looked, in milliseconds.
    package var ages: [Int64] = []
    /// At each opening: for how long something had been there that the device had not.
    package var stalenesses: [Int64] = []

    package var bytes: Int64 { backgroundBytes + foregroundBytes }
    package var openings: Int { ages.count }
    package var freshOpenings: Int { stalenesses.count { $0 == 0 } }
    package var meanStaleness: Int64 { Self.mean(stalenesses) }
    package var meanAge: Int64 { Self.mean(ages) }

    package func age(percentile: Int) -> Int64 { Self.percentile(percentile, of: ages) }

    package func staleness(percentile: Int) -> Int64 {
        Self.percentile(percentile, of: stalenesses)
    }

    private static func mean(_ values: [Int64]) -> Int64 {
        values.isEmpty ? 0 : values.reduce(0, +) / Int64(values.count)
    }

    /// The nearest rank.
    private static func percentile(_ percent: Int, of values: [Int64]) -> Int64 {
        guard !values.isEmpty else { return 0 }
        let rank = (values.count * percent + 99) / 100
        return values.sorted()[max(0, min(values.count, rank) - 1)]
    }
}
