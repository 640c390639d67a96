/// How fast something grows: an average in which the last seconds count most.
struct RateMeter {
    private var last: (count: Int64, time: Int64)?
    private var average: Double?

    /// - Parameter time: in milliseconds.
    /// - Returns: in units a second; `nil` before there are two moments.
    mutating func note(_ count: Int64, at time: Int64) -> Int64? {
        guard let last, count >= last.count else {
            self.last = (count, time)
            average = nil
            return nil
        }
        let passed = time - last.time
        // Shorter spans are more noise than rate.
        guard passed >= Self.shortest else { return average.map { Int64($0) } }
        let present = Double(count - last.count) * 1000 / Double(passed)
        let share = min(1, Double(passed) / Self.span)
        average = average.map { $0 + (present - $0) * share } ?? present
        self.last = (count, time)
        return average.map { Int64($0) }
    }

    /// In milliseconds.
    private static let shortest: Int64 = 100
    private static let span: Double = 5000
}
