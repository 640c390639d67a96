import Testing

@testable import Runs

@Suite struct RunEventsTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let limit: Int
        /// How many events each call publishes.
        let published: [Int]
        let taken: Int
        let dropped: Int
        var testDescription: String { name }
    }

    @Test(arguments: [
        Row(name: "nothing", limit: 4, published: [], taken: 0, dropped: 0),
        Row(name: "all that fits", limit: 4, published: [1, 3], taken: 4, dropped: 0),
        Row(name: "one call too many", limit: 4, published: [4, 1], taken: 4, dropped: 1),
        Row(name: "more than fits at once", limit: 2, published: [5], taken: 2, dropped: 3),
        Row(name: "no room at all", limit: 0, published: [2, 2], taken: 0, dropped: 4),
    ])
    func tellsWhatWasDropped(_ row: Row) async {
        let events = RunEvents()
        let slow = events.subscribe(limit: row.limit)
        let quick = events.subscribe()
        for count in row.published {
            events.publish((0..<count).map { .progress(done: Int64($0), total: Int64(count)) })
        }
        events.finish()
        #expect(await Self.counts(of: slow) == [row.taken, row.dropped])
        #expect(await Self.counts(of: quick) == [row.taken + row.dropped, 0])
    }

    @Test func endsForWhoComesLate() async {
        let events = RunEvents()
        events.finish()
        let batch = await events.subscribe().next()
        #expect(batch?.count == nil)
    }

    /// Of events, and of those that were dropped.
    private static func counts(of subscription: RunSubscription) async -> [Int] {
        var counts = [0, 0]
        while let events = await subscription.next() {
            for event in events {
                if case .lagged(let count) = event { counts[1] += count } else { counts[0] += 1 }
            }
        }
        return counts
    }
}
