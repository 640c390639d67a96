/// What a scheduler knows of one app.
struct ScheduledApp: Sendable {
    var app: RefreshApp
    /// Whether the user lets it refresh in the background.
    var isAllowed = true
    /// Whether the user has removed it from the switcher since it was last opened.
    var isRemoved = false
    /// Whether it is in front of the user.
    var isOpen = false
    /// Whether it is in memory, in use or suspended.
    var isRunning = false
    /// The last use or fetch.
    var lastActivity: Int64
    var usage = UsageHistogram()
    var budget = RefreshBudget()
    /// How often its quiet period was doubled.
    var doublings = 0
    var failures = 0
    /// Not before this: a pause behind failures, or what its server wants.
    var pausedUntil: Int64 = 0
    /// When it was last woken in its quiet hours because the device is charged.
    var lastCharging: Int64?
    /// A push came that could not wake it.
    var hasPush = false
    /// When it is to hear of transfers that have ended; `nil` if there are none.
    var transfersDue: Int64?
    /// Wakes whose data is in the side buffer.
    var bufferedCount = 0
    var consent = ConsentGate()
    /// Why it was last held, so that it is told once.
    var held: HoldReason?

    init(_ app: RefreshApp, at now: Int64) {
        self.app = app
        lastActivity = now
    }

    /// Whether it may run without the user in front of it.
    var mayBeWoken: Bool { isAllowed && !isRemoved && !isOpen }

    /// How long nothing wakes it behind its last activity; `nil` for ever.
    func quietPeriod(_ policy: RefreshPolicy) -> Int64? {
        let asked: Int64
        switch app.interval {
        case .never: return nil
        case .minimum: asked = 0
        case .seconds(let seconds): asked = seconds * 1000
        }
        return max(asked, min(policy.floor << Int64(doublings), policy.floorLimit), policy.floor)
    }

    /// From when on it may be woken by an opportunity; `nil` for never.
    func eligible(_ policy: RefreshPolicy) -> Int64? {
        guard mayBeWoken, let quiet = quietPeriod(policy) else { return nil }
        return max(lastActivity + quiet, pausedUntil)
    }

    mutating func note(_ report: WakeReport, _ policy: RefreshPolicy, pause: Int64) {
        switch report.result {
        case .newData:
            doublings = max(0, doublings - 1)
            failures = 0
        case .noData:
            if policy.floor << Int64(doublings) < policy.floorLimit { doublings += 1 }
            failures = 0
        case .failed:
            failures = min(failures + 1, 32)
        }
        pausedUntil = max(pausedUntil, pause)
    }
}
