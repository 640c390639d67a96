internal import Base

/// A stretch of time as it is written: `2026-03-09` is a day, `2026-03-09T07:05` a minute of UTC,
/// and `07:05` that minute of any day.
package struct TimeSpan: Equatable {
    /// In microseconds, since 1970 or since midnight; the end is not in it.
    private let bounds: Range<Int64>
    private let isOfDay: Bool

    /// `nil` if the text is none of these.
    init?(_ text: String) {
        let text = [UInt8](text.utf8)
        let halves = text.split(maxSplits: 1, omittingEmptySubsequences: false) {
            $0 | 0x20 == UInt8(ascii: "t")
        }
        guard let first = halves.first else { return nil }
        if halves.count == 1, first.contains(UInt8(ascii: ":")) {
            guard let time = Self.time(first) else { return nil }
            bounds = time
            isOfDay = true
            return
        }
        guard let day = Self.day(first) else { return nil }
        isOfDay = false
        guard halves.count == 2 else {
            bounds = day..<(day + Self.dayLength)
            return
        }
        var rest = halves[1]
        if let last = rest.last, last | 0x20 == UInt8(ascii: "z") { rest.removeLast() }
        guard let time = Self.time(rest) else { return nil }
        bounds = (day + time.lowerBound)..<(day + time.upperBound)
    }

    func holds(_ moment: Int64) -> Bool { bounds.contains(place(of: moment)) }

    func compares(_ moment: Int64, _ comparison: Filter.Comparison) -> Bool {
        let place = place(of: moment)
        return switch comparison {
        case .equal: bounds.contains(place)
        case .notEqual: !bounds.contains(place)
        case .less: place < bounds.lowerBound
        case .lessOrEqual: place < bounds.upperBound
        case .greater: place >= bounds.upperBound
        case .greaterOrEqual: place >= bounds.lowerBound
        }
    }

    private func place(of moment: Int64) -> Int64 {
        guard isOfDay else { return moment }
        let rest = moment % Self.dayLength
        return rest < 0 ? rest + Self.dayLength : rest
    }

    /// `YYYY-MM-DD` as microseconds since 1970.
    private static func day(_ text: ArraySlice<UInt8>) -> Int64? {
        let parts = text.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.map(\.count) == [4, 2, 2], let year = number(parts[0]),
            let month = number(parts[1]), let day = number(parts[2]),
            (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        let seconds = CalendarTime.secondsSinceEpoch(
            year: year, month: month, day: day, hour: 0, minute: 0, second: 0)
        // Another day comes back for the 30th of February.
        guard CalendarTime(secondsSinceEpoch: seconds).day == day else { return nil }
        return seconds * 1_000_000
    }

    /// `HH:MM`, `HH:MM:SS` or `HH:MM:SS.fff` as microseconds since midnight.
    private static func time(_ text: ArraySlice<UInt8>) -> Range<Int64>? {
        let parts = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), parts[0].count == 2, parts[1].count == 2,
            let hour = number(parts[0]), let minute = number(parts[1]), hour < 24, minute < 60
        else { return nil }
        let start = Int64(hour * 3600 + minute * 60) * 1_000_000
        guard parts.count == 3 else { return start..<(start + 60_000_000) }
        let pieces = parts[2].split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard pieces.count <= 2, pieces[0].count == 2, let second = number(pieces[0]), second < 60
        else { return nil }
        let whole = start + Int64(second) * 1_000_000
        guard pieces.count == 2 else { return whole..<(whole + 1_000_000) }
        guard (1...6).contains(pieces[1].count), let fraction = number(pieces[1]) else {
            return nil
        }
        let unit = [100_000, 10_000, 1000, 100, 10, 1][pieces[1].count - 1]
        let exact = whole + Int64(fraction * unit)
        return exact..<(exact + Int64(unit))
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        digits.allSatisfy(\.isASCIIDigit) ? Int(digits.text) : nil
    }

    private static let dayLength: Int64 = 86_400_000_000
}
