internal import Base
internal import Contents
internal import HTTPClient
internal import HTTPModel
internal import Origins

/// Does uploads: sends what the origin has not, until it has all of it and says so.
package final class UploadDriver: TransferDriver {
    package init() {}

    package func run(_ transfer: RunningTransfer) async -> AttemptOutcome {
        do throws(DiskFailure) {
            return try await attempt(transfer)
        } catch {
            return .disk(error)
        }
    }

    private func attempt(_ transfer: RunningTransfer) async throws(DiskFailure) -> AttemptOutcome {
        let known = transfer.uploadNote.flatMap { UploadState($0) }
        let (source, way): (UploadSource, TransferWay)
        var state: UploadState
        do throws(Failure) {
            try transfer.task.options.upload.check()
            way = try TransferWay(transfer)
            source = try UploadSource(transfer)
            transfer.source = source
            guard let version = try await source.verified(known?.source, for: transfer) else {
                return .stopped
            }
            state = known ?? UploadState(version)
        } catch {
            return .failed(error)
        }
        if state.isOut, state.resource == nil {
            return .failed(
                UploadRule.uncertain(transfer.task.url, "its sending was broken off here"))
        }
        state.isOffsetKnown = false
        if known == nil { try transfer.note(upload: state.journal) }
        let store = UploadStore(transfer, source, state)
        if let expiry = state.expiry, state.resource != nil,
            transfer.clock.now.microseconds / 1_000_000 >= expiry
        {
            try store.restart(because: "upload-expired")
        }
        return try await goOn(store, way)
    }

    private func goOn(
        _ store: UploadStore, _ way: TransferWay
    ) async throws(DiskFailure) -> AttemptOutcome {
        let transfer = store.transfer
        // Requests without progress between them.
        var idleCount = 0
        while idleCount < Self.idleLimit {
            if transfer.isStopped { return .stopped }
            let before = (store.state.offset, store.state.resource)
            let action = UploadAction.next(store.state, store.options)
            let outcome: AttemptOutcome?
            do throws(DiskFailure) {
                outcome = try await UploadRequest(store, action, way).run()
            } catch {
                try await store.save()
                throw error
            }
            try await store.save()
            if let outcome { return outcome }
            idleCount = isProgress(from: before, by: action, store) ? 0 : idleCount + 1
        }
        return .retry(
            Failure(
                "upload-stalled", party: .origin,
                "\(transfer.task.url): does not go on from the offset that it tells"))
    }

    /// Whether a request was worth another one at once: an append that was taken, a new resource, or an
    /// offset that is told and well further on. A byte each time would be asked for without end.
    private func isProgress(
        from before: (offset: Int64, resource: String?), by action: UploadAction,
        _ store: UploadStore
    ) -> Bool {
        let state = store.state
        let count = state.offset - before.offset
        if case .append = action, state.isOffsetKnown, count > 0 { return true }
        return state.resource != before.resource || count > 0 && state.offset == state.size
            || count >= store.transfer.limits.worthwhileSize
    }

    /// A request that asks, one that is refused, and both once more.
    private static let idleLimit = 6

    /// Removes the upload resource of a task that was cancelled, if its origin lets it.
    package func cleanUp(_ transfer: RunningTransfer) async {
        guard let state = transfer.uploadNote.flatMap({ UploadState($0) }),
            let resource = state.resource
        else { return }
        do throws(Failure) {
            let options = transfer.task.options.upload
            let way = try TransferWay(transfer)
            let own = way.location
            try way.begin(at: resource)
            let action = UploadAction.cancel
            // Nobody but the task's own origin says what is removed, and there alone.
            for _ in 0..<transfer.limits.hopLimit where way.location.isSameOrigin(as: own) {
                let reception = HeadReception()
                var request = way.request(
                    action.fields(state, options, name: ""), to: reception, stop: transfer.stop)
                request.method = action.method(options)
                _ = await way.send(request)
                guard let head = reception.head else { return }
                let url = way.location.url
                let facts = UploadFacts(
                    url: url, head, options.dialect, now: HTTPDate(transfer.clock.now))
                switch UploadRule(action, state, options, url: url).judge(facts) {
                case .redirect(let reference): try way.follow(reference)
                case .authenticate(let schemes):
                    guard await way.logIn(schemes) else { return }
                default: return
                }
            }
        } catch {
            // It goes by itself when its time is over.
            transfer.lastFailure = error
        }
    }
}

/// Takes the head of an answer, and nothing else.
private final class HeadReception: ClientReception {
    private(set) var head: ResponseHead?

    func takeInterim(_ head: ResponseHead) {}

    func take(_ head: ResponseHead) -> Bool {
        self.head = head
        return false
    }

    func take(_ piece: Span<UInt8>) {}
    func waitForRoom() async -> Bool { false }
}
