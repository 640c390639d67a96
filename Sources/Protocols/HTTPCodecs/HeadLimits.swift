package import HTTPModel

/// How much a head or a trailer section may hold, so that no peer fills the memory with it, and what
/// is taken that is not as it has to be.
package struct HeadLimits: Sendable, Equatable {
    /// The request line or status line with its CRLF, in bytes. What browsers and nginx send and
    /// take as the longest URL.
    package var startLineLimit: Int
    /// One field line with its CRLF, in bytes. Negotiate tickets and cookies reach 12 KB.
    package var fieldLineLimit: Int
    /// The whole head through the empty line, in bytes; empty lines before it do not count.
    package var blockLimit: Int
    /// How many field lines there may be.
    package var fieldCountLimit: Int
    /// Deviations that are mended in responses and their chunks; requests are read strictly whatever
    /// stands here.
    package var leniency: HeadLeniency

    /// Limits are at least 0 and at most 2^30, so that every offset fits into a `FieldSlice`.
    package init(
        startLineLimit: Int = 8192, fieldLineLimit: Int = 16_384, blockLimit: Int = 65_536,
        fieldCountLimit: Int = 256, leniency: HeadLeniency = []
    ) {
        self.leniency = leniency
        self.startLineLimit = Self.clamped(startLineLimit)
        self.fieldLineLimit = Self.clamped(fieldLineLimit)
        self.blockLimit = Self.clamped(blockLimit)
        self.fieldCountLimit = Self.clamped(fieldCountLimit)
    }

    /// One bound for all of a head: its lines may be as long as itself.
    package init(total: Int, leniency: HeadLeniency = []) {
        self.init(
            startLineLimit: total, fieldLineLimit: total, blockLimit: total,
            fieldCountLimit: Self.longFieldCount, leniency: leniency)
    }

    /// Of a head that may be long: what is done for each field is little, and not nothing.
    private static let longFieldCount = 1_000

    /// For responses of origins, which clients take as they are.
    package static let response = HeadLimits(leniency: .response)

    private static func clamped(_ limit: Int) -> Int { max(0, min(limit, 1 << 30)) }
}
