package import Base
package import Traffic

/// Numbers, times and records the messages of one connection, and what is noted about it.
package protocol MessageRecorder: AnyObject {
    /// The number of the connection.
    var connectionNumber: Int64 { get }
    /// Those of all exchanges of the connection are counted together.
    var messageCount: Int64 { get set }
    var notes: [ConnectionNote] { get set }
    /// When what is read now came.
    var messageTime: Timestamp { get }
    func write(_ message: consuming MessageRecord)
}

extension MessageRecorder {
    package var messageTime: Timestamp { .now() }

    /// The next message of the connection, without its content, and without its time, which `record`
    /// gives it.
    package func nextMessage(
        _ kind: MessageRecord.Kind, _ direction: Direction, exchange: Int64?
    ) -> MessageRecord {
        messageCount += 1
        return MessageRecord(
            connection: connectionNumber, exchange: exchange, number: messageCount,
            at: Timestamp(microseconds: 0), direction: direction, kind: kind)
    }

    /// Records a message, or a part of one, whose last byte came now.
    package func record(_ message: consuming MessageRecord) {
        message.at = messageTime
        write(message)
    }

    /// Notes a fact about the connection, unless it has one of the same code.
    package func noteOnce(_ code: String, _ detail: String) {
        guard notes.count < noteLimit, !notes.contains(where: { $0.code == code }) else { return }
        notes.append(ConnectionNote(code, detail))
    }

    package func noteOnce(_ code: ConnectionNote.Code, _ detail: String) {
        noteOnce(code.rawValue, detail)
    }
}

/// More than there are codes.
private let noteLimit = 64
