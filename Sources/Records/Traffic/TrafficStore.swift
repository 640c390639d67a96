/// A source that answers queries from what it has cut out of the records, and tells what changed.
///
/// Errors: as `TrafficSource`.
package protocol TrafficStore: TrafficSource {
    /// A UUID that the capture keeps in all its copies: with it and a number, a record is known
    /// anywhere. `nil` for a capture of an earlier version.
    var identity: String? { get throws }
    /// Whether a writer ended without closing the capture, so that what it was given last may be
    /// missing; false while one goes on.
    var isInterrupted: Bool { get throws }
    /// Calls `visit` for each exchange that the query asks for until it returns false.
    func summaries(
        _ query: ExchangeQuery, _ visit: (ExchangeSummary) throws -> Bool) throws
    /// The client of every connection by its number; about 50 bytes each.
    func clients() throws -> [Int64: String]
    /// The number of the last change, 0 if there was none.
    var lastChange: Int64 { get throws }
    /// Calls `visit` for each change behind a number, in the order of commits, until it returns
    /// false. Whoever asks by the highest number that it has seen of the records misses those that
    /// commit out of order, or again.
    ///
    /// Errors: `changes-lapsed` if some of them are not kept any more; then everything is to be read
    /// again.
    func changes(since number: Int64, _ visit: (TrafficChange) throws -> Bool) throws
}

/// Which exchanges are asked for, and in which order.
package struct ExchangeQuery: Sendable {
    package enum Order: Sendable {
        case rising
        case falling
    }

    /// Something that must hold of an exchange.
    package enum Condition: Sendable, Equatable {
        case status(ClosedRange<Int>)
        /// As the request has it.
        case method(String)
        case connection(Int64)
        /// Whether an error was recorded.
        case failed(Bool)
        case answeredByTool(Bool)
        case started(ClosedRange<Int64>)
    }

    /// The next page begins behind the last number of the one before.
    package var numbers = Int64.min...Int64.max
    package var order = Order.rising
    /// How many at most; `nil` for all.
    package var limit: Int64?
    /// All of them must hold.
    package var conditions: [Condition] = []

    package init() {}
}

/// What one commit changed.
package struct TrafficChange: Sendable, Equatable {
    package let number: Int64
    /// Numbers of connections of which something is new: their record, or a message.
    package let connections: [ClosedRange<Int64>]
    /// Numbers of exchanges of which something is new: their record, or a part of a content.
    package let exchanges: [ClosedRange<Int64>]

    package init(
        number: Int64, connections: [ClosedRange<Int64>], exchanges: [ClosedRange<Int64>]
    ) {
        self.number = number
        self.connections = connections
        self.exchanges = exchanges
    }
}
