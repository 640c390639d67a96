import Testing

@testable import Views

struct RecordFollowerTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        /// Numbers of records as they are met, negative while they are open.
        let met: [Int64]
        let shown: [Int64]
        var testDescription: String { name }
    }

    @Test(arguments: [
        Row(name: "each once", met: [1, 2, 2, 1, 3], shown: [1, 2, 3]),
        Row(name: "when it ends", met: [-1, 2, -3, 1, 1, 3], shown: [2, 1, 3]),
        Row(name: "out of order", met: [5, 2, -1, 4, 5, 3, 1, 2], shown: [5, 2, 4, 3, 1]),
        Row(name: "written again", met: [1, -1, 1], shown: [1]),
    ])
    func shows(_ row: Row) throws {
        var follower = try RecordFollower(.exchanges, of: FakeTrafficSource())
        let shown = row.met.filter { follower.takes(abs($0), hasEnded: $0 > 0) }
        #expect(shown.map(abs) == row.shown)
    }
}
