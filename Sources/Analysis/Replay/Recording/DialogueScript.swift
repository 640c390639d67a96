internal import Base
internal import Traffic

/// What the sides of a recorded stream said, in order.
struct DialogueScript: Sendable {
    private(set) var lines: [Line] = []

    struct Line: Sendable {
        let direction: Direction
        let kind: MessageRecord.Kind
        var bytes: [UInt8]
        /// From the first line, in microseconds.
        let due: Int64
        /// The code of a close, as it was recorded.
        let detail: String
        fileprivate let number: Int64
    }

    private var start: Timestamp?

    /// Adds a message, or the next part of one.
    mutating func add(_ message: MessageRecord) {
        if let last = lines.indices.last, lines[last].number == message.number {
            lines[last].bytes += message.bytes
            return
        }
        start = start ?? message.at
        lines.append(
            Line(
                direction: message.direction, kind: message.kind, bytes: message.bytes,
                due: message.at.microseconds(since: start ?? message.at), detail: message.detail,
                number: message.number))
    }
}
