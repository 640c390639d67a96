import Testing

@testable import Comparison

struct TimingDifferenceTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let left: [Int64]
        let right: [Int64]
        /// `nil` where nothing is clear.
        let isSlower: Bool?

        init(_ name: String, _ left: [Int64], _ right: [Int64], _ isSlower: Bool?) {
            (self.name, self.left, self.right, self.isSlower) = (name, left, right, isSlower)
        }

        var testDescription: String { name }
    }

    static let base = (0..<20).map { Int64(10_000 + $0 * 200) }

    static let rows = [
        Row("the same", base, base, nil),
        Row("none", [], [], nil),
        Row("too few", Array(base.prefix(7)), base.map { $0 * 9 }, nil),
        Row("twice as slow", base, base.map { $0 * 2 }, true),
        Row("twice as fast", base.map { $0 * 2 }, base, false),
        Row("one outlier", base, base.dropLast() + [90_000_000], nil),
        Row("slower by little", base, base.map { $0 * 110 / 100 }, nil),
        Row("slower by less than is felt", base.map { $0 / 100 }, base.map { $0 / 20 }, nil),
        Row(
            "all ties", [Int64](repeating: 5000, count: 9), [Int64](repeating: 5000, count: 9), nil),
        Row(
            "two heaps of ties", [Int64](repeating: 5000, count: 9),
            [Int64](repeating: 9000, count: 9), true),
        Row(
            "spread as wide as what differs",
            [1000, 90_000, 1200, 88_000, 900, 91_000, 1100, 70_000],
            [60_000, 800, 62_000, 900, 61_000, 99_000, 1000, 64_000], nil),
        Row(
            "numbers a capture may hold", [Int64](repeating: 0, count: 9),
            [Int64](repeating: .max, count: 9), true),
    ]

    @Test(arguments: rows)
    func judges(_ row: Row) {
        #expect(TimingDifference(row.left, row.right)?.isSlower == row.isSlower)
    }

    @Test func tellsQuantiles() {
        let difference = TimingDifference(Self.base, Self.base.map { $0 * 3 })
        #expect(difference?.left == .init(count: 20, median: 11_800, ninetieth: 13_400))
        #expect(difference?.right == .init(count: 20, median: 35_400, ninetieth: 40_200))
    }
}
