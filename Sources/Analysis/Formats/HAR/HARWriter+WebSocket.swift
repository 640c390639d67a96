internal import Base
internal import Traffic

/// The messages of a WebSocket, as Chrome has them.
extension HARWriter {
    mutating func writeWebSocket(
        _ exchange: ExchangeRecord, _ connection: ConnectionRecord?, isWebSocket: Bool
    ) throws {
        var redaction = try HARMessageRedaction(
            of: connection, exchange: exchange.id, in: source, isOn: !options.withSecrets)
        var open: [Int64: WebSocketMessage] = [:]
        var close: JSONText?
        var isBegun = false
        let source = source
        try source.messages(ofConnection: exchange.connection, exchange: exchange.id) { part in
            if part.kind == .close { close = close ?? Self.close(part) }
            guard part.isInEntry else { return true }
            if !isBegun {
                isBegun = true
                try json.name("_webSocketMessages")
                try json.beginArray()
            }
            var message = open[part.number] ?? WebSocketMessage(part)
            message.add(part, &redaction)
            open[part.number] = part.isLast ? nil : message
            if part.isLast { try write(message, &redaction, of: exchange.id) }
            return true
        }
        for message in open.values.sorted(by: { $0.number < $1.number }) {
            try write(message, &redaction, of: exchange.id)
        }
        if isBegun { try json.endArray() }
        note(redaction, "a message of exchange \(exchange.id)")
        guard isWebSocket else { return }
        if let close {
            try json.member("_webSocketClose", close)
        } else if exchange.durationMicroseconds != nil {
            try json.member("_webSocketClose", "aborted")
        }
    }

    private mutating func write(
        _ message: WebSocketMessage, _ redaction: inout HARMessageRedaction, of exchange: Int64
    ) throws {
        if message.isCut {
            losses.note(.messageCut, "message \(message.number) of exchange \(exchange)")
        }
        let bytes = redaction.redact(whole: message.bytes, isWhole: !message.last.isTruncated)
        let isText = message.last.kind == .text && String(validating: bytes, as: UTF8.self) != nil
        var extras = JSONMembers()
        extras.add("number", .integer(message.number))
        extras.add("us", .integer(message.last.at.microseconds))
        extras.add("size", message.size == Int64(bytes.count) ? .null : .integer(message.size))
        extras.add("truncated", message.last.isTruncated || message.isCut ? true : .null)
        extras.add("continues", message.last.isLast ? .null : true)
        extras.add("detail", message.last.detail.isEmpty ? .null : .string(message.last.detail))
        if message.last.kind == .text, !isText {
            extras.add("data", .string(Base64.encode(bytes)))
        }
        let isBinary = message.last.kind == .binary
        json.breakLine()
        try json.value([
            "type": message.last.direction == .request ? "send" : "receive",
            // In seconds.
            "time": .millionths(message.last.at.microseconds),
            "opcode": isBinary ? 2 : 1,
            "data": isBinary ? .string(Base64.encode(bytes)) : .bytes(bytes),
            "_sallyport": extras.json,
        ])
    }

    /// - Parameter part: a close frame; its detail is a code and a reason.
    private static func close(_ part: MessageRecord) -> JSONText {
        let code = part.detail.prefix { $0.isASCII && $0.isNumber }
        let reason = part.detail[code.endIndex...].drop { $0 == ":" || $0 == " " }
        return [
            "code": Int64(code).map { .integer($0) } ?? .null,
            "reason": .string(code.isEmpty ? "" : String(reason)),
            "timestamp": .millionths(part.at.microseconds),
        ]
    }
}

/// A message that is put together.
struct WebSocketMessage {
    let number: Int64
    var bytes: [UInt8] = []
    var size: Int64 = 0
    var last: MessageRecord
    var isCut = false

    init(_ part: MessageRecord) {
        number = part.number
        last = part
    }

    mutating func add(_ part: MessageRecord, _ redaction: inout HARMessageRedaction) {
        let shown = redaction.redact(dialogueOf: part)
        let room = Self.byteLimit - bytes.count
        isCut = isCut || shown.count > room
        bytes += shown.prefix(room)
        size = size.addingSaturated(part.size)
        last = part
        last.bytes = []
    }

    /// One message has to be written at once.
    private static let byteLimit = 16 << 20
}
