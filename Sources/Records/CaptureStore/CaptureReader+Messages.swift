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
        let columns = Schema.messages.selection(in: version)
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

    private func message(from statement: Statement) throws -> MessageRecord {
        var row = MessageRow(
            record: MessageRecord(
                connection: 0, exchange: nil, number: 0, at: Timestamp(microseconds: 0),
                direction: .request, kind: .segment))
        try Schema.messages.read(&row, from: statement)
        if let chunk = row.chunk { row.record.bytes = try content(ofChunk: chunk) }
        return row.record
    }
}
