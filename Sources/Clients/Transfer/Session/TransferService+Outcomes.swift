internal import Base

/// What comes of an attempt: its end, or when the next one is due.
extension TransferService {
    func finish(_ transfer: RunningTransfer, _ outcome: AttemptOutcome) {
        do throws(DiskFailure) {
            try apply(outcome, to: transfer)
        } catch {
            put(transfer, off: configuration.limits.storageTime, .storage, error.failure)
        }
        transfer.refresh()
        settle(transfer)
    }

    private func apply(
        _ outcome: AttemptOutcome, to transfer: RunningTransfer
    ) throws(DiskFailure) {
        switch outcome {
        case .completed: break
        case .failed(let failure): try fail(transfer, failure)
        case .retry(let failure, let after): try retry(transfer, failure, after)
        case .again:
            guard transfer.journal.state.restartCount > configuration.limits.restartLimit else {
                return try goOn(transfer)
            }
            let reason = transfer.journal.state.restarts.last ?? ""
            try fail(
                transfer,
                Failure(
                    transfer.task.kind == .download ? "version-unstable" : "upload-unstable",
                    party: .origin,
                    "\(transfer.task.url): began anew too often, the last time for: \(reason)"))
        case .disk(let failure):
            if failure.kind == .locked, configuration.vault != nil {
                return put(transfer, off: .max, .locked, failure.failure)
            }
            if failure.kind == .exists {
                let inTheWay = Failure(
                    "file-exists", party: .client, failure.detail,
                    hint: "move it away, and give the same command again")
                return put(transfer, off: .max, .fileExists, inTheWay)
            }
            guard failure.isPassing else { return try fail(transfer, failure.failure) }
            put(transfer, off: configuration.limits.storageTime, .storage, failure.failure)
        case .authentication(let schemes, let host):
            transfer.needsLogin = true
            transfer.lastFailure = Self.login(schemes, host, of: transfer)
            try transfer.journal.append(.authenticationAsked(schemes: schemes, host: host))
            tell(transfer)
        case .stopped:
            guard transfer.givesWay else { break }
            transfer.due = clock.elapsed + configuration.limits.slowTime
            transfer.dueReason = .queue
        }
    }

    /// Goes on at once, where the last attempt has brought enough for it or begun anew: else an origin
    /// that brings nothing, or a byte each time, would be asked without end and pause.
    private func goOn(_ transfer: RunningTransfer) throws(DiskFailure) {
        let state = transfer.journal.state
        let reach = (committed: state.committedCount, restarts: state.restartCount)
        let last = transfer.reachAtAgain
        transfer.reachAtAgain = reach
        let isWorthIt = reach.committed >= last.committed + configuration.limits.worthwhileSize
        guard !isWorthIt, reach.restarts == last.restarts, last.committed >= 0 else {
            transfer.due = 0
            return
        }
        try retry(
            transfer,
            Failure(
                "origin-truncated", party: .origin,
                "\(transfer.task.url): the content ends too early"), nil)
    }

    static func login(
        _ schemes: [String], _ host: String, of transfer: RunningTransfer
    ) -> Failure {
        guard schemes.contains("basic") else {
            return Failure(
                "login-unspoken", party: .client,
                "\(host) wants a login by \(schemes.joined(separator: ", ")), and only Basic is spoken",
                hint: "cancel it, and use a client that speaks them")
        }
        let hint =
            host == transfer.host
            ? "give the same command again with --login-file FILE, whose first line is user:password"
            : TransferWay.elsewhere(host)
        return Failure(
            "login-wanted", party: .client,
            "\(host) wants a login" + (transfer.loginFlaw.map { ", \($0.text)" } ?? ""),
            hint: transfer.loginFlaw?.hint ?? hint)
    }

    private func fail(_ transfer: RunningTransfer, _ failure: Failure) throws(DiskFailure) {
        try transfer.journal.append(.failed(failure))
    }

    private func retry(
        _ transfer: RunningTransfer, _ failure: Failure, _ after: RetryAfter?
    ) throws(DiskFailure) {
        let committed = transfer.task.committed
        transfer.failures = committed > transfer.committedAtFailure ? 1 : transfer.failures + 1
        transfer.committedAtFailure = committed
        guard transfer.failures <= transfer.task.options.retryLimit else {
            return try fail(transfer, failure)
        }
        let rule = RetryRule(
            seed: configuration.seed
                ^ SplitMix.mix(
                    UInt64(
                        transfer.task.identifier.utf8.reduce(
                            into: UInt64(0)
                        ) { $0 = $0 &* 31 &+ UInt64($1) })),
            isDiscretionary: transfer.task.options.mayBeDeferred)
        let wait = rule.wait(
            failures: transfer.failures, asked: after,
            now: clock.now.microseconds / 1_000_000)
        let room = budget.take(transfer.host, now: clock.elapsed)
        put(transfer, off: max(wait, room), .retry, failure)
        // Another start of this program is to leave the origin alone as well.
        if after != nil {
            try transfer.journal.append(.pauseAsked(until: moment(in: wait), failure))
        }
    }

    func put(
        _ transfer: RunningTransfer, off time: Int64, _ reason: TransferWait.Reason,
        _ failure: Failure
    ) {
        transfer.due = clock.elapsed.addingSaturated(time)
        transfer.dueReason = reason
        transfer.lastFailure = failure
    }

    /// Brings a task's state into line with its journal.
    func settle(_ transfer: RunningTransfer) {
        let state = transfer.journal.state
        switch state.ending {
        case .completed: transfer.note(.completed)
        case .failed(let failure): transfer.note(.failed(failure))
        case .cancelled: transfer.note(.cancelled)
        case nil:
            if !state.isResumed, !transfer.isRunning { transfer.note(.suspended) }
            if state.isResumed, !transfer.isRunning, transfer.task.state == .suspended {
                transfer.note(.waiting(TransferWait(.queue)))
            }
        }
        if state.ending != nil { tell(transfer) }
    }
}
