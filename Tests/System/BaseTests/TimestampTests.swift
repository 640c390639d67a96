import Testing

@testable import Base

struct CalendarTimeTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let seconds: Int64
        let date: [Int]
        let weekday: Int
        var testDescription: String { "\(seconds)" }
    }

    /// From `date -u -d @SECONDS`.
    static let rows = [
        Row(seconds: 0, date: [1970, 1, 1, 0, 0, 0], weekday: 4),
        Row(seconds: -1, date: [1969, 12, 31, 23, 59, 59], weekday: 3),
        Row(seconds: 951_782_400, date: [2000, 2, 29, 0, 0, 0], weekday: 2),
        Row(seconds: 951_868_799, date: [2000, 2, 29, 23, 59, 59], weekday: 2),
        Row(seconds: 951_868_800, date: [2000, 3, 1, 0, 0, 0], weekday: 3),
        Row(seconds: 4_107_542_399, date: [2100, 2, 28, 23, 59, 59], weekday: 0),
        Row(seconds: 4_107_542_400, date: [2100, 3, 1, 0, 0, 0], weekday: 1),
        Row(seconds: -2_203_891_200, date: [1900, 3, 1, 0, 0, 0], weekday: 4),
        Row(seconds: 1_709_164_800, date: [2024, 2, 29, 0, 0, 0], weekday: 4),
        Row(seconds: 253_402_300_799, date: [9999, 12, 31, 23, 59, 59], weekday: 5),
        Row(seconds: -11_644_473_600, date: [1601, 1, 1, 0, 0, 0], weekday: 1),
        Row(seconds: -62_135_596_800, date: [1, 1, 1, 0, 0, 0], weekday: 1),
        Row(seconds: -62_167_219_200, date: [0, 1, 1, 0, 0, 0], weekday: 6),
    ]

    @Test(arguments: rows)
    func readsAndCounts(_ row: Row) {
        let time = CalendarTime(secondsSinceEpoch: row.seconds)
        #expect(
            [time.year, time.month, time.day, time.hour, time.minute, time.second] == row.date)
        #expect(time.weekday == row.weekday)
        #expect(Self.seconds(of: time) == row.seconds)
    }

    @Test func roundTripsEveryDayOfAThousandYears() {
        let first = CalendarTime.secondsSinceEpoch(
            year: 1500, month: 1, day: 1, hour: 0, minute: 0, second: 0)
        var weekday = CalendarTime(secondsSinceEpoch: first).weekday
        for day in 0..<365_243 {
            let seconds = first + Int64(day) * 86_400 + Int64(day % 86_400)
            let time = CalendarTime(secondsSinceEpoch: seconds)
            guard Self.seconds(of: time) == seconds, time.weekday == weekday,
                (1...12).contains(time.month), (1...31).contains(time.day)
            else {
                Issue.record("day \(day) does not round trip: \(time)")
                return
            }
            weekday = (weekday + 1) % 7
        }
        #expect(CalendarTime(secondsSinceEpoch: first + 365_242 * 86_400).year == 2499)
    }

    @Test(arguments: [Int64.min, Int64.max, Int64.min + 1])
    func survivesAnyNumber(_ seconds: Int64) {
        let time = CalendarTime(secondsSinceEpoch: seconds)
        #expect((1...12).contains(time.month) && (1...31).contains(time.day))
        #expect((0...6).contains(time.weekday) && (0...23).contains(time.hour))
        let least = seconds / 1_000_000
        #expect(Self.seconds(of: CalendarTime(secondsSinceEpoch: least)) == least)
    }

    private static func seconds(of time: CalendarTime) -> Int64 {
        CalendarTime.secondsSinceEpoch(
            year: time.year, month: time.month, day: time.day, hour: time.hour,
            minute: time.minute, second: time.second)
    }
}

struct TimestampTests {
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (1_773_039_901_250_999, "2026-03-09T07:05:01.250Z"),
            (-1, "1969-12-31T23:59:59.999Z"), (-1_000_000, "1969-12-31T23:59:59.000Z"),
            (-1_000_001, "1969-12-31T23:59:58.999Z"),
            (951_782_400_000_999, "2000-02-29T00:00:00.000Z"),
        ] as [(Int64, String)])
    func isWrittenInUTC(_ microseconds: Int64, _ text: String) {
        #expect(Timestamp(microseconds: microseconds).rfc3339 == text)
    }

    /// A capture may hold any number.
    @Test(arguments: [Int64.min, Int64.max])
    func isWrittenWhateverItIs(_ microseconds: Int64) {
        #expect(Timestamp(microseconds: microseconds).rfc3339.hasSuffix("Z"))
    }

    @Test(
        arguments: [
            (10, 4, 6), (4, 10, 0), (5, 5, 0), (Int64.max, Int64.min, Int64.max),
            (Int64.min, Int64.max, 0), (0, Int64.min, Int64.max),
        ] as [(Int64, Int64, Int64)])
    func countsNoNegativeTime(_ end: Int64, _ start: Int64, _ difference: Int64) {
        let passed = Timestamp(microseconds: end).microseconds(
            since: Timestamp(microseconds: start))
        #expect(passed == difference)
    }

    @Test func readsTheClocks() {
        #expect(Timestamp.now() > Timestamp(microseconds: 1_600_000_000_000_000))
        let start = MonotonicTime.now()
        #expect(MonotonicTime.now() >= start)
    }

    @Test(arguments: [(7, 2, "07"), (123, 2, "123"), (0, 3, "000")])
    func padsWithZeros(_ number: Int, _ width: Int, _ text: String) {
        #expect(padded(number, width) == text)
    }
}
