internal import HTTPCodecs
internal import HTTPModel
internal import Traffic

/// Records the messages inside a content that streams. Where they stand is recorded; what they hold
/// is in the content.
///
/// Not `Sendable`: it belongs to the task that passes the content on.
final class BodyMessages {
    private let task: ConnectionTask
    private let exchange: Int64
    private let direction: Direction
    private var reader: ContentMessageReader

    /// - Returns: `nil` for a content that has no messages inside.
    init?(_ fields: Fields, of task: ConnectionTask, exchange: Int64, _ direction: Direction) {
        guard let reader = ContentMessageReader(fields) else { return nil }
        self.reader = reader
        self.task = task
        self.exchange = exchange
        self.direction = direction
    }

    func read(_ bytes: Span<UInt8>) {
        reader.read(bytes) { found in
            let kind: MessageRecord.Kind = found.kind == .grpc ? .grpc : .event
            var message = task.nextMessage(kind, direction, exchange: exchange)
            message.offset = found.offset
            message.size = found.size
            message.detail = found.detail
            task.lane.recorder.record(.message(message))
        }
    }
}
