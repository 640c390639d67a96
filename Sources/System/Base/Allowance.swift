/// So many at once, and so many a second.
package struct Allowance: Sendable {
    private let burst: Double
    private let perSecond: Double
    private var left: Double
    private var filledAt: UInt64 = 0
    /// How many were asked for, those that were refused too.
    package private(set) var count = 0

    package init(burst: Double, perSecond: Double) {
        self.burst = burst
        self.perSecond = perSecond
        left = burst
    }

    /// Whether one more is allowed.
    ///
    /// - Parameter now: in milliseconds of any clock that rises.
    package mutating func take(now: UInt64) -> Bool {
        count += 1
        if now > filledAt {
            left = min(burst, left + Double(now - filledAt) * perSecond / 1000)
            filledAt = now
        }
        guard left >= 1 else { return false }
        left -= 1
        return true
    }
}
