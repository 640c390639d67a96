internal import Base
internal import HTTPClient
internal import HTTPModel
internal import Origins

/// One request of a download, with the redirects and the login on its way.
struct DownloadRequest {
    private let store: DownloadStore
    private let mode: ResumePlan.Mode
    private let segments: DownloadSegments
    private let transfer: RunningTransfer

    init(_ store: DownloadStore, _ mode: ResumePlan.Mode, _ segments: DownloadSegments) {
        self.store = store
        self.mode = mode
        self.segments = segments
        transfer = store.transfer
    }

    /// - Returns: `nil` if the next way is to be tried.
    func run() async -> AttemptOutcome? {
        do throws(Failure) {
            return try await follow(from: try TransferLocation(transfer.task.url))
        } catch {
            return .failed(error)
        }
    }

    private func follow(from start: TransferLocation) async throws(Failure) -> AttemptOutcome? {
        var location = start
        var authorization: String?
        var hops = 0
        while true {
            let plan = plan(for: location)
            let reception = DownloadReception(store, plan, at: location, .main(segments))
            segments.authorization = authorization
            let ending = await send(plan, to: location, reception, transfer.stop)
            if transfer.isStopped { await reception.finishCommits() }
            await segments.settle(behind: reception)
            switch reception.step {
            case .redirect(let reference)? where reception.failure == nil:
                hops += 1
                location = try hop(from: location, to: reference, count: hops)
                do throws(DiskFailure) {
                    try note(location)
                } catch {
                    return .disk(error)
                }
            case .authenticate(let schemes)?:
                guard let value = await login(schemes, at: location, start, authorization) else {
                    return .authentication(schemes: schemes, host: location.target.authority)
                }
                authorization = value
            default: return await DownloadOutcome(store, reception, ending, segments).judge()
            }
            if transfer.isStopped { return .stopped }
        }
    }

    private func plan(for location: TransferLocation) -> ResumePlan {
        let saved = store.saved
        let overlap =
            saved?.url == location.url
            ? store.boundary
            // A tag is of one resource: where another one answers for it, more is compared.
            : Self.foreignOverlap
        return ResumePlan(
            mode, saved, offset: store.offset, overlap: overlap,
            end: mode == .whole ? nil : store.gapEnd.map { $0 + store.boundary })
    }

    /// In bytes, that are asked for again and compared.
    private static let foreignOverlap: Int64 = 65_536

    /// Sends one request; the task's own fields and its login go to its own origin alone.
    func send(
        _ plan: ResumePlan, to location: TransferLocation, _ reception: DownloadReception,
        _ stop: ClientStop
    ) async -> Result<NetworkAnswer, Failure> {
        var request = NetworkRequest(location, to: reception, stop: stop)
        request.fields = plan.fields
        if location.isSameOrigin(as: transfer.task.url) {
            request.fields += transfer.task.options.fields
            if let authorization = segments.authorization {
                request.fields.append(TransferField("Authorization", authorization))
            }
        }
        request.authorities = transfer.task.options.authorities
        request.pins = transfer.task.options.pins
        transfer.noteRequest()
        do throws(Failure) {
            let answer = try await transfer.network.send(request)
            if !answer.isDeclined { reception.finish(answer.trailers) }
            return .success(answer)
        } catch {
            return .failure(error)
        }
    }

    // MARK: Redirects

    private func hop(
        from location: TransferLocation, to reference: String, count: Int
    ) throws(Failure) -> TransferLocation {
        guard count <= transfer.limits.hopLimit else {
            throw Failure(
                "redirect-loop", party: .origin,
                "\(transfer.task.url) is redirected more than \(transfer.limits.hopLimit) times")
        }
        let next = try location.following(reference)
        guard next.target.isSecure || !location.target.isSecure else {
            throw Failure(
                "redirect-downgrade", party: .origin,
                "\(location.target.origin) redirects from https to \(next.target.origin)")
        }
        return next
    }

    private func note(_ location: TransferLocation) throws(DiskFailure) {
        let hops = transfer.journal.state.hops
        guard !hops.contains(location.url), hops.count < transfer.limits.hopLimit else { return }
        try transfer.journal.append(.hop(location.url))
        transfer.task.hops = transfer.journal.state.hops
    }

    // MARK: Logins

    /// What to say to an origin that wants a login: to the task's own origin alone.
    private func login(
        _ schemes: [String], at location: TransferLocation, _ start: TransferLocation,
        _ refused: String?
    ) async -> String? {
        guard let reference = transfer.task.options.credential, let source = transfer.credentials,
            location.isSameOrigin(as: start)
        else { return nil }
        let value = await source.authorization(
            for: reference, at: location, schemes: schemes, refused: refused)
        return value == refused ? nil : value
    }
}
