package import Traffic

/// The records that a capture has from some on: those of one run, where others were before.
///
/// What is asked for by its number is given whatever it is.
package struct RecordsSince: TrafficSource {
    private let source: any TrafficSource
    private let first: FirstRecords

    package init(_ first: FirstRecords, in source: any TrafficSource) {
        self.source = source
        self.first = first
    }

    package func connections(_ visit: (ConnectionRecord) throws -> Bool) throws {
        try source.connections(from: first.connection, visit)
    }

    package func connection(_ id: Int64) throws -> ConnectionRecord? { try source.connection(id) }

    package func exchanges(_ visit: (ExchangeRecord) throws -> Bool) throws {
        try source.exchanges(from: first.exchange, visit)
    }

    package func exchange(_ id: Int64) throws -> ExchangeRecord? { try source.exchange(id) }

    package func body(
        ofExchange id: Int64, _ direction: Direction, _ visit: ([UInt8]) throws -> Bool
    ) throws {
        try source.body(ofExchange: id, direction, visit)
    }

    package func messages(
        ofConnection id: Int64, exchange: Int64?, _ visit: (MessageRecord) throws -> Bool
    ) throws {
        try source.messages(ofConnection: id, exchange: exchange, visit)
    }
}

/// The numbers that the first records of a run have.
package struct FirstRecords: Sendable {
    package let connection: Int64
    package let exchange: Int64

    package init(connection: Int64, exchange: Int64) {
        self.connection = connection
        self.exchange = exchange
    }
}
