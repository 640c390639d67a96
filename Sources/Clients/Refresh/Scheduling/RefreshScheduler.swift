internal import Base

/// Decides when apps are woken to fetch what is new: events with their times in, decisions out. It
/// has no clock; times are in milliseconds since 1970 and never go back.
///
/// An app is woken where its quiet period is over and there is an opportunity: it is likely used
/// soon, or the screen, the radio or the charger are on anyway. A push wakes it at once. Each wake
/// is completed exactly once, and what an app does against that is a violation.
package struct RefreshScheduler: Sendable {
    struct OpenWake: Sendable {
        let wake: Wake
        let index: Int
    }

    struct EndedWake: Sendable {
        let wake: Wake
        /// Whether its app said that it was done.
        let isCompleted: Bool
    }

    struct Window: Sendable {
        let start: Int64
        let cause: WakeCause

        func isOpen(at now: Int64, _ policy: RefreshPolicy) -> Bool {
            now < start + policy.windowLength
        }
    }

    package let policy: RefreshPolicy
    let seed: UInt64
    var apps: [ScheduledApp]
    var now: Int64
    var isScreenOn = false
    var isCharging = false
    var level = 100
    var link = DeviceLink.wifi
    var isLocked = false
    /// Whether it was unlocked since it started.
    var wasUnlocked = true
    /// Until when somebody else's traffic keeps the radio up.
    var radioUntil: Int64 = 0
    var window: Window?
    var wakes: [OpenWake] = []
    var lastToken: UInt64 = 0
    /// The latest wakes that ended, to tell late completions from second ones.
    var ended: [EndedWake] = []
    private var midnight: Int64

    /// - Parameter seed: what pauses behind failures are drawn from.
    package init(_ apps: [RefreshApp], _ policy: RefreshPolicy, seed: UInt64, at now: Int64) {
        self.policy = policy
        self.seed = seed
        self.now = now
        self.apps = apps.map { ScheduledApp($0, at: now) }
        midnight = now
        roll()
    }

    // MARK: What happens

    /// Something happens to the device or an app.
    package mutating func take(_ event: DeviceEvent, at time: Int64) -> [RefreshDecision] {
        var decisions = advance(to: time)
        switch event {
        case .screen(let isOn): isScreenOn = isOn
        case .power(let isCharging, let level): (self.isCharging, self.level) = (isCharging, level)
        case .link(let link): self.link = link
        case .radio(let length): radioUntil = max(radioUntil, now + max(0, length))
        case .locked: isLocked = true
        case .unlocked: decisions += unlock()
        case .rebooted: decisions += reboot()
        case .opened(let name), .closed(let name), .removed(let name), .ended(let name),
            .allowed(let name, _), .interval(let name, _), .consent(let name, _):
            guard let index = index(of: name) else { return decisions }
            decisions += take(event, of: index)
        }
        return decisions + consider()
    }

    private mutating func take(_ event: DeviceEvent, of index: Int) -> [RefreshDecision] {
        switch event {
        case .opened: return open(index)
        case .closed:
            guard apps[index].isOpen else { return [] }
            apps[index].isOpen = false
            apps[index].lastActivity = now
        case .removed:
            apps[index].isOpen = false
            apps[index].isRemoved = true
            defer { apps[index].hasPush = false }
            return stop(index)
        case .ended:
            apps[index].isOpen = false
            return stop(index)
        case .allowed(_, let isAllowed):
            apps[index].isAllowed = isAllowed
            if !isAllowed { apps[index].hasPush = false }
        case .interval(_, let interval): apps[index].app.interval = interval
        case .consent(_, let isGranted):
            let waited = apps[index].consent.state == .waiting
            apps[index].consent.answer(isGranted: isGranted)
            // What waited for the answer goes on by itself.
            if isGranted, waited, apps[index].isOpen {
                return [.foreground(apps[index].app.name)]
            }
        case .screen, .power, .link, .radio, .locked, .unlocked, .rebooted: break
        }
        return []
    }

    /// An app fetches over other networks from now on, or from the local one.
    package mutating func configure(
        _ name: String, allowsCellular: Bool, isLocal: Bool, at time: Int64
    ) -> [RefreshDecision] {
        let decisions = advance(to: time)
        guard let index = index(of: name) else { return decisions }
        apps[index].app.allowsCellular = allowsCellular
        apps[index].app.isLocal = isLocal
        return decisions + consider()
    }

    /// Lets time pass: wakes whose time is over end, and opportunities that come with it are taken.
    package mutating func advance(to time: Int64) -> [RefreshDecision] {
        var decisions: [RefreshDecision] = []
        while let next = nextTime, next <= time {
            now = max(now, next)
            roll()
            decisions += expire() + consider()
        }
        now = max(now, time)
        roll()
        return decisions
    }

    /// Takes a gap on a real clock, which was set or stood still with its machine: opportunities that
    /// nobody could take in time are over, and only the present one is taken. Less than the length of a
    /// wake is none.
    package mutating func catchUp(to time: Int64) -> [RefreshDecision] {
        guard let next = nextTime, time > next.addingSaturated(policy.wakeLimit) else { return [] }
        now = time
        roll()
        return expire() + consider()
    }

    /// When ``advance(to:)`` is to be called, if nothing else happens before.
    package var nextTime: Int64? {
        let ends = wakes.map(\.wake.deadline)
        let opportunities = apps.indices.compactMap(nextOpportunity)
        let transfers = apps.indices.compactMap(nextTransferWake).map { max($0, now + 1) }
        return (ends + opportunities + transfers + [midnight]).min()
    }

    private mutating func roll() {
        guard now >= midnight else { return }
        let time = LocalTime(now, zoneMinutes: policy.zoneMinutes)
        for index in apps.indices {
            apps[index].usage.roll(to: time, policy)
            apps[index].budget.roll(to: time.day)
            if apps[index].held == .budget { apps[index].held = nil }
        }
        midnight = LocalTime.midnight(behind: now, zoneMinutes: policy.zoneMinutes)
    }

    /// Whether an app may reach its servers, as far as the user is asked for that.
    package func mayConnect(_ name: String) -> Bool {
        guard let index = index(of: name) else { return false }
        return !apps[index].app.isLocal || apps[index].consent.state == .granted
    }

    func index(of name: String) -> Int? { apps.firstIndex { $0.app.name == name } }

    // MARK: The device

    private mutating func open(_ index: Int) -> [RefreshDecision] {
        apps[index].isOpen = true
        apps[index].isRunning = true
        apps[index].isRemoved = false
        // Whatever a push announced is fetched now, with the user waiting.
        apps[index].hasPush = false
        apps[index].held = nil
        apps[index].lastActivity = now
        apps[index].usage.note(useAt: LocalTime(now, zoneMinutes: policy.zoneMinutes))
        var decisions = merge(index)
        if apps[index].app.isLocal, apps[index].consent.request(inForeground: true) == .ask {
            decisions.append(.ask(apps[index].app.name))
        }
        return decisions + [.foreground(apps[index].app.name)]
    }

    private mutating func unlock() -> [RefreshDecision] {
        isLocked = false
        wasUnlocked = true
        return apps.indices.flatMap { merge($0) }
    }

    private mutating func merge(_ index: Int) -> [RefreshDecision] {
        let count = apps[index].bufferedCount
        guard count > 0, isStorageOpen(index) else { return [] }
        apps[index].bufferedCount = 0
        return [.merge(apps[index].app.name, count: count)]
    }

    private mutating func reboot() -> [RefreshDecision] {
        isLocked = true
        wasUnlocked = false
        isScreenOn = false
        radioUntil = now
        return apps.indices.flatMap { index in
            apps[index].isOpen = false
            return stop(index)
        }
    }

    /// Ends an app and with it its wakes, which fail.
    private mutating func stop(_ index: Int) -> [RefreshDecision] {
        apps[index].isRunning = false
        let ended = wakes.filter { $0.index == index }
        return ended.flatMap { end($0, WakeReport(.failed), isCompleted: false) }
    }

    func isStorageOpen(_ index: Int) -> Bool {
        apps[index].app.storage.isOpen(isLocked: isLocked, wasUnlocked: wasUnlocked)
    }

    /// The side buffer has the class below: it is open from the first unlocking on.
    func isBufferOpen(_ index: Int) -> Bool {
        apps[index].app.buffersWhileLocked
            && StorageClass.untilFirstUnlock.isOpen(isLocked: isLocked, wasUnlocked: wasUnlocked)
    }
}
