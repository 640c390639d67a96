internal import Base

/// Reads a capture; every call sees what was committed when it was made.
///
/// Errors: `Failure` with the codes `capture-unreadable` and `no-such-exchange`.
package protocol TrafficSource {
    /// Calls `visit` for each connection by rising id until it returns false.
    func connections(_ visit: (ConnectionRecord) throws -> Bool) throws
    /// The same, from an id on.
    func connections(from id: Int64, _ visit: (ConnectionRecord) throws -> Bool) throws
    /// One connection, `nil` if there is none.
    func connection(_ id: Int64) throws -> ConnectionRecord?
    /// Calls `visit` for each exchange by rising id until it returns false; bodies are left out.
    func exchanges(_ visit: (ExchangeRecord) throws -> Bool) throws
    /// The same, from an id on.
    func exchanges(from id: Int64, _ visit: (ExchangeRecord) throws -> Bool) throws
    /// One exchange without its bodies, `nil` if there is none.
    func exchange(_ id: Int64) throws -> ExchangeRecord?
    /// Calls `visit` with each part of a content, in order, until it returns false.
    func body(
        ofExchange id: Int64, _ direction: Direction, _ visit: ([UInt8]) throws -> Bool) throws
    /// Calls `visit` with each part of what a content has from `offset` on, in bytes.
    func body(
        ofExchange id: Int64, _ direction: Direction, from offset: Int64,
        _ visit: ([UInt8]) throws -> Bool) throws
    /// How many bytes of a content were recorded.
    func recordedSize(ofExchange id: Int64, _ direction: Direction) throws -> Int64
    /// How many bytes all contents have, by the records of their exchanges.
    var contentSize: Int64 { get throws }
    /// Calls `visit` with each part of the messages of a connection, in order, until it returns
    /// false.
    ///
    /// - Parameter exchange: only those of one exchange; `nil` for all.
    func messages(
        ofConnection id: Int64, exchange: Int64?, _ visit: (MessageRecord) throws -> Bool) throws
    /// Runs `body`, whose calls all see the same state of the source, and are cheaper for it. While
    /// it lasts, a writer's log cannot shrink.
    func unchanging<Result>(_ body: () throws -> Result) throws -> Result
    /// The name of the hash that `contentDigests` tells, `nil` if it tells none.
    var digestName: String? { get throws }
    /// Calls `visit` with the digest of each part of each content, those of one content in order,
    /// until it returns false; contents are not read for it.
    func contentDigests(_ visit: (ContentDigest) throws -> Bool) throws
}

/// The digest of a content, or of a part of it.
package struct ContentDigest: Sendable, Equatable {
    package let exchange: Int64
    package let direction: Direction
    package let bytes: [UInt8]

    package init(exchange: Int64, direction: Direction, bytes: [UInt8]) {
        self.exchange = exchange
        self.direction = direction
        self.bytes = bytes
    }
}

/// What a source need not do itself, unless it can do it faster.
extension TrafficSource {
    package func recordedSize(ofExchange id: Int64, _ direction: Direction) throws -> Int64 {
        var size: Int64 = 0
        try body(ofExchange: id, direction) { bytes in
            size += Int64(bytes.count)
            return true
        }
        return size
    }

    package var contentSize: Int64 {
        get throws {
            var size: Int64 = 0
            try exchanges { record in
                size = size.addingSaturated(record.contentSize)
                return true
            }
            return size
        }
    }

    package func unchanging<Result>(_ body: () throws -> Result) throws -> Result { try body() }

    package var digestName: String? { nil }

    package func contentDigests(_ visit: (ContentDigest) throws -> Bool) throws {}

    package func connections(
        from id: Int64, _ visit: (ConnectionRecord) throws -> Bool
    ) throws {
        try connections { try $0.id < id || visit($0) }
    }

    package func exchanges(from id: Int64, _ visit: (ExchangeRecord) throws -> Bool) throws {
        try exchanges { try $0.id < id || visit($0) }
    }

    package func connection(_ id: Int64) throws -> ConnectionRecord? {
        var found: ConnectionRecord?
        try connections { record in
            if record.id == id { found = record }
            return record.id < id
        }
        return found
    }

    package func body(
        ofExchange id: Int64, _ direction: Direction, from offset: Int64,
        _ visit: ([UInt8]) throws -> Bool
    ) throws {
        var skip = Int(clamping: max(0, offset))
        try body(ofExchange: id, direction) { bytes in
            let passed = min(skip, bytes.count)
            skip -= passed
            if passed > 0, passed == bytes.count { return true }
            return try visit(passed == 0 ? bytes : [UInt8](bytes[passed...]))
        }
    }
}
