import Testing

@testable import Comparison

struct AlignmentTests {
    /// A row writes each exchange as a word: its place, `:`, its target, and behind `/` its answer.
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let left: String
        let right: String
        /// `0-1` for a pair, with `!` if it moved; `-0` for what was removed, `+0` for what was
        /// added.
        let expected: String

        init(_ name: String, _ left: String, _ right: String, _ expected: String) {
            (self.name, self.left, self.right, self.expected) = (name, left, right, expected)
        }

        var testDescription: String { name }
    }

    static let rows = [
        Row("nothing", "", "", ""),
        Row("equal", "a:1 b:1", "a:1 b:1", "0-0 1-1"),
        Row("one was put in", "a:1 c:1", "a:1 b:1 c:1", "0-0 1-2 +1"),
        Row("one was left out", "a:1 b:1 c:1", "a:1 c:1", "0-0 2-1 -1"),
        Row("two changed places", "a:1 b:1 c:1", "b:1 a:1 c:1", "0-1! 1-0 2-2"),
        Row("one came last", "a:1 b:1 c:1", "b:1 c:1 a:1", "0-2! 1-0 2-1"),
        Row("all came the other way round", "a:1 b:1 c:1", "c:1 b:1 a:1", "0-2! 1-1! 2-0"),
        Row("the answer changed", "a:1/x", "a:1/y", "0-0"),
        Row("a retry was needed", "a:1/200", "a:1/503 a:1/200", "0-1 +0"),
        Row("a retry was not needed", "a:1/503 a:1/503 a:1/200", "a:1/200", "2-0 -0 -1"),
        Row("the answers came in another order", "a:1/x a:1/y", "a:1/y a:1/x", "0-1! 1-0"),
        Row("other targets of one place, in order", "a:1 a:2", "a:3 a:4", "0-0 1-1"),
        Row("another target of one place, one known", "a:1 a:2", "a:2 a:3", "0-1! 1-0"),
        Row("polled more often", "a:1/x a:1/x", "a:1/x a:1/x a:1/x", "0-0 1-1 +2"),
        Row("nothing alike", "a:1", "b:1", "-0 +0"),
        Row("another authority", "a:1 b:1", "A:1 B:1", "0-0 1-1"),
        Row("another authority, and its own", "a:1", "A:1 a:1", "0-1 +0"),
        Row("only on the left", "a:1 b:1", "", "-0 -1"),
        Row("only on the right", "", "a:1 b:1", "+0 +1"),
    ]

    @Test(arguments: rows)
    func pairs(_ row: Row) {
        #expect(shown(Alignment(Self.list(row.left), Self.list(row.right))) == row.expected)
    }

    @Test func prefersTheAlike() {
        // Other targets of one place: what was answered alike belongs together.
        var left = Self.list("a:1/200 a:2/404")
        var right = Self.list("a:3/404 a:4/200")
        for index in 0..<2 { left[index].responseBody = index + 1 }
        for index in 0..<2 { right[index].responseBody = 9 - index }
        #expect(shown(Alignment(left, right)) == "0-1! 1-0")
    }

    /// Every exchange is in one pair at most, and none is lost.
    @Test func losesNone() {
        var random = Random(seed: 7)
        for _ in 0..<200 {
            let left = (0..<random.next(30)).map { _ in Self.any(&random) }
            let right = (0..<random.next(30)).map { _ in Self.any(&random) }
            let alignment = Alignment(left, right)
            #expect(
                (alignment.pairs.map(\.left) + alignment.removed).sorted() == Array(left.indices))
            #expect(
                (alignment.pairs.map(\.right) + alignment.added).sorted() == Array(right.indices))
            let inOrder = alignment.pairs.filter { !$0.isMoved }.map(\.right)
            #expect(inOrder == inOrder.sorted())
            for place in alignment.removed {
                #expect(!alignment.added.contains { right[$0].place == left[place].place })
            }
        }
    }

    /// Nothing tells them apart: their order does, in time that does not grow with its square.
    @Test func takesManyEqualRequests() {
        let left = (0..<50_000).map { Self.signature(Int64($0), place: 1, target: 1, answer: $0) }
        let right = (0..<50_000).map { Self.signature(Int64($0), place: 1, target: 1, answer: -$0) }
        let alignment = Alignment(left, right)
        #expect(alignment.pairs.count == 50_000)
        #expect(alignment.pairs.allSatisfy { $0.left == $0.right && !$0.isMoved })
        let others = (0..<50_000).map { Self.signature(Int64($0), place: 1, target: $0, answer: 1) }
        let more = (0..<50_000).map { Self.signature(Int64($0), place: 1, target: -$0, answer: 1) }
        #expect(Alignment(others, more).pairs.count == 50_000)
    }

    private static func any(_ random: inout Random) -> ExchangeSignature {
        var signature = signature(
            1, place: random.next(3), target: random.next(3), answer: random.next(3))
        signature.group = signature.place * 2 + random.next(2)
        return signature
    }

    private static func signature(
        _ id: Int64, place: Int, target: Int, answer: Int
    ) -> ExchangeSignature {
        var signature = ExchangeSignature(id: id)
        (signature.group, signature.place, signature.target) = (place, place, target)
        signature.responseBody = answer
        return signature
    }

    private static func list(_ text: String) -> [ExchangeSignature] {
        text.split(separator: " ").enumerated().map { index, word in
            let parts = word.split { $0 == ":" || $0 == "/" }
            var signature = ExchangeSignature(id: Int64(index + 1))
            signature.group = parts[0].hashValue
            signature.place = parts[0].lowercased().hashValue
            signature.target = parts[1].hashValue
            if parts.count > 2 {
                signature.status = Int32(parts[2]) ?? 200
                signature.responseBody = parts[2].hashValue
            }
            return signature
        }
    }

    private func shown(_ alignment: Alignment) -> String {
        let pairs = alignment.pairs.map { "\($0.left)-\($0.right)\($0.isMoved ? "!" : "")" }
        let lone = alignment.removed.map { "-\($0)" } + alignment.added.map { "+\($0)" }
        return (pairs + lone).joined(separator: " ")
    }
}
