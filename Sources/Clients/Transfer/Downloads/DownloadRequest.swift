internal import Base
internal import HTTPClient
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
            return try await follow(try TransferWay(transfer))
        } catch {
            return .failed(error)
        }
    }

    private func follow(_ way: TransferWay) async throws(Failure) -> AttemptOutcome? {
        while true {
            let plan = plan(for: way.location)
            let reception = DownloadReception(store, plan, at: way.location, .main(segments))
            segments.way = way
            let ending = await Self.send(
                plan, way, at: way.location, to: reception, transfer.stop)
            if transfer.isStopped { await reception.finishCommits() }
            await segments.settle(behind: reception)
            switch reception.step {
            case .redirect(let reference)? where reception.failure == nil:
                try way.follow(reference)
                do throws(DiskFailure) {
                    try way.noteHop()
                } catch {
                    return .disk(error)
                }
            case .authenticate(let schemes)?:
                guard await way.logIn(schemes) else {
                    return .authentication(
                        schemes: schemes, host: way.location.target.authority)
                }
            default: return await DownloadOutcome(store, reception, ending, segments).judge()
            }
            if transfer.isStopped { return .stopped }
        }
    }

    private func plan(for location: OriginLocation) -> ResumePlan {
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

    /// Sends one request.
    static func send(
        _ plan: ResumePlan, _ way: TransferWay, at location: OriginLocation,
        to reception: DownloadReception, _ stop: ClientStop
    ) async -> Result<NetworkAnswer, Failure> {
        let ending = await way.send(
            way.request(plan.fields, to: reception, at: location, stop: stop))
        if case .success(let answer) = ending, !answer.isDeclined {
            reception.finish(answer.trailers)
        }
        return ending
    }
}
