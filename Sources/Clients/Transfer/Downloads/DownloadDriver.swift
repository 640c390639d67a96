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
        let transfer = store.transfer
        let isExpected = transfer.task.options.expected != nil
        if let total = store.saved?.length, total == store.offset {
            return try await DownloadFinish(store).run()
        }
        // What the rest of a content that only the connection's end ended is asked for by.
        for _ in 0..<Self.roundLimit {
            let before = store.offset
            let ladder = ResumePlan.ladder(
                store.saved, offset: store.offset, isExpected: isExpected)
            var next: AttemptOutcome?
            for mode in ladder where next == nil {
                if transfer.isStopped { return .stopped }
                next = await DownloadRequest(store, mode).run()
            }
            guard let outcome = next else { continue }
            guard outcome == .again, store.offset > before else { return outcome }
        }
        return .again
    }

    /// Requests that each bring something, or show that there is nothing more.
    private static let roundLimit = 8
}
