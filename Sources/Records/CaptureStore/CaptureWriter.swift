package import Base
internal import Synchronization
package import Traffic

/// Writes a capture file, on a thread of its own.
///
/// Nothing that is submitted is dropped, but for a failure of the file: see `failure`. It is
/// committed within about 60 ms; what is committed survives the process (`kill -9` included).
package final class CaptureWriter: TrafficSink, Sendable {
    /// The first number for a connection that nothing in the file has.
    package let nextConnectionID: Int64
    /// The first number for an exchange that nothing in the file has.
    package let nextExchangeID: Int64
    private let task: WriterTask

    /// Creates a capture (mode 0600), or opens one to add to it.
    ///
    /// Connections that an earlier writer left `open` become `lost`.
    ///
    /// Errors: `capture-not-a-capture` for any other file and for a link, which stay as they are;
    /// `capture-newer`; `capture-in-use` while another writer has it; `capture-unreadable` if it is
    /// damaged; `capture-write-failed`, `file-unwritable`.
    package init(path: String, configuration: CaptureConfiguration) throws(Failure) {
        let (database, lock, isMade) = try CaptureFile.openForWriting(path, configuration)
        // A crash may have left messages of what has no row yet.
        nextConnectionID =
            try database.nextID(
                "SELECT max(coalesce((SELECT max(id) FROM connection), 0), "
                    + "coalesce((SELECT max(connection) FROM message), 0))")
        nextExchangeID =
            try database.nextID(
                "SELECT max(coalesce((SELECT max(id) FROM exchange), 0), coalesce("
                    + "(SELECT max(exchange) FROM message WHERE exchange IS NOT NULL), 0))")
        let rows = try RowWriter(database: database, digest: configuration.digest)
        let task = WriterTask(
            rows: rows, lock: lock, newPath: isMade ? path : nil, configuration: configuration)
        guard startThread({ task.run() }) else {
            throw Failure(
                "capture-write-failed", party: .tool, "cannot start a thread to write \(path)")
        }
        self.task = task
    }

    /// One that was never closed belongs to a start that failed.
    deinit {
        abandon()
    }

    /// Closes the file, and removes it if this writer has made it and nothing is recorded in it.
    package func abandon() {
        task.removesEmpty.store(true, ordering: .relaxed)
        task.queue.close()
        task.finished.wait(lowering: false)
    }

    /// Takes events in order; after `close` they are ignored.
    package func submit(_ events: [TrafficEvent]) {
        task.queue.append(events)
    }

    package var isCongested: Bool { task.queue.isCongested }

    package func whenRoom(_ resume: @escaping @Sendable () -> Void) {
        task.queue.whenRoom(resume)
    }

    /// The first failure to write, `nil` if there was none. After it nothing more is written; the
    /// recording is whole up to it.
    package var failure: Failure? { task.firstFailure.withLock(\.self) }

    /// Waits until all that was submitted is committed, and closes the file.
    ///
    /// Errors: the first failure to write.
    package func close() throws(Failure) {
        task.queue.close()
        task.finished.wait(lowering: false)
        if let failure { throw failure }
    }
}
