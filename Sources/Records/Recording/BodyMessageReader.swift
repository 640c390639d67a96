internal import Base
internal import Contents
internal import HTTPCodecs
package import HTTPModel
package import Traffic

/// Tells the messages inside a content that streams: of gRPC, and of an event stream. Where they
/// stand is told; what they hold is in the content.
///
/// A class, because most contents have none: their recorders hold a reference and no reader.
package final class BodyMessageReader {
    private var reader: Reader
    private let direction: Direction
    private let exchange: Int64
    private var countLeft = BodyMessageReader.countLimit

    private enum Reader {
        case prefixed(LengthPrefixedReader)
        case events(EventStreamReader)
    }

    /// Of one content; more are not told apart.
    private static let countLimit = 1_000_000

    private init(_ reader: Reader, exchange: Int64, _ direction: Direction) {
        self.reader = reader
        self.exchange = exchange
        self.direction = direction
    }

    /// The reader for a content.
    ///
    /// - Parameter fields: of the head before the content.
    /// - Returns: `nil` for a content that has no messages inside.
    package static func reader(
        behind fields: Fields, exchange: Int64, _ direction: Direction
    ) -> BodyMessageReader? {
        guard let type = fields.first(.contentType), !fields.contains(.contentEncoding) else {
            return nil
        }
        let media = MediaType(type)
        if media.isEventStream {
            return BodyMessageReader(.events(EventStreamReader()), exchange: exchange, direction)
        }
        guard media.isGRPC else { return nil }
        return BodyMessageReader(
            .prefixed(LengthPrefixedReader()), exchange: exchange, direction)
    }

    /// Reads all of `bytes`, and records each message when its last byte has come.
    @inline(never)
    package func read(_ bytes: Span<UInt8>, to recorder: some MessageRecorder) {
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

    private func record(
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
