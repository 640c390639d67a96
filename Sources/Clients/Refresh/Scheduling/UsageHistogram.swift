/// When an app is used: how likely in each quarter of an hour of a weekday and of a day at the
/// weekend, learned day by day. An old day counts for less, an eighth each day of its kind.
///
/// Whole numbers throughout, so that every machine learns the same.
struct UsageHistogram: Sendable, Equatable {
    /// Out of ``one``, weekdays before weekends.
    private var weights = [Int32](repeating: 0, count: 2 * LocalTime.quartersPerDay)
    /// How much of a full history there is of each kind of day.
    private var seen: [Int32] = [0, 0]
    private var dayCount = 0
    /// Of the day that goes on.
    private var today = [Bool](repeating: false, count: LocalTime.quartersPerDay)
    private var day: Int64?
    private var isWeekend = false
    private(set) var likely = [Bool](repeating: false, count: 2 * LocalTime.quartersPerDay)
    /// All are quiet before anything is known.
    private(set) var quiet = [Bool](repeating: true, count: 2 * LocalTime.quartersPerDay)

    private static let one: Int32 = 1 << 16
    /// Days before anything is concluded.
    private static let leastDays = 3

    var isLearned: Bool { dayCount >= Self.leastDays }

    mutating func note(useAt time: LocalTime) {
        today[time.quarter] = true
    }

    /// Takes in the days that are over.
    mutating func roll(to time: LocalTime, _ policy: RefreshPolicy) {
        guard let last = day, time.day > last else {
            if day == nil { (day, isWeekend) = (time.day, time.isWeekend) }
            return
        }
        learn()
        // Days on which the device was off are days without use.
        for missed in 1..<min(max(1, time.day - last), 14) {
            isWeekend = [0, 6].contains(((last + missed + 4) % 7 + 7) % 7)
            learn()
        }
        (day, isWeekend) = (time.day, time.isWeekend)
        judge(policy)
    }

    private mutating func learn() {
        let start = isWeekend ? LocalTime.quartersPerDay : 0
        for quarter in today.indices {
            let weight = weights[start + quarter]
            weights[start + quarter] = weight - weight / 8 + (today[quarter] ? Self.one / 8 : 0)
            today[quarter] = false
        }
        let kind = isWeekend ? 1 : 0
        seen[kind] = seen[kind] - seen[kind] / 8 + Self.one / 8
        dayCount += 1
    }

    /// In thousandths: how likely the app is used in a quarter of an hour; its neighbours count
    /// for half, as nobody does the same thing at the same minute.
    func likelihood(_ place: Int) -> Int {
        let kind = place / LocalTime.quartersPerDay
        let known = seen[kind] > 0 ? kind : 1 - kind
        guard seen[known] > 0 else { return 0 }
        let sum =
            2 * Int(weight(place, of: known, 0)) + Int(weight(place, of: known, -1))
            + Int(weight(place, of: known, 1))
        return min(1000, sum * 1000 / 2 / Int(seen[known]))
    }

    private func weight(_ place: Int, of kind: Int, _ offset: Int) -> Int32 {
        let count = LocalTime.quartersPerDay
        return weights[kind * count + (place % count + offset + count) % count]
    }

    private mutating func judge(_ policy: RefreshPolicy) {
        guard isLearned else { return }
        let all = weights.indices.map(likelihood)
        let count = LocalTime.quartersPerDay
        for place in weights.indices {
            likely[place] = all[place] >= policy.likely
            // Quiet is what has no use half an hour before or behind it.
            let start = place / count * count
            quiet[place] = (-2...2).allSatisfy { offset in
                all[start + (place - start + offset + count) % count] <= policy.quiet
            }
        }
    }

    /// When the next quarter begins in which use is likely, or `time` if it is in one; `nil` for
    /// none within a week.
    func nextLikely(from time: Int64, zoneMinutes: Int) -> Int64? {
        guard likely.contains(true) else { return nil }
        var moment = time
        for _ in 0...(8 * LocalTime.quartersPerDay) {
            if likely[LocalTime(moment, zoneMinutes: zoneMinutes).place] { return moment }
            moment = LocalTime.quarter(behind: moment)
        }
        return nil
    }
}
