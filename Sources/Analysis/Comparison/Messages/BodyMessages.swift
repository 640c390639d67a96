internal import Base
internal import Contents
internal import HTTPCodecs
internal import Traffic

/// The messages that a content consists of: the events of an event stream, those of a gRPC call.
enum BodyMessages {
    /// - Parameter type: the media type.
    /// - Returns: `nil` for a content of another type, and for one without a whole message.
    static func read(
        _ content: [UInt8], type: ArraySlice<UInt8>, _ configuration: ComparisonConfiguration
    ) -> ComparedMessages? {
        let type = MediaType(type)
        if type.isEventStream { return events(content, configuration) }
        if type.isGRPC { return calls(content, configuration) }
        return nil
    }

    private static func events(
        _ content: [UInt8], _ configuration: ComparisonConfiguration
    ) -> ComparedMessages? {
        var messages = ComparedMessages()
        var reader = EventStreamReader()
        func take(_ event: EventStreamEvent) {
            let start = Int(event.offset)
            let lines = content[start..<min(start + Int(event.size), content.count)]
            messages.append(ComparedMessage(event: lines), configuration)
        }
        reader.read(content.span) { event, _ in take(event) }
        guard !messages.isEmpty else { return nil }
        // One that the stream breaks off in counts as far as it goes.
        reader.read(lineEnds.span) { event, _ in take(event) }
        return messages
    }

    /// More than what ends an event.
    private static let lineEnds = [UInt8](repeating: 0x0A, count: 3)

    /// `nil` too for what gRPC-Web has as text, and for a content that is no sequence of messages.
    private static func calls(
        _ content: [UInt8], _ configuration: ComparisonConfiguration
    ) -> ComparedMessages? {
        var messages = ComparedMessages()
        var reader = LengthPrefixedReader()
        reader.read(content.span) { prefixed in
            let start = Int(prefixed.offset) + 5
            var message = ComparedMessage(.grpc)
            message.bytes = Array(content[start..<start + Int(prefixed.size)])
            message.size = Int64(prefixed.size)
            let isMarked = prefixed.isCompressed || prefixed.isTrailers
            let mark = prefixed.isTrailers ? "trailers" : "compressed"
            if isMarked { message.labels = [.init(name: "flag", value: mark)] }
            messages.append(message, configuration)
        }
        let isWhole = reader.violationOffset == nil && reader.unfinished == nil
        return isWhole && !messages.isEmpty ? messages : nil
    }
}

extension ComparedMessage {
    /// Takes an event's fields apart (WHATWG HTML §9.2.6).
    fileprivate init(event: ArraySlice<UInt8>) {
        self.init(.event)
        var hasData = false
        // CR LF leaves an empty line, which means nothing inside of an event.
        for line in event.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            let name = line.prefix { $0 != UInt8(ascii: ":") }
            var value = line[min(name.endIndex + 1, line.endIndex)...]
            if value.first == UInt8(ascii: " ") { value.removeFirst() }
            switch name.text {
            case "data":
                if hasData { bytes.append(UInt8(ascii: "\n")) }
                hasData = true
                bytes += value
            case "event", "id", "retry":
                labels.append(.init(name: name.text, value: value.text))
            default: continue
            }
        }
        size = Int64(bytes.count)
    }
}
