internal import Base
internal import Traffic

extension MessageRecord {
    /// Whether a flow's WebSocket holds it; of its close, code and reason.
    var isInDump: Bool { isInEntry || kind == .close }
}

/// The messages of one flow: of a WebSocket, or the segments of a stream.
///
/// They are read twice, first for their length, and never held together.
struct MitmproxyMessages {
    let source: any TrafficSource
    let connection: Int64
    /// Of a WebSocket; `nil` for a stream.
    let exchange: Int64?
    let withSecrets: Bool

    /// - Parameter note: told what is lost, with an example.
    func list(_ note: (LossKind, String) -> Void) throws -> TnetstringText {
        var size = 0
        var count = 0
        try visit(limit: .max, note) { message in
            size += message.size
            count += 1
        }
        let limit = count
        return .stream(
            TnetstringText.Stream(type: "]", size: size) { take in
                // A capture that still grows has no more than it had.
                try visit(limit: limit, { _, _ in }) { try take($0.held) }
            })
    }

    private func visit(
        limit: Int, _ note: (LossKind, String) -> Void, _ take: (TnetstringText) throws -> Void
    ) throws {
        var redaction = try HARMessageRedaction(
            of: try source.connection(connection), exchange: exchange, in: source,
            isOn: !withSecrets)
        var open: [Int64: WebSocketMessage] = [:]
        var left = limit
        try source.messages(ofConnection: connection, exchange: exchange) { part in
            guard left > 0 else { return false }
            if exchange == nil {
                guard part.kind == .segment else { return true }
                if part.isTruncated { note(.messageMerged, example(part.number)) }
                try take(segment(part, redaction.redact(part)))
                left -= 1
                return true
            }
            guard part.isInEntry else { return true }
            var message = open[part.number] ?? WebSocketMessage(part)
            message.add(part, &redaction)
            open[part.number] = part.isLast ? nil : message
            guard part.isLast else { return true }
            if message.last.isTruncated || message.isCut {
                note(.messageMerged, example(part.number))
            }
            try take(webSocket(message, &redaction))
            left -= 1
            return true
        }
        for message in open.values.sorted(by: { $0.number < $1.number }) where left > 0 {
            note(.messageMerged, example(message.number))
            try take(webSocket(message, &redaction))
            left -= 1
        }
        if redaction.hasMasked { note(.secretsMasked, "a message of connection \(connection)") }
    }

    private func example(_ number: Int64) -> String {
        "message \(number) of connection \(connection)"
    }

    private func segment(_ part: MessageRecord, _ bytes: [UInt8]) -> TnetstringText {
        .list([
            .boolean(part.direction == .request), .bytes(bytes), .seconds(part.at.microseconds),
        ])
    }

    private func webSocket(
        _ message: WebSocketMessage, _ redaction: inout HARMessageRedaction
    ) -> TnetstringText {
        let bytes = redaction.redact(whole: message.bytes, isWhole: !message.last.isTruncated)
        return .list([
            .integer(message.last.kind == .text ? 1 : 2),
            .boolean(message.last.direction == .request), .bytes(bytes),
            .seconds(message.last.at.microseconds), .boolean(false), .boolean(false),
        ])
    }
}
