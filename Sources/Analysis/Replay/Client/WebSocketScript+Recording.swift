internal import Base
package import HTTPCodecs
package import Traffic

extension WebSocketScript {
    /// What the client said on a recorded WebSocket.
    ///
    /// - Throws: `messages-cut` if its messages were not recorded whole, or are too large to be
    ///   held.
    package init(
        _ record: ExchangeRecord, from source: any TrafficSource, contentLimit: Int = 64 << 20
    ) throws {
        self.init()
        var last = record.startedAt
        var size = 0
        var hasOriginClosed = false
        try source.messages(ofConnection: record.connection, exchange: record.id) { message in
            guard message.direction == .request else {
                heardLimit = min(
                    heardLimit + 2 * min(UInt64(clamping: message.size), Self.sizeLimit)
                        + Self.messageRoom, Self.sizeLimit)
                guard message.part == 0 else { return true }
                if message.kind == .text || message.kind == .binary { awaited += 1 }
                if message.kind == .close { hasOriginClosed = true }
                patience = Self.patience(from: last, to: message.at)
                return true
            }
            guard let opcode = Self.opcode(of: message.kind) else { return true }
            size += message.bytes.count
            // What is said of a message of the client's is that it broke off.
            let isWhole =
                !message.isTruncated
                && (opcode == .ping || opcode == .close || message.detail == "")
            guard isWhole, size <= contentLimit else {
                throw Failure(
                    "messages-cut", party: .tool,
                    "the messages of exchange \(record.id) are not recorded whole, or too large")
            }
            if message.part > 0, let line = lines.indices.last {
                lines[line].content += message.bytes
                return true
            }
            lines.append(
                Line(
                    opcode, message.bytes,
                    code: opcode == .close ? UInt16(message.detail.prefix { $0 != " " }) : nil,
                    awaited: awaited, awaitsClose: hasOriginClosed,
                    patience: Self.patience(from: last, to: message.at)))
            last = message.at
            patience = Self.standardPatience
            return true
        }
    }

    /// As long as it took in the recording, and what a person would wait.
    private static func patience(from start: Timestamp, to end: Timestamp) -> UInt64 {
        RecordedPatience.milliseconds(from: start, to: end) + standardPatience
    }

    /// In bytes, of all that the origin may say: a file's word for a size is not taken.
    private static let sizeLimit: UInt64 = 1 << 40
    /// In bytes, twice what each message counts beside its content.
    private static let messageRoom: UInt64 = 32
    /// In milliseconds.
    private static let standardPatience: UInt64 = 10_000

    private static func opcode(of kind: MessageRecord.Kind) -> WebSocketOpcode? {
        switch kind {
        case .text: .text
        case .binary: .binary
        case .ping: .ping
        case .close: .close
        // A pong answers the ping of another time.
        case .pong, .segment, .grpc, .event, .frame, .datagram: nil
        }
    }
}
