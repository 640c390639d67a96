internal import Base
internal import HTTPModel

/// What came of one request of a download, once its content has ended.
struct DownloadOutcome {
    private let store: DownloadStore
    private let reception: DownloadReception
    private let ending: Result<NetworkAnswer, Failure>
    private let segments: DownloadSegments

    init(
        _ store: DownloadStore, _ reception: DownloadReception,
        _ ending: Result<NetworkAnswer, Failure>, _ segments: DownloadSegments
    ) {
        self.segments = segments
        self.store = store
        self.reception = reception
        self.ending = ending
    }

    /// - Returns: `nil` if the next way is to be tried.
    func judge() async -> AttemptOutcome? {
        await reception.finishCommits()
        do throws(DiskFailure) {
            // However little room there is for it.
            if reception.flaw == .tooLong { return try judge(.tooLong) }
            if let failure = reception.failure ?? segments.failure { throw failure }
            switch reception.step {
            case .next: return nil
            case .complete: return try await finish(at: store.offset)
            case .restart(let reason):
                try store.drop(because: reason)
                return .again
            case .wait(let after, let failure): return .retry(failure, after)
            case .refuse(let failure): return .failed(failure)
            case .append, .takeWhole: return try await judgeContent()
            case .authenticate, .redirect, nil: return judgeEnding()
            }
        } catch {
            return .disk(error)
        }
    }

    /// Of a request that brought nothing, or whose content broke off.
    private func judgeEnding() -> AttemptOutcome {
        guard case .failure(let failure) = ending, !store.transfer.isStopped else {
            return .stopped
        }
        if failure.code == "stopped" { return .stopped }
        return RetryRule.mayRetry(failure, hasCome: store.transfer.hasMetOrigin)
            ? .retry(failure) : .failed(failure)
    }

    private func judgeContent() async throws(DiskFailure) -> AttemptOutcome? {
        if let flaw = reception.flaw {
            // Which of two is wrong where they meet nobody knows.
            if flaw == .mismatch, store.gapEnd != nil { store.transfer.refusesParts = true }
            return try judge(flaw)
        }
        if segments.flaw != nil {
            store.transfer.refusesParts = true
            try store.dropParts()
            return .again
        }
        if reception.hasReachedLimit {
            return store.offset == store.saved?.length ? try await finish(at: store.offset) : .again
        }
        guard case .success(let answer) = ending, !answer.isDeclined else { return judgeEnding() }
        if reception.hasStoppedShort {
            // Asked for again, it would end there again.
            try store.dropParts()
            return .again
        }
        let end = ContentEnd(
            offset: reception.position, total: store.saved?.length,
            endedByClose: answer.endedByClose, isPart: answer.head.status == 206)
        switch end {
        case .complete: return try await finish(at: reception.position)
        case .incomplete: return try judgeShort(answer)
        case .unverified:
            // The same came and ended twice, or its digest is known: else the rest is asked for, to hear
            // that there is none.
            let isSecond = store.transfer.closedEnd == reception.position
            store.transfer.closedEnd = reception.position
            if isSecond, reception.hasComparedAll {
                return try await finish(at: reception.position)
            }
            let isKnown = store.saved?.hasSecureDigest ?? false
            guard isKnown || store.transfer.task.options.expected != nil else { return .again }
            let finish = DownloadFinish(store, at: reception.position)
            return try await finish.isRight() ? try await finish.run() : goOn()
        }
    }

    /// A content that has ended as it should before the length that was told is of another version, if it
    /// was asked for without a condition; if not, that is what decides.
    private func judgeShort(_ answer: NetworkAnswer) throws(DiskFailure) -> AttemptOutcome? {
        guard answer.head.status != 206, !answer.endedByClose,
            reception.position < store.saved?.length ?? 0
        else { return goOn() }
        guard reception.asksForWhole else { return nil }
        if reception.isCutCopy {
            return .retry(AnswerFacts.cutCopy(at: store.transfer.task.url))
        }
        try store.drop(because: "version-changed: its length")
        return .again
    }

    /// More is missing than the origin has sent.
    private func goOn() -> AttemptOutcome {
        reception.hasBroughtSomething
            ? .again
            : .retry(
                Failure(
                    "origin-truncated", party: .origin,
                    "\(store.transfer.task.url): the content ends too early"))
    }

    private func judge(_ flaw: DownloadReception.Flaw) throws(DiskFailure) -> AttemptOutcome {
        switch flaw {
        case .mismatch: try store.drop(because: "overlap-mismatch")
        case .excess: try store.drop(because: "origin-violation: more than was said")
        case .contentDigest: try store.drop(because: "content-digest-mismatch")
        case .tooLong:
            return .failed(
                Failure(
                    "too-long", party: .origin,
                    "\(store.transfer.task.url): longer than the limit of "
                        + "\(store.transfer.task.options.byteLimit ?? 0) bytes"))
        }
        return .again
    }

    private func finish(at end: Int64) async throws(DiskFailure) -> AttemptOutcome {
        try await DownloadFinish(store, at: end).run()
    }
}
