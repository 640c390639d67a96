package import Base

/// Decides whether and when what failed is tried again: with full jitter (the wait is drawn from
/// nothing up to a bound that doubles), by a seed, so that schedules can be compared.
package struct RetryRule: Sendable {
    private let seed: UInt64
    private let isDiscretionary: Bool

    /// - Parameter seed: another one for each task.
    package init(seed: UInt64, isDiscretionary: Bool) {
        self.seed = seed
        self.isDiscretionary = isDiscretionary
    }

    /// How long to wait, in milliseconds.
    ///
    /// - Parameters:
    ///   - failures: so many in a row, this one among them.
    ///   - asked: what the origin said.
    ///   - now: in seconds since 1970.
    package func wait(failures: Int, asked: RetryAfter?, now: Int64) -> Int64 {
        let bound = min(cap, Self.base << Int64(min(max(0, failures - 1), 20)))
        let word = SplitMix.word(seed: seed, UInt64(clamping: failures))
        let drawn = Int64(word.multipliedFullWidth(by: UInt64(bound) + 1).high)
        switch asked {
        case nil: return drawn
        case .seconds(let seconds): return clamped(seconds) + drawn / Self.spread
        case .date(let date):
            return clamped(date.addingSaturated(-now))
                + drawn / Self.spread
        }
    }

    /// What an origin may ask for, in milliseconds.
    private func clamped(_ seconds: Int64) -> Int64 {
        let longest = isDiscretionary ? Self.longestPause : 3_600_000
        return min(max(0, seconds), longest / 1000) * 1000
    }

    /// In milliseconds: no origin is left alone for longer.
    static let longestPause: Int64 = 86_400_000

    private var cap: Int64 { isDiscretionary ? 1_800_000 : 60_000 }
    /// In milliseconds.
    private static let base: Int64 = 1000
    /// All who were told the same time must not come at it together.
    private static let spread: Int64 = 10

    /// Whether what failed may not fail again.
    ///
    /// - Parameter hasCome: whether the origin has been met before. A network that answers in its place, as
    ///   one does that wants a login, is left again.
    package static func mayRetry(_ failure: Failure, hasCome: Bool = false) -> Bool {
        passing.contains(failure.code) && (hasCome || !failure.isLasting)
    }

    /// A connection that was not had, or broke off. A certificate or a signature that does not verify
    /// will not in a while either, and trying again would only help whoever shows it.
    private static let passing: Set<String> = [
        "connect-failed", "connect-timed-out", "name-lookup-failed", "name-not-found",
        "origin-handshake-failed", "origin-handshake-timed-out", "origin-closed", "origin-reset",
        "origin-truncated", "origin-violation", "timed-out", "upstream-failed",
    ]
}
