/// Which apps are woken when.
extension RefreshScheduler {
    /// Takes the opportunity that there is, if any, for all that may be woken.
    mutating func consider() -> [RefreshDecision] {
        var decisions = apps.indices.flatMap { wakeForTransfers($0) + wakeForPush($0) }
        var due: [(index: Int, cause: WakeCause, use: Int64)] = []
        for index in apps.indices where isDue(index) {
            guard let cause = cause(for: index) else { continue }
            if let reason = holdReason(index) {
                if apps[index].held != reason {
                    apps[index].held = reason
                    decisions.append(.held(apps[index].app.name, reason))
                }
                continue
            }
            due.append((index, cause, nextUse(of: index)))
        }
        guard !due.isEmpty, wakes.count < policy.parallelLimit else { return decisions }
        due.sort { ($0.use, $0.index) < ($1.use, $1.index) }
        let joins = window?.isOpen(at: now, policy) ?? false
        if !joins {
            guard now >= nextWindowTime else { return decisions }
            window = Window(start: now, cause: due[0].cause)
            decisions.append(.window(due[0].cause, until: now + policy.windowLength))
        }
        for (place, entry) in due.enumerated() where wakes.count < policy.parallelLimit {
            if entry.cause == .charging { apps[entry.index].lastCharging = now }
            decisions.append(
                wake(entry.index, entry.cause, isCoalesced: joins || place > 0))
        }
        return decisions
    }

    private var nextWindowTime: Int64 {
        window.map { $0.start + policy.windowGap } ?? .min
    }

    private func isDue(_ index: Int) -> Bool {
        guard let time = apps[index].eligible(policy), time <= now else { return false }
        return !wakes.contains { $0.index == index }
    }

    /// What the app can be woken for now; what happens anyway comes before a guess.
    private func cause(for index: Int) -> WakeCause? {
        if isScreenOn { return .screen }
        if now < radioUntil { return .radio }
        if isCharging, now >= chargingTime(index) { return .charging }
        let soon = LocalTime(now + policy.lead, zoneMinutes: policy.zoneMinutes).place
        let here = LocalTime(now, zoneMinutes: policy.zoneMinutes).place
        let usage = apps[index].usage
        return usage.likely[soon] && !usage.quiet[here] ? .predicted : nil
    }

    /// From when on a charged device is an opportunity: in hours without use only so often.
    private func chargingTime(_ index: Int) -> Int64 {
        let here = LocalTime(now, zoneMinutes: policy.zoneMinutes).place
        guard apps[index].usage.quiet[here], let last = apps[index].lastCharging else { return now }
        return last + policy.chargingGap
    }

    /// What keeps an app from being woken for an opportunity or a push; `nil` for nothing.
    func holdReason(_ index: Int) -> HoldReason? {
        let entry = apps[index]
        if link == .none || link == .cellular && !entry.app.allowsCellular { return .link }
        if !isCharging, level < policy.batteryFloor { return .battery }
        if entry.budget.isSpent(over: link, policy) { return .budget }
        if !isStorageOpen(index), !isBufferOpen(index) { return .locked }
        if entry.app.isLocal, entry.consent.state != .granted { return .consent }
        return nil
    }

    /// When it is likely used next; far away if nobody knows.
    private func nextUse(of index: Int) -> Int64 {
        apps[index].usage.nextLikely(from: now, zoneMinutes: policy.zoneMinutes) ?? .max
    }

    /// When time alone brings an opportunity for an app; `nil` for never.
    func nextOpportunity(_ index: Int) -> Int64? {
        let ready = max(now + 1, apps[index].pausedUntil)
        if apps[index].hasPush, apps[index].mayBeWoken, pushHold(index) == nil { return ready }
        guard let eligible = apps[index].eligible(policy), holdReason(index) == nil,
            wakes.count < policy.parallelLimit, !wakes.contains(where: { $0.index == index })
        else { return nil }
        let joins = window?.isOpen(at: now, policy) ?? false
        let earliest = max(eligible, joins ? eligible : nextWindowTime)
        // What may be taken now was taken when it came.
        let time = max(earliest, now + 1)
        if isScreenOn { return time }
        var times: [Int64] = []
        if time < radioUntil { times.append(time) }
        if isCharging {
            // Hours without use end with a quarter.
            times.append(max(time, min(chargingTime(index), LocalTime.quarter(behind: time))))
        }
        if let use = nextPrediction(index, from: time) { times.append(use) }
        return times.min()
    }

    private func nextPrediction(_ index: Int, from time: Int64) -> Int64? {
        let (usage, zone) = (apps[index].usage, policy.zoneMinutes)
        var moment = time
        for _ in 0..<8 {
            guard let use = usage.nextLikely(from: moment + policy.lead, zoneMinutes: zone) else {
                return nil
            }
            moment = max(moment, use - policy.lead)
            guard usage.quiet[LocalTime(moment, zoneMinutes: zone).place] else { return moment }
            moment = LocalTime.quarter(behind: moment)
        }
        return nil
    }

    // MARK: Pushes

    /// A push arrived at the device.
    package mutating func push(
        _ kind: TracePush.Kind, to name: String, at time: Int64
    ) -> [RefreshDecision] {
        var decisions = advance(to: time)
        let banner: [RefreshDecision] = kind == .silent ? [] : [.banner(name)]
        // Whatever comes keeps the radio up for the others.
        radioUntil = max(radioUntil, now + policy.radioTail)
        guard let index = index(of: name) else {
            return decisions + [.dropped(name, .unknownApp)] + banner + consider()
        }
        if kind != .alert { decisions += wake(index, forPush: name) }
        return decisions + banner + consider()
    }

    private mutating func wake(_ index: Int, forPush name: String) -> [RefreshDecision] {
        if apps[index].isRemoved { return [.dropped(name, .removed)] }
        if !apps[index].isAllowed { return [.dropped(name, .refused)] }
        if apps[index].isOpen { return [.delivered(name)] }
        // Even a server that wants to be left alone may say that it has something.
        if let reason = pushHold(index) {
            apps[index].hasPush = true
            return [.deferred(name, reason)]
        }
        apps[index].hasPush = false
        return [wake(index, .push, isCoalesced: false)]
    }

    /// Whether an app is in front of the user.
    package func isInUse(_ name: String) -> Bool {
        index(of: name).map { apps[$0].isOpen } ?? false
    }

    /// An app in use was left before it had fetched what a push announced: it is woken for that as
    /// for a push that comes now.
    package mutating func returnPush(of name: String, at time: Int64) -> [RefreshDecision] {
        let decisions = advance(to: time)
        guard let index = index(of: name) else { return decisions }
        return decisions + wake(index, forPush: name) + consider()
    }

    private func pushHold(_ index: Int) -> HoldReason? {
        if wakes.count(where: { $0.index == index }) >= policy.overlapLimit { return .busy }
        return holdReason(index)
    }

    /// Wakes an app for a push that came when it could not be woken.
    private mutating func wakeForPush(_ index: Int) -> [RefreshDecision] {
        guard apps[index].hasPush, apps[index].mayBeWoken, now >= apps[index].pausedUntil,
            pushHold(index) == nil
        else { return [] }
        apps[index].hasPush = false
        return [wake(index, .push, isCoalesced: false)]
    }
}
