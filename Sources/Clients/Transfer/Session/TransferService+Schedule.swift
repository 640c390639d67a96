internal import Base
internal import HTTPClient
internal import Sockets

/// Which tasks run, and when: so many at once, for one host too, and the important and the old first.
extension TransferService {
    func schedule() async {
        while !isClosing {
            let due = startAll()
            await clock.wait(until: due, waking: wakeup, isIdle: running.isEmpty)
        }
    }

    /// Starts those that may run now.
    ///
    /// - Returns: when there is another look to be taken, in milliseconds of the clock.
    private func startAll() -> Int64 {
        sort()
        var next = Int64.max
        for transfer in queue {
            guard !transfer.isRunning, transfer.journal.state.isResumed,
                !transfer.task.state.isFinal
            else { continue }
            guard let wait = wait(of: transfer)?.steadied(by: transfer.task.wait) else {
                guard running.count < configuration.limits.runningLimit else {
                    return min(next, makePlace())
                }
                start(transfer)
                continue
            }
            if wait.reason == .network, !transfer.task.options.waitsForConnectivity {
                finish(
                    transfer,
                    .failed(Failure("no-network", party: .client, "there is no network")))
                continue
            }
            if transfer.due > clock.elapsed, wait.until != nil { next = min(next, transfer.due) }
            transfer.note(.waiting(wait))
        }
        return next
    }

    /// Has one that gets hardly anything give its place to those that wait for one, so that slow origins
    /// cannot have all of them. An upload keeps its: what was sent is not always worth anything later.
    ///
    /// - Returns: when there is another look to be taken, in milliseconds of the clock.
    private func makePlace() -> Int64 {
        let now = clock.elapsed
        var next = Int64.max
        for transfer in running.values where transfer.task.kind == .download {
            guard transfer.task.state == .running, !transfer.isStopped else { continue }
            let time = now - transfer.look.time
            guard time >= configuration.limits.slowTime else {
                next = min(next, transfer.look.time + configuration.limits.slowTime)
                continue
            }
            guard transfer.task.reach - transfer.look.reach >= configuration.limits.slowSize else {
                transfer.givesWay = true
                transfer.stop.stop()
                return now + configuration.limits.slowTime
            }
            transfer.look = (now, transfer.task.reach)
            next = min(next, now + configuration.limits.slowTime)
        }
        return next
    }

    private func sort() {
        queue.removeAll { $0.task.state.isFinal }
        guard !isSorted else { return }
        isSorted = true
        queue.sort { left, right in
            let (first, second) = (left.task.options.priority, right.task.options.priority)
            return first == second ? left.task.createdAt < right.task.createdAt : first > second
        }
    }

    /// Why a task may not run now; `nil` if it may.
    private func wait(of transfer: RunningTransfer) -> TransferWait? {
        let options = transfer.task.options
        if let reason = StartRule.wait(options, in: environment) { return TransferWait(reason) }
        if isElsewhere(transfer) { return TransferWait(.otherNetwork, Self.elsewhere) }
        if transfer.needsLogin { return TransferWait(.authentication, transfer.lastFailure) }
        let left = transfer.due - clock.elapsed
        if left > 0 {
            return TransferWait(
                transfer.dueReason,
                until: transfer.due == .max ? nil : moment(in: left),
                transfer.lastFailure)
        }
        let hostCount = runningHosts[transfer.host] ?? 0
        return hostCount >= configuration.limits.hostLimit ? TransferWait(.queue) : nil
    }

    /// Whether a task is for another network than that of this process: its tries would be in vain here, or
    /// be seen by whom its owner did not mean. Behind a start of the system, or of a container, all networks
    /// are others.
    private func isElsewhere(_ transfer: RunningTransfer) -> Bool {
        guard let own = configuration.network, let other = transfer.journal.state.network else {
            return false
        }
        return own != other && own.prefix { $0 != " " } == other.prefix { $0 != " " }
    }

    private static let elsewhere = Failure(
        "other-network", party: .client, "it was begun in another network than that of the daemon",
        hint: "'sallyport transfer resume' lets it go on in this one")

    /// - Parameter time: in milliseconds.
    func moment(in time: Int64) -> Timestamp {
        Timestamp(
            microseconds: clock.now.microseconds.addingSaturated(
                min(time, RecordedNumber.limit / 1000) * 1000))
    }

    private func start(_ transfer: RunningTransfer) {
        guard let driver = drivers[transfer.task.kind] else {
            return finish(
                transfer,
                .failed(Failure("no-driver", party: .tool, "nothing here does uploads")))
        }
        transfer.beginAttempt()
        transfer.look = (clock.elapsed, transfer.task.reach)
        running[transfer.task.identifier] = transfer
        takeConnection(to: transfer.host)
        transfer.note(.running)
        background.add { [self] in
            let outcome = await driver.run(transfer)
            transfer.isRunning = false
            transfer.isDelivering = false
            transfer.source = nil
            running[transfer.task.identifier] = nil
            giveConnection(to: transfer.host)
            finish(transfer, outcome)
            if transfer.task.state.isFinal { transfer.closeFile() }
            if transfer.journal.state.isCancelled { removeContent(of: transfer) }
            if transfer.journal.state.isCancelled { cleanUp(transfer) }
            if transfer.isAcknowledged, transfer.task.state.isFinal { forget(transfer) }
            wake()
        }
    }

    func takeConnection(to host: String) { runningHosts[host, default: 0] += 1 }

    func giveConnection(to host: String) {
        let count = (runningHosts[host] ?? 1) - 1
        runningHosts[host] = count > 0 ? count : nil
    }

    /// Has the origin forget what a task that was cancelled has left there.
    func cleanUp(_ transfer: RunningTransfer) {
        guard let driver = drivers[transfer.task.kind], !isClosing, !isElsewhere(transfer) else {
            return
        }
        transfer.stop = ClientStop()
        cleaning.append(transfer)
        background.add { [self] in
            await driver.cleanUp(transfer)
            cleaning.removeAll { $0 === transfer }
            transfer.tellChange()
        }
    }
}
