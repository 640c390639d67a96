internal import Base
internal import HTTPCodecs
internal import Traffic

/// The content behind a 101 from its messages: frames of a WebSocket anew (RFC 6455 §5), without
/// the compression that they may have had, and a part of a long message as a frame of its own.
enum TunnelContent {
    /// The bytes of one part of a message; empty for what is told elsewhere.
    static func bytes(of message: MessageRecord) -> [UInt8] {
        let opcode: WebSocketOpcode
        switch message.kind {
        case .segment: return message.bytes
        case .text: opcode = message.part == 0 ? .text : .continuation
        case .binary: opcode = message.part == 0 ? .binary : .continuation
        case .ping: opcode = .ping
        case .pong: opcode = .pong
        case .close: opcode = .close
        case .grpc, .event, .frame, .datagram: return []
        }
        let content = opcode == .close ? closing(message) : message.bytes
        // A client must mask; which key it took is not recorded.
        let key: UInt32? = message.direction == .request ? 0x5A17_C0DE : nil
        var result: [UInt8] = []
        WebSocketWriter.write(
            opcode, content.span, isFinal: message.isLast, maskingKey: key, into: &result)
        return result
    }

    /// The code of a close frame before its reason.
    private static func closing(_ message: MessageRecord) -> [UInt8] {
        guard let code = message.detail.split(separator: " ").first.flatMap({ UInt16($0) }) else {
            return []
        }
        return code.bigEndianBytes + message.bytes
    }
}
