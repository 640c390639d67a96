internal import Base
internal import Contents
internal import Traffic

/// Rows become records; columns come in the order of `Schema`.
extension CaptureReader {
    func connection(from statement: Statement) throws -> ConnectionRecord {
        var row = ConnectionRow(
            record: ConnectionRecord(
                id: 0, openedAt: Timestamp(microseconds: 0), client: "", listener: "",
                mode: .explicit))
        try Schema.connections.read(&row, from: statement)
        row.record.process = try row.processID.map { id in
            ProcessRecord(
                id: Int32(clamping: id), executable: row.executable,
                commandLine: try row.arguments.map(strings) ?? [])
        }
        row.record.notes = try row.notes.map(notes) ?? []
        row.record.clientTLS = try tls(of: row.record.id, Schema.clientTLS)
        row.record.originTLS = try tls(of: row.record.id, Schema.originTLS)
        return row.record
    }

    func exchange(from statement: Statement) throws -> ExchangeRecord {
        var row = ExchangeRow.empty
        try Schema.exchangeRecords.read(&row, from: statement)
        if row.interimCount > 0 {
            row.summary.record.interimHeads = try interimHeads(of: row.summary.record.id)
        }
        try complete(&row)
        return row.summary.record
    }

    /// Passes a summary to `visit` instead of returning it, which would retain each of its buffers.
    ///
    /// - Parameter row: empty, or of the summary before: each column of it is set again, and nothing
    ///   else of it may be, but what is taken back below.
    func visitSummary<Value>(
        from statement: Statement, into row: inout ExchangeRow,
        _ visit: (ExchangeSummary) throws -> Value
    ) throws -> Value {
        try Schema.exchangeSummaries.read(&row, from: statement)
        if row.isUncut, row.scheme != nil, let whole = try exchange(row.summary.record.id) {
            return try visit(ExchangeSummary(whole))
        }
        // What is told of a missing head stands in no column: the next row would keep it.
        defer { if row.scheme == nil { row = .empty } }
        try complete(&row)
        return try visit(row.summary)
    }

    private func complete(_ row: inout ExchangeRow) throws {
        row.summary.record.scheme = row.scheme ?? .http
        if row.scheme == nil { try tellMissingHead(of: &row.summary.record) }
    }

    /// Says of an exchange that only its content was recorded, and how much of it.
    private func tellMissingHead(of record: inout ExchangeRecord) throws {
        record.error = ExchangeRecord.headMissing
        record.errorDetail = "only a part of its content was recorded, and nothing else"
        for direction in [Direction.request, .response] {
            var body = BodyRecord()
            body.size = try recordedSize(ofExchange: record.id, direction)
            body.isTruncated = body.size > 0
            switch direction {
            case .request: record.requestBody = body
            case .response: record.responseBody = body
            }
        }
    }

    private func interimHeads(of exchange: Int64) throws -> [[UInt8]] {
        let sql = "SELECT head FROM interim WHERE exchange = ? ORDER BY position"
        return try withStatement(sql) { row in
            row.bind(exchange)
            var heads: [[UInt8]] = []
            while try row.next() { heads.append(row.bytes()) }
            return heads
        }
    }

    private func tls(of connection: Int64, _ table: Table<TLSRow, TLSRow>) throws -> TLSRecord? {
        let sql =
            "SELECT \(table.selection(in: version)) FROM \(table.name) WHERE connection = ?"
        return try withStatement(sql) { statement in
            statement.bind(connection)
            guard try statement.next() else { return nil }
            var row = TLSRow(connection: connection, record: TLSRecord())
            try table.read(&row, from: statement)
            if let chain = row.chain { row.record.chain = try certificates(chain) }
            if let chain = row.clientChain { row.record.clientChain = try certificates(chain) }
            if let alerts = row.alerts { row.record.alerts = try self.alerts(alerts) }
            if let lines = row.keyLog {
                row.record.keyLog = lines.split(separator: "\n", omittingEmptySubsequences: false)
                    .map { String($0) }
            }
            return row.record
        }
    }

    private func certificates(_ chain: String) throws -> [[UInt8]] {
        let sql =
            "SELECT der FROM json_each(?) AS entry JOIN certificate "
            + "ON certificate.id = entry.value ORDER BY entry.key"
        return try withStatement(sql) { row in
            row.bind(chain)
            var certificates: [[UInt8]] = []
            while try row.next() { certificates.append(row.bytes()) }
            return certificates
        }
    }

    /// The elements of a JSON array of strings.
    private func strings(_ text: String) throws -> [String] {
        try withStatement("SELECT value FROM json_each(?) ORDER BY key") { row in
            row.bind(text)
            var strings: [String] = []
            while try row.next() { strings.append(row.text()) }
            return strings
        }
    }

    private func notes(_ text: String) throws -> [ConnectionNote] {
        let sql =
            "SELECT json_extract(value, '$.code'), json_extract(value, '$.detail') "
            + "FROM json_each(?) ORDER BY key"
        return try withStatement(sql) { row in
            row.bind(text)
            var notes: [ConnectionNote] = []
            while try row.next() { notes.append(ConnectionNote(row.text(), row.text())) }
            return notes
        }
    }

    private func alerts(_ text: String) throws -> [AlertRecord] {
        let sql =
            "SELECT json_extract(value, '$.sender'), json_extract(value, '$.fatal'), "
            + "json_extract(value, '$.name') FROM json_each(?) ORDER BY key"
        return try withStatement(sql) { row in
            row.bind(text)
            var alerts: [AlertRecord] = []
            while try row.next() {
                let sender = try row.word(of: alertSenders)
                alerts.append(AlertRecord(sender: sender, fatal: row.boolean(), name: row.text()))
            }
            return alerts
        }
    }
}

extension ExchangeRow {
    /// To be read into. Made anew for each row: a copy of a constant would retain its buffers.
    static var empty: ExchangeRow {
        ExchangeRow(
            summary: ExchangeSummary(
                record: ExchangeRecord(
                    id: 0, connection: 0, startedAt: Timestamp(microseconds: 0), scheme: .http,
                    authority: ""),
                head: HeadSummary()))
    }
}

private let alertSenders = StoredWords<AlertRecord.Sender>()
