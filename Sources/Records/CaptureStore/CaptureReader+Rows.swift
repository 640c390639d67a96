internal import Base
internal import Traffic

/// Rows become records; columns come in the order of `Schema`.
extension CaptureReader {
    func connection(from row: Statement) throws -> ConnectionRecord {
        let id = row.integer()
        let openedAt = Timestamp(recorded: row.integer())
        let closedAt = row.optionalInteger().map { Timestamp(recorded: $0) }
        let client = row.text()
        let listener = row.text()
        let mode = try word(row.text(), ConnectionRecord.Mode.init(rawValue:))
        var record = ConnectionRecord(
            id: id, openedAt: openedAt, client: client, listener: listener, mode: mode)
        record.closedAt = closedAt
        record.originHost = row.text()
        record.originPort = UInt16(clamping: row.integer())
        record.originAddress = row.optionalText()
        record.originReused = row.boolean()
        record.clientBytes = ByteCount(received: row.count(), sent: row.count())
        record.originBytes = ByteCount(received: row.count(), sent: row.count())
        record.protocolName = row.text()
        record.exchangeCount = row.count()
        record.outcome = try word(row.text(), ConnectionRecord.Outcome.init(rawValue:))
        record.cause = row.text()
        record.closedBy = try row.optionalText().map {
            try word($0, ConnectionRecord.Side.init(rawValue:))
        }
        try readAdditions(of: &record, from: row)
        record.clientTLS = try tls(of: id, "client_tls")
        record.originTLS = try tls(of: id, "origin_tls")
        return record
    }

    private func readAdditions(of record: inout ConnectionRecord, from row: Statement) throws {
        record.messageCount = row.count()
        record.upgrade = row.optionalText()
        let process = row.optionalInteger()
        let executable = row.text()
        let arguments = row.optionalText()
        record.process = try process.map { id in
            ProcessRecord(
                id: Int32(clamping: id), executable: executable,
                commandLine: try arguments.map(strings) ?? [])
        }
        record.notes = try row.optionalText().map(notes) ?? []
    }

    func exchange(from row: Statement) throws -> ExchangeRecord {
        let id = row.integer()
        let connection = row.integer()
        let startedAt = Timestamp(recorded: row.integer())
        let duration = row.optionalInteger().map(RecordedNumber.bounded)
        let firstByte = row.optionalInteger().map(RecordedNumber.bounded)
        // Unknown while there are chunks and no record yet, or where the writer ended before it.
        let scheme = try row.optionalText().map {
            try word($0, ExchangeRecord.Scheme.init(rawValue:))
        }
        var record = ExchangeRecord(
            id: id, connection: connection, startedAt: startedAt, scheme: scheme ?? .http,
            authority: row.text())
        record.durationMicroseconds = duration
        record.firstByteMicroseconds = firstByte
        // The method and the target are in the head, too.
        row.skip(count: 2)
        record.status = Int(max(0, min(row.integer(), 999)))
        record.protocolName = row.text()
        record.requestBody.size = row.count()
        record.responseBody.size = row.count()
        record.requestBody.isTruncated = row.boolean()
        record.responseBody.isTruncated = row.boolean()
        record.requestBody.chunkCount = Int(row.count())
        record.responseBody.chunkCount = Int(row.count())
        row.skip(count: 2)
        record.error = row.optionalText()
        record.errorDetail = row.optionalText()
        record.answeredByTool = row.boolean()
        let interims = row.integer()
        record.requestBody.trailers = row.bytes()
        record.responseBody.trailers = row.bytes()
        record.requestHead = row.bytes()
        record.responseHead = row.bytes()
        record.stream = Int32(clamping: row.integer())
        record.originProtocolName = row.optionalText()
        if interims > 0 { record.interimHeads = try interimHeads(of: id) }
        if scheme == nil { try tellMissingHead(of: &record) }
        return record
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

    private func tls(of connection: Int64, _ table: String) throws -> TLSRecord? {
        let columns = Schema.tlsColumns.dropFirst().joined(separator: ",")
        return try withStatement("SELECT \(columns) FROM \(table) WHERE connection = ?") { row in
            row.bind(connection)
            guard try row.next() else { return nil }
            var record = TLSRecord()
            record.version = row.optionalText()
            record.cipher = row.optionalText()
            record.alpn = row.optionalText()
            record.sni = row.optionalText()
            record.ja3 = row.optionalText()
            record.ja4 = row.optionalText()
            record.resumed = row.boolean()
            record.handshakeCompleted = row.boolean()
            record.verifyError = row.optionalText()
            if let chain = row.optionalText() { record.chain = try certificates(chain) }
            if let alerts = row.optionalText() { record.alerts = try self.alerts(alerts) }
            if let lines = row.optionalText() {
                record.keyLog = lines.split(separator: "\n", omittingEmptySubsequences: false)
                    .map { String($0) }
            }
            record.clientHello = row.bytes()
            return record
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
                let sender = try word(row.text(), AlertRecord.Sender.init(rawValue:))
                alerts.append(AlertRecord(sender: sender, fatal: row.boolean(), name: row.text()))
            }
            return alerts
        }
    }

    func word<Value>(_ text: String, _ value: (String) -> Value?) throws -> Value {
        guard let value = value(text) else {
            throw Failure.newer(database.path, "it holds the word \"\(text)\"")
        }
        return value
    }
}
