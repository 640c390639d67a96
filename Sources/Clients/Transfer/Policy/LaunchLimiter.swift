/// Delays what programs enqueue that the system woke for their transfers: the longer, the more often
/// it had to wake them. All is well again when the user brings the program forward, or the delay
/// passes without another launch.
package struct LaunchLimiter: Sendable, Equatable {
    /// In milliseconds.
    package private(set) var delay: Int64 = 0
    private var launchedAt: Int64 = 0

    package init() {}

    /// The program was woken for a finished transfer.
    ///
    /// - Parameter now: in milliseconds.
    package mutating func noteLaunch(now: Int64) {
        settle(now: now)
        delay = delay == 0 ? Self.first : min(Self.limit, delay * 2)
        launchedAt = now
    }

    /// The user has brought the program forward.
    package mutating func noteForeground() { delay = 0 }

    /// When a task that is enqueued now may start, in milliseconds.
    package mutating func start(enqueuedAt now: Int64) -> Int64 {
        settle(now: now)
        return now + delay
    }

    private mutating func settle(now: Int64) {
        if now - launchedAt >= delay { delay = 0 }
    }

    /// In milliseconds.
    private static let first: Int64 = 60_000
    private static let limit: Int64 = 3_600_000
}
