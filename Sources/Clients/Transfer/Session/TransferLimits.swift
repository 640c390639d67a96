/// How much a transfer service holds and does at once.
package struct TransferLimits: Sendable {
    /// In bytes: so much at most is fetched again after a crash, for each request under way, or what
    /// comes in an eighth of a second.
    package var batchSize: Int64 = 1 << 20
    /// In bytes: the most that an eighth of a second counts for.
    package var fastBatchSize: Int64 = 16 << 20
    /// In milliseconds: so old at most is what a crash takes.
    package var batchTime: Int64 = 1000
    /// In bytes: a longer file is digested only if its origin or its owner has told a digest.
    package var digestedSize: Int64 = 64 << 20
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
    /// In bytes: what an attempt has to bring for the next one to follow at once.
    package var worthwhileSize: Int64 = 64 << 10
    /// In milliseconds, and in bytes: what brings less in such a time gives its place up, if others
    /// wait for one.
    package var slowTime: Int64 = 60_000
    package var slowSize: Int64 = 64 << 10
    /// In milliseconds: when a disk that was full is looked at again.
    package var storageTime: Int64 = 30_000

    /// Requests at once for the parts of one download.
    package var segmentLimit = 4
    /// In bytes: a part that is worth a connection of its own.
    package var segmentSize: Int64 = 4 << 20
    /// In milliseconds: for so long it is measured what a part has brought.
    package var segmentTime: Int64 = 2000
    /// In hundredths: so much faster has one more request to make it, or there are no further ones.
    package var segmentGain: Int64 = 10
    /// In bytes a second: a line that is so fast gets no faster by more requests.
    package var segmentRate: Int64 = 32 << 20

    package init() {}
}
