/// How long the exchanges of one place took in two captures, if one of them was clearly slower.
package struct TimingDifference: Sendable, Equatable {
    package struct Quantiles: Sendable, Equatable {
        package let count: Int
        /// In microseconds.
        package let median: Int64
        package let ninetieth: Int64
    }

    package let left: Quantiles
    package let right: Quantiles
    package var isSlower: Bool { right.median > left.median }

    /// Returns `nil` unless the difference is clear: enough exchanges, medians that are a quarter
    /// and a millisecond apart, and an order that chance would make once in a thousand times
    /// (Mann and Whitney's test, which no outlier sways).
    package init?(_ left: [Int64], _ right: [Int64]) {
        guard left.count >= Self.leastCount, right.count >= Self.leastCount else { return nil }
        let (before, after) = (Self.thinned(left).sorted(), Self.thinned(right).sorted())
        self.left = Self.quantiles(before, count: left.count)
        self.right = Self.quantiles(after, count: right.count)
        let (low, high) = (
            min(self.left.median, self.right.median), max(self.left.median, self.right.median)
        )
        guard high - low >= 1000, high - low >= low / 4 else { return nil }
        guard abs(Self.score(before, after)) > 3.29 else { return nil }
    }

    private static func quantiles(_ sorted: [Int64], count: Int) -> Quantiles {
        Quantiles(
            count: count, median: sorted[(sorted.count - 1) / 2],
            ninetieth: sorted[(sorted.count - 1) * 9 / 10])
    }

    /// Evenly chosen values, as many as are worth sorting.
    private static func thinned(_ values: [Int64]) -> [Int64] {
        guard values.count > sampleLimit else { return values }
        return (0..<sampleLimit).map { values[$0 * values.count / sampleLimit] }
    }

    /// The standard score of the rank sum, ties halved.
    private static func score(_ left: [Int64], _ right: [Int64]) -> Double {
        let (n, m) = (Double(left.count), Double(right.count))
        let total = n + m
        var (index, other) = (0, 0)
        var (rank, rankSum, ties) = (0.0, 0.0, 0.0)
        while index < left.count || other < right.count {
            let value = min(
                index < left.count ? left[index] : .max, other < right.count ? right[other] : .max)
            var (mine, theirs) = (0.0, 0.0)
            while index < left.count, left[index] == value {
                mine += 1
                index += 1
            }
            while other < right.count, right[other] == value {
                theirs += 1
                other += 1
            }
            let tied = mine + theirs
            rankSum += theirs * (rank + (tied + 1) / 2)
            rank += tied
            ties += tied * tied * tied - tied
        }
        let mean = m * (total + 1) / 2
        let variance = n * m / 12 * (total + 1 - ties / (total * (total - 1)))
        return variance > 0 ? (rankSum - mean) / variance.squareRoot() : 0
    }

    /// Of fewer exchanges nothing is said.
    private static let leastCount = 8
    private static let sampleLimit = 10_000
}
