/// Hashes in the order in which they came, of which the oldest go when there are too many.
struct HashRing {
    private var order: [UInt64] = []
    private var oldest = 0
    private let limit: Int
    private(set) var droppedCount = 0

    init(limit: Int) { self.limit = limit }

    /// - Returns: the one that is dropped for it.
    mutating func add(_ hash: UInt64) -> UInt64? {
        guard order.count >= limit else {
            order.append(hash)
            return nil
        }
        let dropped = order[oldest]
        order[oldest] = hash
        oldest = (oldest + 1) % limit
        droppedCount += 1
        return dropped
    }
}
