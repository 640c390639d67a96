internal import Base

/// A moment in a time zone, as far as habits go by it.
struct LocalTime {
    /// Counted from 1970.
    let day: Int64
    /// The quarter of an hour, from 0 to 95.
    let quarter: Int
    let isWeekend: Bool

    static let quartersPerDay = 96
    static let quarterLength: Int64 = 900_000
    static let dayLength: Int64 = 86_400_000

    /// - Parameter milliseconds: since 1970, UTC.
    init(_ milliseconds: Int64, zoneMinutes: Int) {
        let local = milliseconds + Int64(zoneMinutes) * 60_000
        let rest = (local % Self.dayLength + Self.dayLength) % Self.dayLength
        day = (local - rest) / Self.dayLength
        quarter = Int(rest / Self.quarterLength)
        // 1970-01-01 was a Thursday; 0 is Sunday.
        let weekday = ((day + 4) % 7 + 7) % 7
        isWeekend = weekday == 0 || weekday == 6
    }

    /// The place in a table of weekdays, with that of weekends behind it.
    var place: Int { (isWeekend ? Self.quartersPerDay : 0) + quarter }

    /// When the next day begins, in milliseconds since 1970, UTC.
    static func midnight(behind milliseconds: Int64, zoneMinutes: Int) -> Int64 {
        (LocalTime(milliseconds, zoneMinutes: zoneMinutes).day + 1) * dayLength
            - Int64(zoneMinutes) * 60_000
    }

    /// When the next quarter of an hour begins; all zones are whole quarters from UTC.
    static func quarter(behind milliseconds: Int64) -> Int64 {
        let rest = (milliseconds % quarterLength + quarterLength) % quarterLength
        return milliseconds - rest + quarterLength
    }
}
