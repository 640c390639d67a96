internal import Base
package import Traffic

/// A source that ends what reads it once a signal came, in the middle of a content too, and tells
/// how far it has been read.
package struct InterruptibleSource: TrafficSource {
    private let source: any TrafficSource
    /// Errors: `interrupted`.
    private let check: () throws -> Void
    private let progress: ExportProgress?

    package init(
        _ source: any TrafficSource, progress: ExportProgress? = nil,
        check: @escaping () throws -> Void
    ) {
        self.source = source
        self.progress = progress
        self.check = check
    }

    package func connections(_ visit: (ConnectionRecord) throws -> Bool) throws {
        try source.connections { try checked($0, visit) }
    }

    package func connections(from id: Int64, _ visit: (ConnectionRecord) throws -> Bool) throws {
        try source.connections(from: id) { try checked($0, visit) }
    }

    package func connection(_ id: Int64) throws -> ConnectionRecord? { try source.connection(id) }

    package func exchanges(_ visit: (ExchangeRecord) throws -> Bool) throws {
        try source.exchanges { try checked($0, visit) }
    }

    package func exchanges(from id: Int64, _ visit: (ExchangeRecord) throws -> Bool) throws {
        try source.exchanges(from: id) { try checked($0, visit) }
    }

    package func exchange(_ id: Int64) throws -> ExchangeRecord? { try source.exchange(id) }

    package func body(
        ofExchange id: Int64, _ direction: Direction, _ visit: ([UInt8]) throws -> Bool
    ) throws {
        progress?.begin(id, direction)
        try source.body(ofExchange: id, direction) { bytes in
            try progress?.read(bytes.count)
            return try checked(bytes, visit)
        }
    }

    package func body(
        ofExchange id: Int64, _ direction: Direction, from offset: Int64,
        _ visit: ([UInt8]) throws -> Bool
    ) throws {
        try source.body(ofExchange: id, direction, from: offset) { try checked($0, visit) }
    }

    package func recordedSize(ofExchange id: Int64, _ direction: Direction) throws -> Int64 {
        try source.recordedSize(ofExchange: id, direction)
    }

    package var contentSize: Int64 { get throws { try source.contentSize } }

    package func messages(
        ofConnection id: Int64, exchange: Int64?, _ visit: (MessageRecord) throws -> Bool
    ) throws {
        try source.messages(ofConnection: id, exchange: exchange) { try checked($0, visit) }
    }

    package func unchanging<Result>(_ body: () throws -> Result) throws -> Result {
        try source.unchanging(body)
    }

    package var digestName: String? { get throws { try source.digestName } }

    package func contentDigests(_ visit: (ContentDigest) throws -> Bool) throws {
        try source.contentDigests { try checked($0, visit) }
    }

    private func checked<Value>(
        _ value: Value, _ visit: (Value) throws -> Bool
    ) throws -> Bool {
        try check()
        return try visit(value)
    }
}
