internal import Base

/// Wakes from their beginning to their only completion.
extension RefreshScheduler {
    mutating func wake(
        _ index: Int, _ cause: WakeCause, isCoalesced: Bool
    ) -> RefreshDecision {
        lastToken += 1
        let wake = Wake(
            token: WakeToken(number: lastToken), app: apps[index].app.name,
            mode: apps[index].isRunning ? .resumed : .launched, cause: cause,
            isCoalesced: isCoalesced, usesSideBuffer: !isStorageOpen(index),
            deadline: now + policy.wakeLimit)
        wakes.append(OpenWake(wake: wake, index: index))
        apps[index].isRunning = true
        apps[index].held = nil
        if cause != .transfer { apps[index].lastActivity = now }
        return .wake(wake)
    }

    /// An app says that it is done with a wake.
    package mutating func complete(
        _ token: WakeToken, _ report: WakeReport, at time: Int64
    ) -> [RefreshDecision] {
        let passed = advance(to: time)
        guard let open = wakes.first(where: { $0.wake.token == token }) else {
            guard let old = ended.last(where: { $0.wake.token == token }) else { return passed }
            let violation =
                old.isCompleted ? WakeViolation.secondCompletion : .lateCompletion
            return passed + [.violation(violation, token, old.wake.app)]
        }
        let name = open.wake.app
        var decisions = passed + end(open, report, isCompleted: true)
        if report.bytes > policy.wakeByteLimit {
            decisions.append(.violation(.overBytes, token, name))
        }
        if report.processor > policy.wakeProcessorLimit {
            decisions.append(.violation(.overProcessor, token, name))
            decisions.append(terminate(open.index))
        } else {
            decisions.append(.snapshot(name))
        }
        return decisions + consider()
    }

    /// Whether a wake is under way.
    package func isOpen(_ token: WakeToken) -> Bool {
        wakes.contains { $0.wake.token == token }
    }

    mutating func expire() -> [RefreshDecision] {
        let late = wakes.filter { $0.wake.deadline <= now }
        // It may have kept the radio up all the time: a server that never answers costs its app
        // as much of its budget as one that does.
        let report = WakeReport(.failed, radio: policy.wakeLimit)
        return late.flatMap { open -> [RefreshDecision] in
            let name = open.wake.app
            return [.violation(.noCompletion, open.wake.token, name)]
                + end(open, report, isCompleted: false) + [terminate(open.index)]
        }
    }

    /// How many wakes that are over are remembered.
    private static let endedLimit = 256

    private mutating func terminate(_ index: Int) -> RefreshDecision {
        if !apps[index].isOpen { apps[index].isRunning = false }
        return .terminated(apps[index].app.name)
    }

    mutating func end(
        _ open: OpenWake, _ report: WakeReport, isCompleted: Bool
    ) -> [RefreshDecision] {
        wakes.removeAll { $0.wake.token == open.wake.token }
        ended.append(EndedWake(wake: open.wake, isCompleted: isCompleted))
        if ended.count > Self.endedLimit { ended.removeFirst() }
        let index = open.index
        guard open.wake.cause != .transfer else { return [endTransferWake(open, report)] }
        apps[index].lastActivity = now
        apps[index].budget.spend(report, over: link)
        if open.wake.usesSideBuffer, report.result == .newData { apps[index].bufferedCount += 1 }
        apps[index].note(report, policy, pause: pause(open, report))
        // What a push announced is still not there.
        if open.wake.cause == .push, report.result == .failed, apps[index].mayBeWoken {
            apps[index].hasPush = true
        }
        let next = apps[index].eligible(policy) ?? now
        return [
            .finished(open.wake.token, apps[index].app.name, report.result, nextAfter: next)
        ]
    }

    /// Nothing was fetched, so that it is no activity; what it did not hear of waits again.
    private mutating func endTransferWake(
        _ open: OpenWake, _ report: WakeReport
    ) -> RefreshDecision {
        if report.result == .failed { apps[open.index].transfersDue = now }
        return .finished(
            open.wake.token, open.wake.app, report.result,
            nextAfter: apps[open.index].eligible(policy) ?? now)
    }

    /// Until when an app is left alone: behind failures for a time that is drawn from one that
    /// doubles, so that many devices do not come back at once, and as long as its server wants.
    private func pause(_ open: OpenWake, _ report: WakeReport) -> Int64 {
        let wanted = min(max(0, report.retryAfter ?? 0), policy.retryLimit)
        guard report.result == .failed else { return now + wanted }
        let most = min(
            policy.retryDelay << Int64(min(apps[open.index].failures, 16)), policy.retryLimit)
        let drawn = SplitMix.word(seed: seed, open.wake.token.number) % UInt64(most)
        return now + max(wanted, most / 2 + Int64(drawn) / 2)
    }
}
