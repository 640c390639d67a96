/// Bounds on the numbers that files hold.
///
/// A capture or another tool's file may come from anybody. What no recorder can have counted is
/// brought within these bounds where it is read, so that sums and differences of a few of such
/// numbers cannot overflow; sums of many use `addingSaturated`.
package enum RecordedNumber {
    /// Of sizes in bytes, counts and durations in microseconds: what every JSON reader holds
    /// exactly, which is 8 PiB and 285 years.
    package static let limit: Int64 = 1 << 53
    /// Of moments, in microseconds: the years 0001 to 9999, which RFC 3339 can write.
    package static let moments: ClosedRange<Int64> =
        -62_135_596_800_000_000...253_402_300_799_999_999

    /// A size, a count or a duration as it may be told.
    package static func bounded(_ number: Int64) -> Int64 {
        max(0, min(number, limit))
    }
}

extension Int64 {
    /// The sum, or the nearest number that there is.
    package func addingSaturated(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        guard overflow else { return sum }
        return other > 0 ? .max : .min
    }
}

extension Timestamp {
    /// A moment as a file tells it, within `RecordedNumber.moments`.
    package init(recorded microseconds: Int64) {
        let moments = RecordedNumber.moments
        self.init(
            microseconds: max(moments.lowerBound, min(microseconds, moments.upperBound)))
    }
}
