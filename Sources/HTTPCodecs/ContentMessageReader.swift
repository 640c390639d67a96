internal import Base
package import HTTPModel

/// Tells the messages inside a content that streams: of gRPC, and of an event stream.
package struct ContentMessageReader: Sendable {
    package enum Kind: Sendable {
        case grpc
        case event
    }

    /// Where a message stands in the content.
    package struct Message: Sendable {
        package let kind: Kind
        /// Of its own prefix, in bytes from the start of the content.
        package let offset: Int64
        /// Without its prefix, in bytes.
        package let size: Int64
        /// An event's type, and whether a message of gRPC is compressed.
        package let detail: String

        fileprivate init(
            _ kind: Kind, _ offset: UInt64, _ size: some BinaryInteger, _ detail: String
        ) {
            self.kind = kind
            self.offset = Int64(clamping: offset)
            self.size = Int64(clamping: size)
            self.detail = detail
        }
    }

    private enum Format {
        case prefixed(LengthPrefixedReader)
        case events(EventStreamReader)
    }

    private var format: Format
    /// Of one content; more are not told apart.
    private var countLeft = 1_000_000

    /// - Returns: `nil` for a content that has no messages inside.
    package init?(_ fields: Fields) {
        guard let type = fields.first(.contentType), !fields.contains(.contentEncoding) else {
            return nil
        }
        let name = type.prefix { $0 != 0x3B && $0 != 0x20 }
        if name.equalsIgnoringCase("text/event-stream") {
            format = .events(EventStreamReader())
        } else if name.prefix(16).equalsIgnoringCase("application/grpc") {
            format = .prefixed(LengthPrefixedReader())
        } else {
            return nil
        }
    }

    /// Reads all of `bytes`, and tells each message when its last byte has come.
    @inline(never)
    package mutating func read(_ bytes: Span<UInt8>, _ visit: (Message) -> Void) {
        var left = countLeft
        func tell(_ message: Message) {
            guard left > 0 else { return }
            left -= 1
            visit(message)
        }
        switch format {
        case .prefixed(var prefixed):
            prefixed.read(bytes) { message in
                let detail = message.isCompressed ? "compressed" : ""
                tell(Message(.grpc, message.offset, message.size, detail))
            }
            format = .prefixed(prefixed)
        case .events(var events):
            events.read(bytes) { event, type in
                let name = unsafe type.withUnsafeBufferPointer { unsafe $0.text }
                tell(Message(.event, event.offset, event.size, name))
            }
            format = .events(events)
        }
        countLeft = left
    }
}
