internal import Base
internal import Synchronization
internal import Traffic

/// The writer's thread: takes what waits, writes it, commits.
///
/// `Sendable` unchecked: `rows` and `lock` are touched by `init`, before there is a thread, and
/// from then on by the thread alone; all else is constant or locks itself.
final class WriterTask: @unchecked Sendable {
    let queue: EventQueue
    let firstFailure = Mutex<Failure?>(nil)
    let finished = WakeSignal()
    /// Whether a file that was made for nothing goes when the queue is closed.
    let removesEmpty = Atomic(false)
    /// Of a file that was not there before, while nothing is recorded in it.
    private var newPath: String?
    private let configuration: CaptureConfiguration
    private var rows: RowWriter?
    private var lock: FileLock?
    private var transaction: Transaction?

    /// What the open transaction holds so far.
    private struct Transaction {
        let startedAt = MonotonicTime.now()
        var eventCount = 0
        var byteCount = 0

        mutating func add(_ event: TrafficEvent) {
            eventCount += 1
            byteCount += event.weight
        }
    }

    init(
        rows: RowWriter, lock: FileLock, newPath: String?, configuration: CaptureConfiguration
    ) {
        self.newPath = newPath
        self.rows = rows
        self.lock = lock
        self.configuration = configuration
        queue = EventQueue(
            byteLimit: configuration.queueByteLimit,
            gatheringMicroseconds: configuration.gatheringMicroseconds)
    }

    /// Runs until the queue is closed and empty, then closes the file.
    func run() {
        while let batches = queue.take() {
            for batch in batches {
                attempt { () throws(Failure) in try write(batch) }
                queue.release(weight: batch.weight)
            }
            if queue.isEmpty { attempt(commit) }
        }
        attempt(commit)
        attempt { () throws(Failure) in try rows?.finish() }
        rows = nil
        if let newPath, removesEmpty.load(ordering: .relaxed) { Files.remove(newPath) }
        lock = nil
        finished.raise()
    }

    private func write(_ batch: EventQueue.Batch) throws(Failure) {
        let events = batch.events.span
        newPath = nil
        for index in events.indices {
            if transaction == nil {
                try rows?.beginTransaction()
                transaction = Transaction()
            }
            try rows?.write(events[index])
            transaction?.add(events[index])
            if isTransactionFull { try commit() }
        }
    }

    private var isTransactionFull: Bool {
        guard let transaction else { return false }
        if transaction.eventCount >= configuration.transactionEventLimit { return true }
        if transaction.byteCount >= configuration.transactionByteLimit { return true }
        // A look at the clock now and then is enough.
        guard transaction.eventCount & 31 == 0 else { return false }
        let nanoseconds = MonotonicTime.now().nanoseconds &- transaction.startedAt.nanoseconds
        return nanoseconds > UInt64(configuration.transactionMicroseconds) * 1000
    }

    private func commit() throws(Failure) {
        guard transaction != nil else { return }
        transaction = nil
        try rows?.commitTransaction()
    }

    /// Does `step`, unless there was a failure; after the first one nothing more is written.
    private func attempt(_ step: () throws(Failure) -> Void) {
        guard firstFailure.withLock({ $0 == nil }) else { return }
        do {
            try step()
        } catch {
            firstFailure.withLock { $0 = error }
            transaction = nil
            // Should this fail too, closing the file does the same.
            do { try rows?.rollBack() } catch { rows = nil }
        }
    }
}
