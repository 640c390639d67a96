/// Bytes that wait to be read, taken from their front at no cost for those behind.
struct UnreadBytes {
    private(set) var all: [UInt8] = []
    /// Where the unread ones begin in `all`.
    private(set) var start = 0
    /// How many of the unread ones were looked at and are no whole head.
    private(set) var scanned = 0

    /// In bytes: what may stay before the unread ones, beyond as much as there are of those.
    private static let readLimit = 64 << 10

    var count: Int { all.count - start }
    var isEmpty: Bool { count == 0 }
    /// Whether there are some that were not looked at.
    var hasNew: Bool { count > scanned }
    var rest: ArraySlice<UInt8> { all[start...] }
    var array: [UInt8] { [UInt8](rest) }

    mutating func append(_ bytes: [UInt8]) {
        all += bytes
    }

    mutating func markScanned() { scanned = count }

    mutating func drop(_ count: Int) {
        scanned = 0
        start += count
        guard start == all.count || start > max(Self.readLimit, all.count / 2) else { return }
        all.removeFirst(start)
        start = 0
    }
}
