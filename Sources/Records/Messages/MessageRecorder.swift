package import Traffic

/// Who numbers, times and keeps the messages of one connection.
package protocol MessageRecorder: AnyObject {
    /// The next message of the connection, without its content.
    func nextMessage(
        _ kind: MessageRecord.Kind, _ direction: Direction, exchange: Int64?
    ) -> MessageRecord
    /// Keeps a message, or a part of one, whose last byte came now.
    func record(_ message: MessageRecord)
    /// Notes a fact about the connection, unless it has one of the same code.
    func noteOnce(_ code: String, _ detail: String)
}
