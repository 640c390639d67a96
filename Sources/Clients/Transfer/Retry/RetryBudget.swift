/// How many retries a host is asked for, whatever the number of its tasks: a bucket that fills again
/// with time.
package struct RetryBudget: Sendable {
    private var hosts: [String: Bucket] = [:]
    private let capacity: Int64
    /// In milliseconds for each one.
    private let interval: Int64

    private struct Bucket {
        var left: Int64
        var filledAt: Int64
    }

    package init(capacity: Int64 = 60, interval: Int64 = 10_000) {
        self.capacity = capacity
        self.interval = interval
    }

    /// Takes one.
    ///
    /// - Parameter now: in milliseconds.
    /// - Returns: how many milliseconds later there will be one, if there is none; 0 if one was taken.
    package mutating func take(_ host: String, now: Int64) -> Int64 {
        if hosts.count >= Self.hostLimit, hosts[host] == nil { hosts = [:] }
        var bucket = hosts[host] ?? Bucket(left: capacity, filledAt: now)
        let filled = max(0, now - bucket.filledAt) / interval
        bucket.left = min(capacity, bucket.left + filled)
        bucket.filledAt += filled * interval
        defer { hosts[host] = bucket }
        guard bucket.left > 0 else { return max(1, bucket.filledAt + interval - now) }
        if bucket.left == capacity { bucket.filledAt = now }
        bucket.left -= 1
        return 0
    }

    private static let hostLimit = 4096
}
