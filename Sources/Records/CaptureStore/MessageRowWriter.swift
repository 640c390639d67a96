internal import Base
internal import Traffic

/// Stores messages: a short content in its message's row, a long one as a chunk.
final class MessageRowWriter {
    private let contents: BodyRowWriter
    private let message: Statement

    init(database: Database, contents: BodyRowWriter) throws(Failure) {
        self.contents = contents
        let values = Schema.messageColumns.map { _ in "?" }.joined(separator: ",")
        message = try database.prepare("INSERT OR REPLACE INTO message VALUES(\(values))")
    }

    func write(_ record: MessageRecord) throws(Failure) {
        let isInline = record.bytes.count <= inlineByteLimit
        let chunk = isInline ? nil : try contents.store(record.bytes)
        message.bind(record.connection)
        message.bind(record.number)
        message.bind(record.part)
        message.bind(record.exchange)
        message.bind(record.at.microseconds)
        message.bind(record.direction.word)
        message.bind(record.kind.rawValue)
        message.bind(record.size)
        message.bind(isInline ? record.bytes : [])
        message.bind(chunk)
        message.bind(record.offset)
        message.bind(record.isLast)
        message.bind(record.isTruncated)
        message.bind(record.detail.isEmpty ? nil : record.detail)
        try message.run()
    }
}

/// In bytes: to digest a short content and look for an equal one costs more than to store it, and
/// up to here a row stays within its page of 16 KiB, which has to hold four.
private let inlineByteLimit = 3584
