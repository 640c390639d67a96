/// How a capture is written.
package struct CaptureConfiguration: Sendable {
    /// Digests content; equal digests count as equal content, so it must resist collisions made on
    /// purpose. Called on the writer's thread.
    package let digest: @Sendable ([UInt8]) -> [UInt8]
    /// What `digest` is, noted in the capture.
    package var digestName = "sha-256"
    /// The program that writes, noted in a capture when it is created.
    package var creator = "sallyport"
    /// How many bytes may wait to be written, by `TrafficEvent.weight`: a moment of a fast origin's
    /// traffic. It counts against the proxy's memory while the disk is slow.
    package var queueByteLimit = 16 << 20
    /// How many events are committed at once at most: by then, a commit costs each next to nothing,
    /// also where each of many connections has a page to be written for a few short messages.
    package var transactionEventLimit = 4000
    /// How many bytes are committed at once at most, by `TrafficEvent.weight`.
    package var transactionByteLimit = 8 << 20
    /// How long a transaction stays open at most, in microseconds.
    package var transactionMicroseconds: Int64 = 50_000
    /// How long the first event after a pause waits for company, in microseconds: a commit for each
    /// event would cost ten times the event, and a reader does not notice the delay.
    package var gatheringMicroseconds: Int64 = 10_000
    /// Told how many exchanges of a capture of an earlier version are migrated, and of how many,
    /// while it is opened.
    package var progress: @Sendable (_ done: Int64, _ total: Int64) -> Void = { _, _ in }

    /// In bytes; takes effect when a capture is created.
    var pageSize = 16_384
    /// The size of a checkpoint, in bytes of the log.
    var checkpointBytes = 16 << 20
    /// How many pages SQLite may hold in memory, in KiB: a transaction of the messages of a hundred
    /// connections, which would be written twice if it did not fit.
    var cacheKibibytes = 4096
    /// How many pages the file may have, `nil` for no limit: how tests see a full disk.
    var pageLimit: Int64?

    package init(digest: @escaping @Sendable ([UInt8]) -> [UInt8]) {
        self.digest = digest
    }
}
