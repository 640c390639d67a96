internal import Base
internal import Contents
internal import HTTPClient
internal import Origins

/// One request of an upload, with the redirects and the login on its way.
struct UploadRequest {
    private let store: UploadStore
    private let action: UploadAction
    private let way: TransferWay
    private let transfer: RunningTransfer

    init(_ store: UploadStore, _ action: UploadAction, _ way: TransferWay) {
        self.store = store
        self.action = action
        self.way = way
        transfer = store.transfer
    }

    /// - Returns: `nil` if the upload goes on.
    func run() async throws(DiskFailure) -> AttemptOutcome? {
        do throws(Failure) {
            try way.begin(at: action.isOfResource ? store.state.resource ?? "" : transfer.task.url)
        } catch {
            return .failed(error)
        }
        var digest: [UInt8]?
        if case .append(let range, true) = action {
            digest = try await store.source.digest(range, for: transfer)
            guard digest != nil else { return .stopped }
        }
        return try await follow(digest)
    }

    private func follow(_ digest: [UInt8]?) async throws(DiskFailure) -> AttemptOutcome? {
        let fields = action.fields(
            store.state, store.options, name: store.source.name, digest: digest)
        while true {
            // The journal says what may be sent before it is.
            store.change(plan)
            try await store.save()
            let reception = UploadReception(store, action, way)
            let ending = await send(fields, to: reception)
            if let failure = store.diskFailure { throw failure }
            if let outcome = sourceOutcome(ending) { return outcome }
            switch reception.step {
            case .redirect(let reference)?:
                do throws(Failure) {
                    try way.follow(reference)
                } catch {
                    return .failed(error)
                }
                try way.noteHop()
            case .authenticate(let schemes)?:
                guard await way.logIn(schemes) else {
                    store.change { $0.isOut = false }
                    return .authentication(
                        schemes: schemes, host: way.location.target.authority)
                }
            default:
                return try await UploadOutcome(store, action, reception, ending, at: way).judge()
            }
            if transfer.isStopped { return .stopped }
        }
    }

    /// Of a file that could not be read; `nil` if it could.
    private func sourceOutcome(_ ending: Result<NetworkAnswer, Failure>) -> AttemptOutcome? {
        if let failure = store.source.diskFailure {
            return failure.isPassing
                ? .disk(failure)
                : .failed(Failure("source-unreadable", party: .client, failure.detail))
        }
        guard case .failure(let failure) = ending, failure.code == "source-changed" else {
            return nil
        }
        return .failed(failure)
    }

    /// What is true from now on, whatever comes of the request.
    private func plan(_ state: inout UploadState) {
        switch action {
        case .discover, .create, .ask, .cancel: break
        case .sendWhole:
            state.sentEnd = state.size
            state.isOut = !store.options.isIdempotent
        case .append(let range, _):
            state.sentEnd = max(state.sentEnd, range.upperBound)
            state.isOffsetKnown = false
        }
    }

    private func send(
        _ fields: [TransferField], to reception: UploadReception
    ) async -> Result<NetworkAnswer, Failure> {
        var request = way.request(fields, to: reception, stop: transfer.stop)
        request.method = action.method(store.options)
        request.content = content
        store.beginRequest(from: start)
        async let saving: Void = store.saveChanges()
        let ending = await way.send(request)
        store.endRequest()
        await saving
        return ending
    }

    /// Where the content begins, in bytes of the file.
    private var start: Int64 {
        if case .append(let range, _) = action { range.lowerBound } else { 0 }
    }

    private var content: NetworkRequest.Content {
        let store = store
        let note: (Int64) -> Void = { store.noteSent($0) }
        let state = store.state
        switch action {
        case .discover, .ask, .cancel: return .none
        case .create: return .bytes([])
        case .sendWhole:
            let frame =
                store.options.mode == .form
                ? FormFrame(state, store.options, name: store.source.name) : nil
            return store.source.content(
                0..<state.size, in: frame, whole: state.source.sha256, note)
        case .append(let range, _): return store.source.content(range, note)
        }
    }
}
