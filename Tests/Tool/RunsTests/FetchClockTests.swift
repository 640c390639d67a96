import Synchronization
import Testing

@testable import Runs

struct FetchClockTests {
    private static let rows: [(String, [FetchClock.Reading], [Int64])] = [
        ("goes on", [(1000, 7), (1500, 507), (2000, 1007)], [1500, 2000]),
        (
            "is not set back", [(9_000_000, 0), (5, 1000), (10_005, 11_000)],
            [9_001_000, 9_011_000]
        ),
        ("follows what is ahead", [(1000, 0), (500_000_000, 10)], [500_000_000]),
        ("goes on behind that", [(0, 0), (99_000, 10), (99_500, 510)], [99_000, 99_500]),
        ("leaves a minute alone", [(0, 0), (60_500, 500), (61_002, 1001)], [500, 61_002]),
    ]

    @Test(arguments: rows.indices)
    func tells(_ index: Int) {
        let (name, readings, expected) = Self.rows[index]
        let left = Mutex(readings[...])
        let clock = FetchClock { left.withLock { $0.removeFirst() } }
        #expect(expected.map { _ in clock.now() } == expected, "\(name)")
    }
}
