internal import Synchronization

/// Numbers that are unique in a capture, shared by all who record into it.
package final class RecordNumbers: Sendable {
    private let connection: Atomic<Int64>
    private let exchange: Atomic<Int64>

    /// - Parameters:
    ///   - connection: the first number to give to a connection.
    ///   - exchange: the first number to give to an exchange.
    package init(connection: Int64 = 1, exchange: Int64 = 1) {
        self.connection = Atomic(connection)
        self.exchange = Atomic(exchange)
    }

    package func nextConnection() -> Int64 {
        connection.wrappingAdd(1, ordering: .relaxed).oldValue
    }

    package func nextExchange() -> Int64 {
        exchange.wrappingAdd(1, ordering: .relaxed).oldValue
    }
}
