internal import Base
internal import HTTPClient
internal import HTTPModel

/// Does downloads: asks for what is missing, down the ladder of `ResumePlan` if need be, and finishes
/// what is whole.
package final class DownloadDriver: TransferDriver {
    package init() {}

    package func run(_ transfer: RunningTransfer) async -> AttemptOutcome {
        do throws(DiskFailure) {
            if let outcome = try await DownloadFinish.recover(transfer) { return outcome }
            let store = try DownloadStore(transfer)
            return try await fetch(store)
        } catch {
            return .disk(error)
        }
    }

    private func fetch(_ store: DownloadStore) async throws(DiskFailure) -> AttemptOutcome {
        if let total = store.saved?.length, total == store.offset {
            return try await DownloadFinish(store).run()
        }
        let segments = DownloadSegments(store)
        async let work: Void = segments.run()
        let outcome = await fetch(store, segments)
        segments.close()
        await work
        return outcome
    }

    private func fetch(
        _ store: DownloadStore, _ segments: DownloadSegments
    ) async -> AttemptOutcome {
        let transfer = store.transfer
        // What the rest of a content that only the connection's end ended is asked for by.
        for _ in 0..<Self.roundLimit {
            let before = store.offset
            let ladder = ResumePlan.ladder(
                store.saved, offset: store.offset,
                isExpected: transfer.task.options.expected != nil)
            var next: AttemptOutcome?
            for mode in ladder where next == nil {
                if transfer.isStopped { return .stopped }
                next = await DownloadRequest(store, mode, segments).run()
            }
            guard let outcome = next else { continue }
            guard outcome == .again, store.offset > before else { return outcome }
        }
        return .again
    }

    /// Requests that each bring something, or show that there is nothing more.
    private static let roundLimit = 8
}
