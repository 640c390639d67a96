import Testing

@testable import Comparison

struct SequenceDifferenceTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let left: String
        let right: String
        /// Each run as what stands on the left and on the right.
        let runs: [String]

        init(_ name: String, _ left: String, _ right: String, _ runs: [String]) {
            (self.name, self.left, self.right, self.runs) = (name, left, right, runs)
        }

        var testDescription: String { name }
    }

    static let rows = [
        Row("both empty", "", "", []),
        Row("equal", "abc", "abc", []),
        Row("all added", "", "abc", [">abc"]),
        Row("all removed", "abc", "", ["abc>"]),
        Row("one changed", "abc", "axc", ["b>x"]),
        Row("one added in the middle", "abc", "abxc", [">x"]),
        Row("one removed at the start", "abc", "bc", ["a>"]),
        Row("one added at the end", "abc", "abcd", [">d"]),
        Row("two apart", "abcdef", "xbcdey", ["a>x", "f>y"]),
        Row("nothing in common", "abc", "xyz", ["abc>xyz"]),
        Row("repeated elements", "aaaa", "aa", ["aa>"]),
        Row("moved", "abcd", "bcda", ["a>", ">a"]),
    ]

    @Test(arguments: rows)
    func tellsRuns(_ row: Row) {
        #expect(shown(row.left, row.right, editLimit: 400) == row.runs)
    }

    /// Whatever the bound, the runs lead from the left to the right, and what is between is equal.
    @Test(arguments: [0, 1, 2, 5, 400])
    func leadsFromLeftToRight(editLimit: Int) {
        var random = Random(seed: UInt64(editLimit) + 1)
        for _ in 0..<300 {
            let left = (0..<random.next(40)).map { _ in random.next(6) }
            let right = (0..<random.next(40)).map { _ in random.next(6) }
            let runs = SequenceDifference.runs(left, right, editLimit: editLimit)
            var rebuilt: [Int] = []
            var (index, other) = (0, 0)
            for run in runs {
                #expect(run.left.lowerBound >= index && run.right.lowerBound >= other)
                #expect(run.left.lowerBound - index == run.right.lowerBound - other)
                rebuilt += left[index..<run.left.lowerBound] + right[run.right]
                (index, other) = (run.left.upperBound, run.right.upperBound)
            }
            rebuilt += left[index...]
            #expect(rebuilt == right)
        }
    }

    @Test func boundsItsWork() {
        let left = (0..<100_000).map { $0 }
        let right = (0..<100_000).map { $0 % 2 == 0 ? $0 : -$0 }
        let runs = SequenceDifference.runs(left, right)
        #expect(runs.count == 50_000)
        let unlike = SequenceDifference.runs(left, left.map { -1 - $0 })
        #expect(unlike.count == 1)
    }

    private func shown(_ left: String, _ right: String, editLimit: Int) -> [String] {
        let (left, right) = (Array(left), Array(right))
        return SequenceDifference.runs(left, right, editLimit: editLimit).map {
            String(left[$0.left]) + ">" + String(right[$0.right])
        }
    }
}

/// Numbers that are the same in each run.
struct Random {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func next(_ bound: Int) -> Int {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Int(state % UInt64(bound))
    }
}
