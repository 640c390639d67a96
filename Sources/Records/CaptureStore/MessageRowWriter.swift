internal import Base
internal import Traffic

/// Stores messages: a short content in its message's row, a long one as a chunk.
final class MessageRowWriter {
    private let contents: BodyRowWriter
    private let message: Statement

    init(database: Database, contents: BodyRowWriter) throws(Failure) {
        self.contents = contents
        message = try database.prepare(Schema.messages.upsert(keyCount: 3))
    }

    func write(_ snapshot: MessageSnapshot) throws(Failure) {
        let isInline = snapshot.record.bytes.count <= inlineByteLimit
        let chunk = isInline ? nil : try contents.store(snapshot.record.bytes)
        let input = MessageRowInput(snapshot: snapshot, chunk: chunk)
        try Schema.messages.write(input, with: message)
    }
}

/// In bytes: to digest a short content and look for an equal one costs more than to store it, and
/// up to here a row stays within its page of 16 KiB, which has to hold four.
private let inlineByteLimit = 3584
