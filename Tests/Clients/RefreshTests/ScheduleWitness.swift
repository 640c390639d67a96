import Base

@testable import Refresh

/// Reads a log beside its trace and tells the first thing that must not have happened. It keeps its
/// own account of the device.
struct ScheduleWitness {
    private struct App {
        let app: RefreshApp
        var interval: RefreshInterval
        var lastActivity: Int64
        var isOpen = false
        var isAllowed = true
        var isRemoved = false
        var granted = false
        /// The quarters of weekdays and of weekends in which it was ever used.
        var uses = Set<Int>()
        var cellularBytes: Int64 = 0
    }

    private let trace: RefreshTrace
    private let policy: RefreshPolicy
    private let start: Int64
    private var apps: [String: App]
    private var isScreenOn = false
    private var isCharging = false
    private var level = 100
    private var link = DeviceLink.wifi
    private var isLocked = false
    private var wasUnlocked = true
    private var radioUntil: Int64 = 0
    private var open: [UInt64: Wake] = [:]
    private var finished = Set<UInt64>()
    private var fetchWindows: [Int64] = []
    private(set) var wakeCount = 0

    init(_ trace: RefreshTrace, _ policy: RefreshPolicy) {
        self.trace = trace
        self.policy = policy
        let start = trace.start.microseconds / 1000
        self.start = start
        apps = Dictionary(
            uniqueKeysWithValues: trace.apps.map {
                ($0.app.name, App(app: $0.app, interval: $0.app.interval, lastActivity: start))
            })
    }

    mutating func firstBrokenPromise(_ log: PlayedLog) -> String? {
        var events = trace.events[...]
        for entry in log.entries {
            while let event = events.first, start + event.at * 1000 < entry.at {
                events.removeFirst()
                take(event.kind, at: start + event.at * 1000)
            }
            // What happens in the same millisecond may be before or behind it.
            let before = self
            var others: [ScheduleWitness] = []
            var during = self
            for event in events.prefix(while: { start + $0.at * 1000 == entry.at }) {
                during.take(event.kind, at: entry.at)
                others.append(during)
            }
            let problems = ([before] + others).map { $0.problem(entry) }
            if let first = problems.first, !problems.contains(where: { $0 == nil }) {
                return "\(Timestamp(microseconds: entry.at * 1000).rfc3339): \(first ?? "")"
            }
            note(entry)
        }
        return open.values.first { $0.deadline < start + (trace.events.last?.at ?? 0) * 1000 }.map {
            "wake \($0.token.number) has no end"
        }
    }

    private mutating func take(_ kind: RefreshTrace.Kind, at now: Int64) {
        guard case .device(let event) = kind else { return }
        switch event {
        case .opened(let name):
            apps[name]?.isOpen = true
            apps[name]?.isRemoved = false
            apps[name]?.lastActivity = now
            apps[name]?.uses.insert(LocalTime(now, zoneMinutes: trace.zoneMinutes).place)
        case .closed(let name):
            if apps[name]?.isOpen == true { apps[name]?.lastActivity = now }
            apps[name]?.isOpen = false
        case .removed(let name):
            apps[name]?.isOpen = false
            apps[name]?.isRemoved = true
        case .ended(let name): apps[name]?.isOpen = false
        case .allowed(let name, let isAllowed): apps[name]?.isAllowed = isAllowed
        case .interval(let name, let interval): apps[name]?.interval = interval
        case .screen(let isOn): isScreenOn = isOn
        case .power(let isCharging, let level): (self.isCharging, self.level) = (isCharging, level)
        case .link(let link): self.link = link
        case .locked: isLocked = true
        case .unlocked: (isLocked, wasUnlocked) = (false, true)
        case .rebooted:
            (isLocked, wasUnlocked, isScreenOn, radioUntil) = (true, false, false, now)
            for name in apps.keys { apps[name]?.isOpen = false }
        case .radio(let length): radioUntil = max(radioUntil, now + length)
        case .consent(let name, let isGranted): apps[name]?.granted = isGranted
        }
    }

    private func problem(_ entry: DecisionLog.Entry) -> String? {
        switch entry.decision {
        case .wake(let wake): return problem(wake, at: entry.at)
        case .finished(let token, _, _, _):
            if finished.contains(token.number) { return "wake \(token.number) ends twice" }
            return open[token.number] == nil ? "wake \(token.number) ends and never began" : nil
        default: return nil
        }
    }

    private func problem(_ wake: Wake, at now: Int64) -> String? {
        guard let app = apps[wake.app] else { return "an unknown app is woken" }
        if !app.isAllowed || app.isRemoved || app.isOpen { return "\(wake.app) may not be woken" }
        if link == .none { return "no network" }
        if link == .cellular, !app.app.allowsCellular { return "cellular is not allowed" }
        if !isCharging, level < policy.batteryFloor { return "battery" }
        if app.app.isLocal, !app.granted { return "no consent" }
        let isClosed = !app.app.storage.isOpen(isLocked: isLocked, wasUnlocked: wasUnlocked)
        if isClosed != wake.usesSideBuffer { return "the wrong files" }
        if isClosed, !app.app.buffersWhileLocked { return "no files" }
        if wake.deadline != now + policy.wakeLimit { return "deadline" }
        if wake.cause == .push { return nil }
        return problemOfOpportunity(wake, app, at: now)
    }

    private func problemOfOpportunity(_ wake: Wake, _ app: App, at now: Int64) -> String? {
        let quiet: Int64
        switch app.interval {
        case .never: return "\(wake.app) never asked"
        case .minimum: quiet = policy.floor
        case .seconds(let seconds): quiet = max(policy.floor, seconds * 1000)
        }
        if now < app.lastActivity + quiet {
            return "\(wake.app) is woken \((now - app.lastActivity) / 1000) s into its quiet period"
        }
        if open.values.contains(where: { $0.app == wake.app }) { return "woken while awake" }
        if open.count >= policy.parallelLimit { return "too many at once" }
        let isAmbient = isScreenOn || isCharging || now < radioUntil
        if (wake.cause != .predicted) != isAmbient { return "\(wake.cause) is not so" }
        // A guess needs a use of this hour in the history.
        let place = LocalTime(now, zoneMinutes: trace.zoneMinutes).place
        let nearby = (-3...3).map { (place % 96 + $0 + 96) % 96 }
        let isKnown = app.uses.contains { nearby.contains($0 % 96) }
        return !isAmbient && !isKnown ? "\(wake.app) was never used at this hour" : nil
    }

    private mutating func note(_ entry: DecisionLog.Entry) {
        switch entry.decision {
        case .wake(let wake):
            wakeCount += 1
            open[wake.token.number] = wake
            apps[wake.app]?.lastActivity = entry.at
        case .finished(let token, let app, _, _):
            open[token.number] = nil
            finished.insert(token.number)
            apps[app]?.lastActivity = entry.at
        case .banner, .delivered, .deferred, .dropped:
            // A push has come.
            radioUntil = max(radioUntil, entry.at + policy.radioTail)
        default: break
        }
        if case .wake(let wake) = entry.decision, wake.cause == .push {
            radioUntil = max(radioUntil, entry.at + policy.radioTail)
        }
    }
}
