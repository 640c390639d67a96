internal import Base
internal import Contents
internal import HTTPCodecs
package import HTTPModel
package import Traffic

/// Tells the messages inside a content that streams: of gRPC, and of an event stream. Where they
/// stand is told; what they hold is in the content.
package struct BodyMessageReader {
    private var reader: Reader
    private let direction: Direction
    private let exchange: Int64
    private var countLeft = Self.countLimit

    private enum Reader {
        case prefixed(LengthPrefixedReader)
        case events(EventStreamReader)
    }

    /// Of one content; more are not told apart.
    private static let countLimit = 1_000_000

    /// - Parameter fields: of the head before the content.
    /// - Returns: `nil` for a content that has no messages inside.
    package init?(_ fields: Fields, exchange: Int64, _ direction: Direction) {
        guard let type = fields.first(.contentType), !fields.contains(.contentEncoding) else {
            return nil
        }
        let media = MediaType(type)
        if media.isEventStream {
            reader = .events(EventStreamReader())
        } else if media.isGRPC {
            reader = .prefixed(LengthPrefixedReader())
        } else {
            return nil
        }
        self.exchange = exchange
        self.direction = direction
    }

    /// Reads all of `bytes`, and records each message when its last byte has come.
    @inline(never)
    package mutating func read(_ bytes: Span<UInt8>, to recorder: some MessageRecorder) {
        switch reader {
        case .prefixed(var prefixed):
            prefixed.read(bytes) { message in
                record(
                    .grpc, offset: message.offset, size: message.size,
                    detail: message.isCompressed ? "compressed" : "", to: recorder)
            }
            reader = .prefixed(prefixed)
        case .events(var events):
            events.read(bytes) { event, type in
                let name = unsafe type.withUnsafeBufferPointer { unsafe $0.text }
                record(
                    .event, offset: event.offset, size: event.size, detail: name, to: recorder)
            }
            reader = .events(events)
        }
    }

    private mutating func record(
        _ kind: MessageRecord.Kind, offset: some BinaryInteger, size: some BinaryInteger,
        detail: String, to recorder: some MessageRecorder
    ) {
        guard countLeft > 0 else { return }
        countLeft -= 1
        var message = recorder.nextMessage(kind, direction, exchange: exchange)
        message.offset = Int64(clamping: offset)
        message.size = Int64(clamping: size)
        message.detail = detail
        recorder.record(message)
    }
}
