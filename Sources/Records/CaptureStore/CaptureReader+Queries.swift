internal import Base
package import Traffic

extension CaptureReader: TrafficStore {
    package var identity: String? {
        get throws {
            try withStatement("SELECT value FROM meta WHERE key = 'uuid'") { row in
                try row.next() ? row.optionalText() : nil
            }
        }
    }

    package func clients() throws -> [Int64: String] {
        try withStatement("SELECT id, client FROM connection") { row in
            var clients: [Int64: String] = [:]
            while try row.next() { clients[row.integer()] = row.text() }
            return clients
        }
    }

    /// Answers from columns; of rows that an earlier version wrote, the heads are read.
    ///
    /// Errors: `capture-unreadable`, `capture-newer`.
    package func summaries(
        _ query: ExchangeQuery, _ visit: (ExchangeSummary) throws -> Bool
    ) throws {
        let conditions = query.conditions.map { " AND " + $0.sql }.joined()
        let order = query.order == .rising ? "id" : "id DESC"
        let columns = Schema.exchangeSummaries.selection(in: version)
        let sql =
            "SELECT \(columns) FROM exchange WHERE id BETWEEN ? AND ?\(conditions) "
            + "ORDER BY \(order) LIMIT ?"
        try withStatement(sql) { row in
            row.bind(query.numbers.lowerBound)
            row.bind(query.numbers.upperBound)
            for condition in query.conditions { condition.bind(to: row) }
            row.bind(query.limit ?? -1)
            var buffer = ExchangeRow.empty
            while try row.next() {
                guard try visitSummary(from: row, into: &buffer, visit) else { return }
            }
        }
    }

    // MARK: Changes

    package var lastChange: Int64 {
        get throws {
            guard version >= 3 else { return 0 }
            return try withStatement("SELECT max(number) FROM change") { row in
                try row.next() ? row.integer() : 0
            }
        }
    }

    package func changes(
        since number: Int64, _ visit: (TrafficChange) throws -> Bool
    ) throws {
        guard version >= 3 else { throw lapsed() }
        let sql =
            "SELECT number, connections, exchanges FROM change WHERE number > ? ORDER BY number"
        try withStatement(sql) { row in
            row.bind(number)
            var next = number &+ 1
            while try row.next() {
                let found = row.integer()
                guard found == next else { throw lapsed() }
                next &+= 1
                let change = TrafficChange(
                    number: found, connections: try ranges(row.optionalText()),
                    exchanges: try ranges(row.optionalText()))
                guard try visit(change) else { return }
            }
        }
    }

    private func ranges(_ text: String?) throws -> [ClosedRange<Int64>] {
        guard let text else { return [] }
        let sql =
            "SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(?) "
            + "ORDER BY key"
        return try withStatement(sql) { row in
            row.bind(text)
            var ranges: [ClosedRange<Int64>] = []
            while try row.next() {
                let (first, last) = (row.integer(), row.integer())
                ranges.append(first...max(first, last))
            }
            return ranges
        }
    }

    private func lapsed() -> Failure {
        Failure(
            "changes-lapsed", party: .tool, "the capture does not keep these changes any more",
            hint: "read all of it again")
    }
}

extension ExchangeQuery.Condition {
    fileprivate var sql: String {
        switch self {
        case .status: "status BETWEEN ? AND ?"
        case .method: "method = ?"
        case .connection: "connection = ?"
        case .failed(let isFailed): isFailed ? "error IS NOT NULL" : "error IS NULL"
        case .answeredByTool: "answered_by_tool = ?"
        case .started: "started_us BETWEEN ? AND ?"
        }
    }

    fileprivate func bind(to statement: Statement) {
        switch self {
        case .status(let statuses):
            statement.bind(statuses.lowerBound)
            statement.bind(statuses.upperBound)
        case .method(let method): statement.bind(method)
        case .connection(let id): statement.bind(id)
        case .failed: break
        case .answeredByTool(let isByTool): statement.bind(isByTool)
        case .started(let moments):
            statement.bind(moments.lowerBound)
            statement.bind(moments.upperBound)
        }
    }
}
