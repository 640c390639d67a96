internal import Base
internal import HTTPCodecs
internal import Traffic

/// The messages that a content consists of: the events of an event stream, those of a gRPC call.
enum BodyMessages {
    /// - Parameter type: the media type.
    /// - Returns: `nil` for a content of another type, and for one without a whole message.
    static func read(_ content: [UInt8], type: ArraySlice<UInt8>) -> [ComparedMessage]? {
        let name = type.prefix { $0 != UInt8(ascii: ";") }.map(\.asciiLowercased).text
        if name.hasPrefix("text/event-stream") { return events(content) }
        if name.hasPrefix("application/grpc") { return calls(content) }
        return nil
    }

    private static func events(_ content: [UInt8]) -> [ComparedMessage]? {
        var messages: [ComparedMessage] = []
        var reader = EventStreamReader()
        reader.read(content.span) { event, _ in
            let start = Int(event.offset)
            messages.append(event: content[start..<start + Int(event.size)])
        }
        return messages.isEmpty ? nil : messages
    }

    /// `nil` too for what gRPC-Web has as text, and for a content that is no sequence of messages.
    private static func calls(_ content: [UInt8]) -> [ComparedMessage]? {
        var messages: [ComparedMessage] = []
        var reader = LengthPrefixedReader()
        reader.read(content.span) { prefixed in
            let start = Int(prefixed.offset) + 5
            var message = ComparedMessage(.grpc)
            message.bytes = Array(content[start..<start + Int(prefixed.size)])
            message.size = Int64(prefixed.size)
            let isMarked = prefixed.isCompressed || prefixed.isTrailers
            let mark = prefixed.isTrailers ? "trailers" : "compressed"
            if isMarked { message.labels = [.init(name: "flag", value: mark)] }
            messages.append(message)
        }
        let isWhole = reader.violationOffset == nil && reader.unfinished == nil
        return isWhole && !messages.isEmpty ? messages : nil
    }
}

extension [ComparedMessage] {
    /// Takes an event's fields apart (WHATWG HTML §9.2.6).
    fileprivate mutating func append(event: ArraySlice<UInt8>) {
        var message = ComparedMessage(.event)
        var hasData = false
        // CR LF leaves an empty line, which means nothing inside of an event.
        for line in event.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            let name = line.prefix { $0 != UInt8(ascii: ":") }
            var value = line[Swift.min(name.endIndex + 1, line.endIndex)...]
            if value.first == UInt8(ascii: " ") { value.removeFirst() }
            switch name.text {
            case "data":
                if hasData { message.bytes.append(UInt8(ascii: "\n")) }
                hasData = true
                message.bytes += value
            case "event", "id", "retry":
                message.labels.append(.init(name: name.text, value: value.text))
            default: continue
            }
        }
        message.size = Int64(message.bytes.count)
        append(message)
    }
}
