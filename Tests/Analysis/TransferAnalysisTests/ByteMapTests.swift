import Testing

@testable import TransferAnalysis

struct ByteMapTests {
    private static let source = ByteSource(exchange: 1, contentOffset: 0, position: 0)

    struct Row: CustomStringConvertible, Sendable {
        let description: String
        let added: [Range<Int64>]
        let held: [Range<Int64>]
        let twice: [Range<Int64>]
        let missing: [Range<Int64>]
    }

    static let rows: [Row] = [
        Row(description: "nothing", added: [], held: [], twice: [], missing: [0..<10]),
        Row(description: "empty", added: [3..<3], held: [], twice: [], missing: [0..<10]),
        Row(description: "all", added: [0..<10], held: [0..<10], twice: [], missing: []),
        Row(
            description: "touching", added: [5..<10, 0..<5], held: [0..<10], twice: [],
            missing: []),
        Row(
            description: "apart", added: [8..<9, 1..<2], held: [1..<2, 8..<9], twice: [],
            missing: [0..<1, 2..<8, 9..<10]),
        Row(
            description: "over the end of one", added: [0..<5, 3..<8], held: [0..<8],
            twice: [3..<5], missing: [8..<10]),
        Row(
            description: "over the start of one", added: [5..<8, 3..<6], held: [3..<8],
            twice: [5..<6], missing: [0..<3, 8..<10]),
        Row(
            description: "inside", added: [0..<10, 4..<6], held: [0..<10], twice: [4..<6],
            missing: []),
        Row(
            description: "around several", added: [1..<2, 4..<6, 8..<9, 0..<10], held: [0..<10],
            twice: [1..<2, 4..<6, 8..<9], missing: []),
        Row(
            description: "three times", added: [0..<4, 0..<4, 2..<4], held: [0..<4],
            twice: [0..<4], missing: [4..<10]),
        Row(
            description: "behind the end", added: [8..<20], held: [8..<20], twice: [],
            missing: [0..<8]),
    ]

    @Test(arguments: rows)
    func keepsCount(_ row: Row) {
        var map = ByteMap(limit: 100)
        for range in row.added { map.add(range, from: Self.source) }
        #expect(map.held == row.held)
        #expect(map.twice == row.twice)
        #expect(map.missing(of: 10) == row.missing)
        #expect(map.heldCount == row.held.byteCount)
    }

    /// Against a byte for a byte, in an order that looks random and is always the same.
    @Test func agreesWithSets() {
        var state: UInt64 = 42
        func next(_ bound: UInt64) -> Int64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int64((state >> 33) % bound)
        }
        for _ in 0..<300 {
            var map = ByteMap(limit: 1000)
            var (once, twice): (Set<Int64>, Set<Int64>) = ([], [])
            for _ in 0..<next(12) {
                if next(6) == 0 {
                    let end = next(40)
                    map.cut(at: end)
                    once = once.filter { $0 < end }
                    twice = twice.filter { $0 < end }
                    continue
                }
                let start = next(40)
                let range = start..<start + next(15)
                map.add(range, from: Self.source)
                twice.formUnion(once.intersection(range))
                once.formUnion(range)
            }
            #expect(Set(map.held.joined()) == once)
            #expect(Set(map.twice.joined()) == twice)
            #expect(Set(map.missing(of: 60).joined()) == Set(0..<60).subtracting(once))
        }
    }

    @Test func isBounded() {
        var map = ByteMap(limit: 10)
        for index in 0..<100 as Range<Int64> {
            map.add(index * 2..<index * 2 + 1, from: Self.source)
        }
        #expect(map.stretches.count == 10)
        #expect(map.isFull)
        for _ in 0..<100 { map.add(0..<1, from: Self.source) }
        #expect(map.overlaps.count == 10)
    }
}
