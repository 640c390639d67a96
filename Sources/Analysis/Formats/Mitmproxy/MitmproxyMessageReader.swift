internal import Base
internal import Traffic

/// Makes messages out of what a flow has of them.
struct MitmproxyMessageReader {
    let connection: Int64
    let exchange: Int64?
    /// For one without a time.
    let fallback: Timestamp

    /// `[opcode, from client, content, time, …]`; `nil` for what is none.
    func webSocketMessage(_ value: TnetstringValue, number: Int64) -> MessageRecord? {
        let parts = value.elements
        guard parts.count >= 4, case .boolean(let isFromClient) = parts[1],
            let bytes = parts[2].bytes
        else { return nil }
        let kind: MessageRecord.Kind
        switch parts[0].integer {
        case 1: kind = .text
        case 2: kind = .binary
        default: return nil
        }
        return message(kind, isFromClient, bytes, parts[3].moment, number)
    }

    /// Whether mitmproxy let the message not pass, or made it up; of version 15 and later.
    static func isChanged(_ value: TnetstringValue) -> Bool {
        value.elements.dropFirst(4).contains { $0.isTrue }
    }

    /// `[from client, content, time]`; `nil` for what is none.
    func segment(_ value: TnetstringValue, number: Int64) -> MessageRecord? {
        let parts = value.elements
        guard parts.count >= 3, case .boolean(let isFromClient) = parts[0],
            let bytes = parts[1].bytes
        else { return nil }
        return message(.segment, isFromClient, bytes, parts[2].moment, number)
    }

    /// How a WebSocket was closed; `nil` if it was not, or by no frame (RFC 6455 §7.1.5).
    func close(_ socket: TnetstringValue, number: Int64) -> MessageRecord? {
        guard let code = socket["close_code"]?.integer, 0...65535 ~= code, code != 1006 else {
            return nil
        }
        let isFromClient =
            socket["closed_by_client"]?.isTrue ?? (socket["close_sender"]?.text == "client")
        let reason = socket["close_reason"]?.bytes ?? []
        var record = message(
            .close, isFromClient, reason, socket["timestamp_end"]?.moment, number)
        record.detail = reason.isEmpty ? String(code) : "\(code) \(reason.text)"
        return record
    }

    private func message(
        _ kind: MessageRecord.Kind, _ isFromClient: Bool, _ bytes: [UInt8], _ time: Timestamp?,
        _ number: Int64
    ) -> MessageRecord {
        var record = MessageRecord(
            connection: connection, exchange: exchange, number: number, at: time ?? fallback,
            direction: isFromClient ? .request : .response, kind: kind)
        record.bytes = bytes
        record.size = Int64(bytes.count)
        return record
    }
}
