internal import Base
internal import Traffic

/// Writes the journal: a row for each commit, with the numbers of what it changed.
final class ChangeRowWriter {
    private let insert: Statement
    private let prune: Statement
    private var connections = NumberRanges()
    private var exchanges = NumberRanges()
    private var number: Int64

    init(database: Database) throws(Failure) {
        insert = try database.prepare("INSERT INTO change VALUES(?,?,?)")
        prune = try database.prepare("DELETE FROM change WHERE number <= ?")
        number = try database.nextID("SELECT max(number) FROM change")
    }

    func note(_ event: TrafficEvent) {
        switch event {
        case .connection(let record): connections.insert(record.id)
        case .exchange(let snapshot): exchanges.insert(snapshot.record.id)
        case .bodyChunk(let exchange, _, _, _): exchanges.insert(exchange)
        case .message(let snapshot): connections.insert(snapshot.record.connection)
        }
    }

    /// Writes the row of the transaction that ends now.
    func write() throws(Failure) {
        insert.bind(number)
        insert.bind(connections.text)
        insert.bind(exchanges.text)
        try insert.run()
        if number % pruneInterval == 0, number > keptCount {
            prune.bind(number - keptCount)
            try prune.run()
        }
        number += 1
        connections = NumberRanges()
        exchanges = NumberRanges()
    }
}

/// Numbers that come mostly in order, as ranges.
struct NumberRanges {
    private var ranges: [ClosedRange<Int64>] = []

    mutating func insert(_ number: Int64) {
        guard let last = ranges.last else { return ranges.append(number...number) }
        if last.contains(number) { return }
        if number == last.upperBound &+ 1 {
            ranges[ranges.count - 1] = last.lowerBound...number
        } else {
            ranges.append(number...number)
        }
    }

    /// A JSON array of pairs, the first and the last number of each range; `nil` for none.
    var text: String? {
        guard !ranges.isEmpty else { return nil }
        let pairs = ranges.map { "[\($0.lowerBound),\($0.upperBound)]" }
        return "[" + pairs.joined(separator: ",") + "]"
    }
}

/// How many rows are kept: a reader that is further behind reads everything again.
private let keptCount: Int64 = 100_000
/// After how many rows the oldest are deleted.
private let pruneInterval: Int64 = 1000
