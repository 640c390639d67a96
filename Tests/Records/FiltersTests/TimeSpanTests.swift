import Testing

@testable import Filters

struct TimeSpanTests {
    /// 2026-03-09T07:05:01.25Z.
    static let moment: Int64 = 1_773_039_901_250_000

    static let rows: [(String, String)] = [
        ("2026-03-09", "= <= >="), ("2026-03-08", "!= > >="), ("2026-03-10", "!= < <="),
        ("2026-03-09T07:05", "= <= >="), ("2026-03-09t07:05z", "= <= >="),
        ("2026-03-09T07:05:01Z", "= <= >="), ("2026-03-09T07:05:01.2", "= <= >="),
        ("2026-03-09T07:05:01.1", "!= > >="),
        ("2026-03-09T07:05:01.25", "= <= >="), ("2026-03-09T07:05:01.250001", "!= < <="),
        ("07:05", "= <= >="), ("07:06", "!= < <="), ("00:00:00", "!= > >="),
        ("07:05:01", "= <= >="), ("23:59:59.999999", "!= < <="),
    ]

    @Test(arguments: rows)
    func compares(_ row: (text: String, holding: String)) throws {
        let span = try #require(TimeSpan(row.text))
        let holding = Filter.Comparison.allCases.filter { span.compares(Self.moment, $0) }
        #expect(
            Set(holding.map(\.rawValue)) == Set(row.holding.split(separator: " ").map(String.init)))
    }

    @Test(arguments: [
        "", "7:05", "07:5", "24:00", "07:60", "07:05:60", "07:05:01.", "07:05:01.1234567", "07",
        "2026", "2026-3-9", "2026-13-01", "2026-02-30", "2026-03-09T", "2026-03-09T7", "T07:05",
        "2026-03-09T07:05+01:00", "2026-03-0é", "-026-03-09", "07:05:01:02",
    ])
    func refuses(_ text: String) {
        #expect(TimeSpan(text) == nil)
    }
}
