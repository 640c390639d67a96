package import Base
package import Traffic

/// Reads a capture file, also while it is being written.
///
/// Every call sees what was committed when it was made, and holds one row at a time. While a call
/// lasts, the writer's log cannot shrink: a `visit` should not wait for a person. A `visit` may
/// call the reader again.
///
/// Not `Sendable`: one task has it at a time.
package final class CaptureReader: TrafficSource {
    let database: Database
    private var idle: [String: [Statement]] = [:]

    /// Opens a capture; the folder may be read-only if no log was left beside the file.
    ///
    /// Errors: `capture-unreadable`, `capture-not-a-capture`, `capture-newer`.
    package init(path: String) throws(Failure) {
        database = try CaptureFile.openForReading(path)
    }

    package func connections(_ visit: (ConnectionRecord) throws -> Bool) throws {
        let sql = "SELECT \(Self.connectionColumns) FROM connection ORDER BY id"
        try withStatement(sql) { row in
            while try row.next() {
                guard try visit(connection(from: row)) else { return }
            }
        }
    }

    package func exchanges(_ visit: (ExchangeRecord) throws -> Bool) throws {
        let sql = "SELECT \(Self.exchangeColumns) FROM exchange ORDER BY id"
        try withStatement(sql) { row in
            while try row.next() {
                guard try visit(exchange(from: row)) else { return }
            }
        }
    }

    package func exchange(_ id: Int64) throws -> ExchangeRecord? {
        try withStatement("SELECT \(Self.exchangeColumns) FROM exchange WHERE id = ?") { row in
            row.bind(id)
            return try row.next() ? exchange(from: row) : nil
        }
    }

    /// Calls `visit` with each part of a content, of 1 MiB at most if sallyport wrote it.
    ///
    /// Errors: `no-such-exchange`, `capture-unreadable`, `capture-newer`.
    package func body(
        ofExchange id: Int64, _ direction: Direction, _ visit: ([UInt8]) throws -> Bool
    ) throws {
        // The first statement stays open, so that all of them see one state of the file.
        try withStatement("SELECT \(direction.word)_body FROM exchange WHERE id = ?") { owner in
            owner.bind(id)
            guard try owner.next() else { throw Self.noSuchExchange(id) }
            if let whole = owner.optionalInteger() {
                _ = try visit(content(ofChunk: whole))
                return
            }
            let sql =
                "SELECT chunk FROM part WHERE exchange = ? AND direction = ? ORDER BY sequence"
            try withStatement(sql) { part in
                part.bind(id)
                part.bind(direction.word)
                while try part.next() {
                    guard try visit(content(ofChunk: part.integer())) else { return }
                }
            }
        }
    }

    /// How many bytes of a content are stored, without reading them.
    ///
    /// Errors: `capture-unreadable`.
    package func storedSize(ofExchange id: Int64, _ direction: Direction) throws -> Int64 {
        let sql =
            "SELECT sum(size) FROM chunk JOIN body ON chunk.id = body.chunk "
            + "WHERE exchange = ? AND direction = ?"
        return try withStatement(sql) { row in
            row.bind(id)
            row.bind(direction.word)
            return try row.next() ? row.integer() : 0
        }
    }

    /// Counts what the capture holds, in time proportional to it.
    package func counts() throws -> CaptureCounts {
        let sql =
            "SELECT (SELECT count(*) FROM connection), (SELECT count(*) FROM exchange), "
            + "(SELECT count(*) FROM exchange WHERE duration_us IS NULL)"
        return try withStatement(sql) { row in
            guard try row.next() else { return CaptureCounts() }
            return CaptureCounts(
                connections: row.integer(), exchanges: row.integer(),
                unfinishedExchanges: row.integer())
        }
    }

    // MARK: Details

    private func content(ofChunk id: Int64) throws -> [UInt8] {
        try withStatement("SELECT coding, bytes FROM chunk WHERE id = ?") { row in
            row.bind(id)
            guard try row.next() else { throw unreadable("chunk \(id) is missing") }
            let coding = row.integer()
            guard coding == 0 else {
                throw Failure.newer(database.path, "chunk \(id) has coding \(coding)")
            }
            return row.bytes()
        }
    }

    /// Lends a compiled statement; it is compiled again only if a visit is inside of another.
    func withStatement<Result>(
        _ sql: String, _ body: (Statement) throws -> Result
    ) throws -> Result {
        let statement = try idle[sql]?.popLast() ?? database.prepare(sql)
        defer {
            statement.reset()
            idle[sql, default: []].append(statement)
        }
        return try body(statement)
    }

    func unreadable(_ what: String) -> Failure {
        Failure(
            "capture-unreadable", party: .tool, "capture is damaged: \(database.path): \(what)",
            hint: "save what can be read: sqlite3 .recover")
    }

    private static func noSuchExchange(_ id: Int64) -> Failure {
        Failure("no-such-exchange", party: .tool, "no exchange has the number \(id)")
    }

    private static let connectionColumns = Schema.connectionColumns.joined(separator: ",")
    private static let exchangeColumns = Schema.exchangeColumns.joined(separator: ",")
}

/// How much a capture holds.
package struct CaptureCounts: Sendable, Equatable {
    package var connections: Int64 = 0
    package var exchanges: Int64 = 0
    /// Those that go on, or whose writer ended before they did.
    package var unfinishedExchanges: Int64 = 0
}

extension CaptureReader {
    package func messages(
        ofConnection id: Int64, exchange: Int64?, _ visit: (MessageRecord) throws -> Bool
    ) throws {}
}
