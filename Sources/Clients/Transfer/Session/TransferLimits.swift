/// How much a transfer service holds and does at once.
package struct TransferLimits: Sendable {
    /// In bytes: so much at most is fetched again after a crash, for each request under way, or what
    /// comes in an eighth of a second.
    package var batchSize: Int64 = 1 << 20
    /// In bytes: the most that an eighth of a second counts for.
    package var fastBatchSize: Int64 = 16 << 20
    /// In milliseconds: so old at most is what a crash takes.
    package var batchTime: Int64 = 1000
    /// Tasks that run at once.
    package var runningLimit = 16
    /// Of one host: as many connections as browsers have.
    package var hostLimit = 6
    /// Tasks that are not acknowledged.
    package var taskLimit = 100_000
    /// Redirects in a row (RFC 9110 §15.4 names none; curl and browsers stop between 20 and 50).
    package var hopLimit = 20
    /// How often one task begins anew before it has failed: versions that change faster than they
    /// come, digests that are never right.
    package var restartLimit = 6
    /// In milliseconds: when a disk that was full is looked at again.
    package var storageTime: Int64 = 30_000

    package init() {}
}
