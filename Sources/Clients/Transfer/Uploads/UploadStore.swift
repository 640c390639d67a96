internal import Base
internal import Contents
internal import HTTPClient
internal import Sockets

/// How far an upload is, and the journal of that.
///
/// What may make a difference after a crash is in the journal before it happens: the version of the
/// file before the first byte, how much may be sent before it is, and the upload resource as soon as it
/// is told.
///
/// `@unchecked Sendable`: used on the service's loop.
final class UploadStore: @unchecked Sendable {
    let transfer: RunningTransfer
    let source: UploadSource
    private(set) var state: UploadState
    private let wakeup: LoopWakeup
    private var isChanged = false
    private var mustSave = false
    private var hasEnded = false
    private var savedAt: Int64
    /// Why the journal could not be written.
    private(set) var diskFailure: DiskFailure?

    init(_ transfer: RunningTransfer, _ source: UploadSource, _ state: UploadState) {
        self.transfer = transfer
        self.source = source
        self.state = state
        wakeup = LoopWakeup(transfer.worker.loop)
        savedAt = transfer.clock.elapsed
        tellProgress()
    }

    var options: UploadOptions { transfer.task.options.upload }

    /// Changes the state, which is written down a little later.
    ///
    /// - Parameter atOnce: whether it is written down as soon as the disk can.
    func change(atOnce: Bool = false, _ body: (inout UploadState) -> Void) {
        let before = state
        body(&state)
        guard state != before else { return }
        isChanged = true
        mustSave = mustSave || atOnce
        tellProgress()
        let isDue = transfer.clock.elapsed - savedAt >= transfer.limits.batchTime
        if mustSave || isDue { wakeup.wake() }
    }

    /// Takes note of what goes out, in bytes of the file; nothing waits for that.
    func noteSent(_ end: Int64) {
        state.reach = max(state.reach, end)
        state.isSent = end == state.size
        transfer.noteSent(end)
    }

    private func tellProgress() { transfer.noteProgress(state.offset, total: state.size) }

    /// Writes the state down, and waits for that.
    func save() async throws(DiskFailure) {
        while isChanged {
            let record = JournalRecord.upload(state.journal.line)
            isChanged = false
            mustSave = false
            savedAt = transfer.clock.elapsed
            do throws(DiskFailure) {
                try await transfer.worker.run { [transfer] () throws(DiskFailure) in
                    try transfer.journal.append(record)
                }
            } catch {
                isChanged = true
                throw error
            }
        }
    }

    /// Writes changes down while a request is under way.
    func saveChanges() async {
        while !hasEnded {
            _ = await wakeup.wait(until: .max)
            guard !hasEnded, diskFailure == nil else { continue }
            do throws(DiskFailure) {
                try await save()
                transfer.tellChange()
            } catch {
                diskFailure = error
                transfer.stop.stop()
            }
        }
    }

    /// - Parameter offset: where its content begins, in bytes of the file.
    func beginRequest(from offset: Int64) {
        hasEnded = false
        state.isSent = offset == state.size
        transfer.task.sent = offset
    }

    /// How much was sent is known now, for the next attempt too.
    func endRequest() {
        change { $0.sentEnd = min($0.sentEnd, $0.reach) }
        hasEnded = true
        wakeup.wake()
    }

    /// Forgets the upload resource, and begins anew.
    func restart(because reason: String) throws(DiskFailure) {
        var fresh = UploadState(state.source)
        fresh.isDiscovered = state.isDiscovered
        fresh.takesChecksums = state.takesChecksums
        fresh.avoidsDigests = state.avoidsDigests
        state = fresh
        isChanged = false
        try transfer.journal.append([.restarted(reason), .upload(fresh.journal.line)])
        transfer.task.restarts = transfer.journal.state.restarts
        tellProgress()
    }
}
