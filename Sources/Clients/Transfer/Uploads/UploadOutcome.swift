internal import Base
internal import Contents
internal import HTTPClient
internal import Origins

/// What came of one request of an upload.
struct UploadOutcome {
    private let store: UploadStore
    private let action: UploadAction
    private let reception: UploadReception
    private let ending: Result<NetworkAnswer, Failure>
    private let way: TransferWay
    private let transfer: RunningTransfer

    init(
        _ store: UploadStore, _ action: UploadAction, _ reception: UploadReception,
        _ ending: Result<NetworkAnswer, Failure>, at way: TransferWay
    ) {
        self.store = store
        self.action = action
        self.reception = reception
        self.ending = ending
        self.way = way
        transfer = store.transfer
    }

    /// - Returns: `nil` if the upload goes on.
    func judge() async throws(DiskFailure) -> AttemptOutcome? {
        if let limits = reception.facts?.limits {
            store.change { reception.take(limits, into: &$0) }
        }
        guard let step = reception.step else { return judgeSilence() }
        switch step {
        case .complete:
            guard case .success = ending else { return judgeSilence() }
            return try await complete()
        case .begun(let reference): return begin(reference)
        case .confirmed(let offset): return confirm(offset)
        case .discovered:
            let takesChecksums = reception.facts?.takesChecksums ?? false
            store.change { state in
                state.isDiscovered = true
                state.takesChecksums = takesChecksums
            }
            return nil
        case .ask, .askWithoutDigests:
            store.change { state in
                state.isOffsetKnown = false
                state.avoidsDigests = state.avoidsDigests || step == .askWithoutDigests
            }
            return nil
        case .restart(let reason): return try restart(reason)
        case .wait(let after, let failure):
            store.change { $0.isOut = false }
            return .retry(failure, after)
        case .refuse(let failure): return .failed(failure)
        case .authenticate, .redirect: return judgeSilence()
        }
    }

    /// No answer came, or not all of it.
    private func judgeSilence() -> AttemptOutcome {
        guard case .failure(let failure) = ending, failure.code != "stopped",
            !transfer.isStopped
        else { return .stopped }
        let rule = UploadRule(action, store.state, store.options, url: way.location.url)
        let isUnprocessed = reception.isUnprocessed
        let step = rule.judge(
            noAnswer: failure, isUnprocessed: isUnprocessed, hasCome: transfer.hasMetOrigin)
        switch step {
        case .wait(_, let failure):
            store.change { state in
                state.isOut = false
                // It broke off, and nothing of it counts.
                if case .append(_, true) = action, !isUnprocessed { state.avoidsDigests = true }
            }
            return .retry(failure)
        case .refuse(let failure): return .failed(failure)
        default: return .failed(failure)
        }
    }

    private func begin(_ reference: String) -> AttemptOutcome? {
        do throws(Failure) {
            let resource = try way.resolved(reference).url
            store.change(atOnce: true) { state in
                state.resource = resource
                state.offset = 0
                // What went out with the request that made it may be there.
                if action == .create { (state.sentEnd, state.reach) = (0, 0) }
                state.isOffsetKnown = action == .create
            }
            return nil
        } catch {
            return .failed(error)
        }
    }

    private func confirm(_ offset: Int64) -> AttemptOutcome? {
        let before = store.state.offset
        let isSmall = offset - before < transfer.limits.worthwhileSize && offset < store.state.size
        store.change { state in
            state.offset = offset
            state.isOffsetKnown = true
        }
        guard case .append(let range, _) = action, !range.isEmpty, isSmall,
            Int64(range.count) > offset - before || range.count < Self.smallest
        else { return nil }
        // Else it would be asked without end and pause.
        return .retry(
            Failure(
                "upload-stalled", party: .origin,
                "\(way.location.url): took \(max(0, offset - before)) bytes of what was sent"))
    }

    /// In bytes: appends that are shorter, as an origin may want them, have pauses between them.
    private static let smallest = 1024

    private func restart(_ reason: String) throws(DiskFailure) -> AttemptOutcome {
        let isRepeated = transfer.journal.state.restarts.contains(reason)
        try store.restart(because: reason)
        guard reason == UploadRule.mismatch, isRepeated else { return .again }
        return .failed(mismatch)
    }

    private var mismatch: Failure {
        Failure(
            UploadRule.mismatch, party: .origin,
            "\(transfer.task.url): the origin has other bytes than were sent")
    }

    /// Whether the origin does not say that it has other bytes.
    private func isRight() async throws(DiskFailure) -> Bool {
        let told = reception.digests
        guard told.allSatisfy({ $0.algorithm != .sha256 || $0.bytes == store.state.source.sha256 })
        else { return false }
        guard let long = told.first(where: { $0.algorithm == .sha512 }) else { return true }
        let range = 0..<store.state.size
        return try await store.source.digest(range, by: .sha512, for: transfer) == long.bytes
    }

    private func complete() async throws(DiskFailure) -> AttemptOutcome {
        guard try await isRight() else {
            if transfer.isStopped { return .stopped }
            let rule = UploadRule(action, store.state, store.options, url: transfer.task.url)
            if rule.mayRepeat { return try restart(UploadRule.mismatch) }
            guard reception.hasDripped else { return .failed(mismatch) }
            // It did not come to the end that would tell whose digest it is.
            let words =
                "\(way.location.url): told a digest of other bytes, in an answer that did not end"
            return .failed(UploadRule.uncertain(transfer.task.url, words))
        }
        // What was answered before it was sent cannot be there.
        guard action == .ask || store.state.isSent else {
            let words = "\(way.location.url): answered before it had all of it"
            let rule = UploadRule(action, store.state, store.options, url: transfer.task.url)
            guard rule.mayRepeat else {
                return .failed(UploadRule.uncertain(transfer.task.url, words))
            }
            store.change { $0.isOut = false }
            return .retry(Failure("origin-violation", party: .origin, words))
        }
        let result = reception.resource(reception.facts?.answer.location)
        let source = store.state.source
        let url =
            result ?? (action == .sendWhole ? way.location.url : nil) ?? store.state.resource
            ?? transfer.task.url
        transfer.noteProgress(source.size, total: source.size)
        try await transfer.worker.run { [transfer] () throws(DiskFailure) in
            try transfer.complete(upload: url, sha256: source.sha256, size: source.size)
        }
        return .completed
    }
}
