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
    /// That the file had when it was opened.
    let version: Int64
    private let connectionColumns: String
    private let exchangeColumns: String
    private var idle: [String: [Statement]] = [:]
    /// One that finds an exchange by its id, unless a visit uses it: to find it by its long text
    /// takes as long as to run it.
    private var idleExchange: Statement?

    /// Opens a capture; the folder may be read-only if no log was left beside the file.
    ///
    /// Errors: `capture-unreadable`, `capture-not-a-capture`, `capture-newer`.
    package init(path: String) throws(Failure) {
        (database, version) = try CaptureFile.openForReading(path)
        connectionColumns = Schema.connections.selection(in: version)
        exchangeColumns = Schema.exchangeRecords.selection(in: version)
    }

    package func connections(_ visit: (ConnectionRecord) throws -> Bool) throws {
        try connections(from: .min, visit)
    }

    package func connections(from id: Int64, _ visit: (ConnectionRecord) throws -> Bool) throws {
        let sql = "SELECT \(connectionColumns) FROM connection WHERE id >= ? ORDER BY id"
        try withStatement(sql) { row in
            row.bind(id)
            while try row.next() {
                guard try visit(connection(from: row)) else { return }
            }
        }
    }

    package func connection(_ id: Int64) throws -> ConnectionRecord? {
        try withStatement("SELECT \(connectionColumns) FROM connection WHERE id = ?") { row in
            row.bind(id)
            return try row.next() ? connection(from: row) : nil
        }
    }

    package func exchanges(_ visit: (ExchangeRecord) throws -> Bool) throws {
        try exchanges(from: .min, visit)
    }

    package func exchanges(from id: Int64, _ visit: (ExchangeRecord) throws -> Bool) throws {
        let sql = "SELECT \(exchangeColumns) FROM exchange WHERE id >= ? ORDER BY id"
        try withStatement(sql) { row in
            row.bind(id)
            while try row.next() {
                guard try visit(exchange(from: row)) else { return }
            }
        }
    }

    package func exchange(_ id: Int64) throws -> ExchangeRecord? {
        let row =
            try idleExchange
            ?? database.prepare("SELECT \(exchangeColumns) FROM exchange WHERE id = ?")
        idleExchange = nil
        defer {
            row.reset()
            idleExchange = row
        }
        row.bind(id)
        return try row.next() ? exchange(from: row) : nil
    }

    package func body(
        ofExchange id: Int64, _ direction: Direction, _ visit: ([UInt8]) throws -> Bool
    ) throws {
        try body(ofExchange: id, direction, from: 0, visit)
    }

    /// Calls `visit` with each part of a content, of 1 MiB at most if sallyport wrote it; parts
    /// before `offset` are passed over unread.
    ///
    /// Errors: `no-such-exchange`, `capture-unreadable`, `capture-newer`.
    package func body(
        ofExchange id: Int64, _ direction: Direction, from offset: Int64,
        _ visit: ([UInt8]) throws -> Bool
    ) throws {
        // The first statement stays open, so that all of them see one state of the file.
        try withStatement("SELECT \(direction.word)_body FROM exchange WHERE id = ?") { owner in
            owner.bind(id)
            guard try owner.next() else { throw Self.noSuchExchange(id) }
            if let whole = owner.optionalInteger() {
                _ = try visit(content(ofChunk: whole).from(offset))
                return
            }
            let sql =
                "SELECT chunk, size FROM part LEFT JOIN chunk AS content ON content.id = chunk "
                + "WHERE exchange = ? AND direction = ? ORDER BY sequence"
            try withStatement(sql) { part in
                part.bind(id)
                part.bind(direction.word)
                var start: Int64 = 0
                while try part.next() {
                    let chunk = part.integer()
                    let end = start &+ part.integer()
                    if end > offset || offset == 0 {
                        guard try visit(content(ofChunk: chunk).from(offset &- start)) else {
                            return
                        }
                    }
                    start = end
                }
            }
        }
    }

    /// How many bytes of a content are stored, without reading them.
    ///
    /// Errors: `capture-unreadable`.
    package func recordedSize(ofExchange id: Int64, _ direction: Direction) throws -> Int64 {
        let sql =
            "SELECT CAST(total(size) AS INTEGER) FROM chunk JOIN body ON chunk.id = body.chunk "
            + "WHERE exchange = ? AND direction = ?"
        return try withStatement(sql) { row in
            row.bind(id)
            row.bind(direction.word)
            return try row.next() ? row.count() : 0
        }
    }

    package var contentSize: Int64 {
        get throws {
            let sizes = "total(request_size) + total(response_size)"
            return try withStatement("SELECT CAST(\(sizes) AS INTEGER) FROM exchange") { row in
                try row.next() ? row.count() : 0
            }
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

    package func unchanging<Result>(_ body: () throws -> Result) throws -> Result {
        guard database.isBetweenTransactions else { return try body() }
        try database.execute("BEGIN")
        do {
            let result = try body()
            try database.execute("COMMIT")
            return result
        } catch {
            if !database.isBetweenTransactions { try database.execute("ROLLBACK") }
            throw error
        }
    }

    // MARK: Details

    func content(ofChunk id: Int64) throws -> [UInt8] {
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
}

/// How much a capture holds.
package struct CaptureCounts: Sendable, Equatable {
    package var connections: Int64 = 0
    package var exchanges: Int64 = 0
    /// Those that go on, or whose writer ended before they did.
    package var unfinishedExchanges: Int64 = 0
}

extension [UInt8] {
    fileprivate func from(_ offset: Int64) -> [UInt8] {
        offset <= 0 ? self : [UInt8](dropFirst(Int(clamping: offset)))
    }
}
