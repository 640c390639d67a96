internal import Base
internal import HTTPCodecs
internal import HTTPModel
internal import Traffic

/// Tells the messages inside a content that streams: of gRPC, and of an event stream. Where they
/// stand is recorded; what they hold is in the content.
///
/// Not `Sendable`: it belongs to the task that passes the content on.
final class BodyMessages {
    private let task: ConnectionTask
    private let exchange: Int64
    private let direction: Direction
    private var reader: Reader
    /// Of one exchange; more are not told apart.
    private var countLeft = 1_000_000

    private enum Reader {
        case prefixed(LengthPrefixedReader)
        case events(EventStreamReader)
    }

    /// - Returns: `nil` for a content that has no messages inside.
    init?(_ fields: Fields, of task: ConnectionTask, exchange: Int64, _ direction: Direction) {
        guard let type = fields.first(.contentType), !fields.contains(.contentEncoding) else {
            return nil
        }
        let name = type.prefix { $0 != 0x3B && $0 != 0x20 }
        if name.equalsIgnoringCase("text/event-stream") {
            reader = .events(EventStreamReader())
        } else if name.prefix(16).equalsIgnoringCase("application/grpc") {
            reader = .prefixed(LengthPrefixedReader())
        } else {
            return nil
        }
        self.task = task
        self.exchange = exchange
        self.direction = direction
    }

    @inline(never)
    func read(_ bytes: Span<UInt8>) {
        switch reader {
        case .prefixed(var prefixed):
            prefixed.read(bytes) { message in
                note(
                    .grpc, offset: message.offset, size: message.size,
                    detail: message.isCompressed ? "compressed" : "")
            }
            reader = .prefixed(prefixed)
        case .events(var events):
            events.read(bytes) { event, type in
                let name = unsafe type.withUnsafeBufferPointer { unsafe $0.text }
                note(.event, offset: event.offset, size: event.size, detail: name)
            }
            reader = .events(events)
        }
    }

    private func note(
        _ kind: MessageRecord.Kind, offset: some BinaryInteger, size: some BinaryInteger,
        detail: String
    ) {
        guard countLeft > 0 else { return }
        countLeft -= 1
        var message = task.nextMessage(kind, direction, exchange: exchange)
        message.offset = Int64(clamping: offset)
        message.size = Int64(clamping: size)
        message.detail = detail
        task.lane.recorder.record(.message(message))
    }
}
