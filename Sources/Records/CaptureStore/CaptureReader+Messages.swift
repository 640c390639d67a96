internal import Base
package import Traffic

extension CaptureReader {
    /// Calls `visit` with each part of the messages, of 1 MiB at most if sallyport wrote it; none
    /// in a capture of version 1.
    ///
    /// Errors: `capture-unreadable`, `capture-newer`.
    package func messages(
        ofConnection id: Int64, exchange: Int64?, _ visit: (MessageRecord) throws -> Bool
    ) throws {
        guard version >= 2 else { return }
        let columns = Schema.messageColumns.joined(separator: ",")
        let condition = exchange == nil ? "" : " AND exchange = ?"
        let sql =
            "SELECT \(columns) FROM message WHERE connection = ?\(condition) ORDER BY number, part"
        try withStatement(sql) { row in
            row.bind(id)
            if let exchange { row.bind(exchange) }
            while try row.next() {
                guard try visit(message(from: row)) else { return }
            }
        }
    }

    private func message(from row: Statement) throws -> MessageRecord {
        let connection = row.integer()
        let number = row.count()
        let part = Int(row.count())
        let exchange = row.optionalInteger()
        let at = Timestamp(recorded: row.integer())
        let direction = try word(row.text(), Direction.init(word:))
        let kind = try word(row.text(), MessageRecord.Kind.init(rawValue:))
        var record = MessageRecord(
            connection: connection, exchange: exchange, number: number, at: at,
            direction: direction, kind: kind)
        record.part = part
        record.size = row.count()
        record.bytes = row.bytes()
        if let chunk = row.optionalInteger() { record.bytes = try content(ofChunk: chunk) }
        record.offset = row.optionalInteger().map(RecordedNumber.bounded)
        record.isLast = row.boolean()
        record.isTruncated = row.boolean()
        record.detail = row.optionalText() ?? ""
        return record
    }
}

extension Direction {
    fileprivate init?(word: String) {
        switch word {
        case Direction.request.word: self = .request
        case Direction.response.word: self = .response
        default: return nil
        }
    }
}
