/// Apps are woken when transfers that they left to a daemon have ended.
extension RefreshScheduler {
    /// Transfers of an app have ended, or need something of it. It hears in one wake of all that end
    /// within a short time.
    package mutating func endTransfers(of name: String, at time: Int64) -> [RefreshDecision] {
        var decisions = advance(to: time)
        // What came in has kept the radio up.
        radioUntil = max(radioUntil, now + policy.radioTail)
        guard let index = index(of: name) else { return decisions + [.dropped(name, .unknownApp)] }
        if apps[index].transfersDue == nil {
            apps[index].transfersDue = now + policy.transferGathering
            if let reason = transferHold(index) { decisions.append(.deferred(name, reason)) }
        }
        return decisions + consider()
    }

    /// Lets an app hear of its transfers, if it may run now: nothing else keeps it from that, since
    /// what they took they have taken.
    mutating func wakeForTransfers(_ index: Int) -> [RefreshDecision] {
        guard let due = nextTransferWake(index), due <= now else { return [] }
        apps[index].transfersDue = nil
        if apps[index].isOpen { return [.transfersEnded(apps[index].app.name)] }
        return [wake(index, .transfer, isCoalesced: false)]
    }

    /// When an app hears of its transfers; `nil` if it has none, or may not run.
    func nextTransferWake(_ index: Int) -> Int64? {
        guard let due = apps[index].transfersDue, transferHold(index) == nil else { return nil }
        if apps[index].isOpen { return now }
        let isUnderWay = wakes.contains { $0.index == index && $0.wake.cause == .transfer }
        return isUnderWay ? nil : due
    }

    private func transferHold(_ index: Int) -> HoldReason? {
        if apps[index].isRemoved { return .removed }
        return apps[index].isAllowed || apps[index].isOpen ? nil : .refused
    }
}
