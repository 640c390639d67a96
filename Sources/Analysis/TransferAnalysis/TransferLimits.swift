/// How much of hostile or endless traffic is held.
package struct TransferLimits: Sendable {
    /// Transfers that may go on at once; the oldest, complete ones first, are told when there are
    /// more. About 1 KiB each; one with a long URL counts as several.
    package var openTransfers = 20_000
    /// Parts of one transfer: more than a film that is fetched in pieces of a second has. What is
    /// over is counted.
    package var parts = 20_000
    /// Parts of all open transfers, and the ranges in them; about 300 bytes each.
    package var openParts = 200_000
    /// Stretches of bytes in one version, and overlaps of such.
    package var stretches = 20_000
    /// Versions of one resource in one transfer.
    package var versions = 64
    /// Bytes that are read to compare what came twice, at a time.
    package var comparedBytes: Int64 = 8 << 30
    /// Bytes that are held while they are compared.
    package var comparedBlock = 4 << 20

    package init() {}
}
