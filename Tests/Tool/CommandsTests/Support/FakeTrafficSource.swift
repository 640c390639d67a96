import Base
import Contents
import Traffic

/// A capture in memory.
struct FakeTrafficSource: TrafficStore {
    var connectionRecords: [ConnectionRecord] = []
    var exchangeRecords: [ExchangeRecord] = []
    /// The contents, which are visited in pieces of seven bytes.
    var contents: [Key: [UInt8]] = [:]

    var messageRecords: [MessageRecord] = []

    struct Key: Hashable {
        let exchange: Int64
        let direction: Direction
    }

    func connections(_ visit: (ConnectionRecord) throws -> Bool) throws {
        for record in connectionRecords where try !visit(record) { return }
    }

    func exchanges(_ visit: (ExchangeRecord) throws -> Bool) throws {
        for record in exchangeRecords where try !visit(record) { return }
    }

    func exchange(_ id: Int64) throws -> ExchangeRecord? {
        exchangeRecords.first { $0.id == id }
    }

    func body(
        ofExchange id: Int64, _ direction: Direction, _ visit: ([UInt8]) throws -> Bool
    ) throws {
        let content = contents[Key(exchange: id, direction: direction)] ?? []
        for start in stride(from: 0, to: content.count, by: 7) {
            guard try visit(Array(content[start..<min(start + 7, content.count)])) else { return }
        }
    }

    func messages(
        ofConnection id: Int64, exchange: Int64?, _ visit: (MessageRecord) throws -> Bool
    ) throws {
        for record in messageRecords
        where record.connection == id && (exchange == nil || record.exchange == exchange) {
            guard try visit(record) else { return }
        }
    }

    let identity: String? = nil
    let isInterrupted = false
    let lastChange: Int64 = 0

    func clients() throws -> [Int64: String] {
        connectionRecords.reduce(into: [:]) { $0[$1.id] = $1.client }
    }

    /// All of them, in their order: what the query asks for besides, no command uses.
    func summaries(
        _ query: ExchangeQuery, _ visit: (ExchangeSummary) throws -> Bool
    ) throws {
        try exchanges { try visit(ExchangeSummary($0)) }
    }

    func changes(since number: Int64, _ visit: (TrafficChange) throws -> Bool) throws {}
}
