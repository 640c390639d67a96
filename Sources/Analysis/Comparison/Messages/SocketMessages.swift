internal import Base
internal import Contents
internal import Redaction
internal import Traffic

/// The messages of a recorded WebSocket, by direction.
///
/// Pings and pongs come when they come and are left out, and so are the pieces of a stream whose
/// protocol is not understood, which tell how it was read.
struct SocketMessages {
    private(set) var request = ComparedMessages()
    private(set) var response = ComparedMessages()

    /// Reads the messages up to the limits.
    ///
    /// Errors: those of the source.
    init(
        of exchange: ExchangeRecord, in source: any TrafficSource,
        _ configuration: ComparisonConfiguration
    ) throws {
        guard exchange.leavesHTTP else { return }
        var redaction = try MessageRedaction(
            of: try source.connection(exchange.connection), exchange: exchange.id, in: source)
        var room = [Direction.request: configuration.contentLimit]
        room[.response] = configuration.contentLimit
        var number: Int64?
        try Self.visit(exchange, source) { part in
            let isNew = number != part.number
            number = part.number
            let left = room[part.direction, default: 0] - part.bytes.count
            room[part.direction] = left
            let list = part.direction == .request ? \Self.request : \Self.response
            let isPast = self[keyPath: list].restCount > 0
            let isOver =
                left < 0 || self[keyPath: list].messages.count >= configuration.messageLimit
            if isPast || isNew && isOver {
                self[keyPath: list].appendToRest(
                    part.bytes, size: part.size, isNew: isNew, sha256: configuration.sha256)
                return
            }
            if isNew { self[keyPath: list].messages.append(ComparedMessage(part)) }
            let last = self[keyPath: list].messages.count - 1
            self[keyPath: list].messages[last].append(
                part, isOver: left < 0,
                shown: configuration.withSecrets
                    ? part.bytes : redaction.redact(part.bytes, of: part))
        }
    }

    /// What the messages of each direction hold, as hashes; `nil` if there are none.
    ///
    /// Errors: those of the source.
    static func hashes(
        of exchange: ExchangeRecord, in source: any TrafficSource
    ) throws -> (request: Int, response: Int)? {
        guard exchange.leavesHTTP else { return nil }
        var hashers = (request: Hasher(), response: Hasher())
        var isEmpty = true
        try visit(exchange, source) { part in
            isEmpty = false
            if part.direction == .request {
                part.hash(into: &hashers.request)
            } else {
                part.hash(into: &hashers.response)
            }
        }
        return isEmpty ? nil : (hashers.request.finalize(), hashers.response.finalize())
    }

    private static func visit(
        _ exchange: ExchangeRecord, _ source: any TrafficSource, _ body: (MessageRecord) -> Void
    ) throws {
        try source.messages(ofConnection: exchange.connection, exchange: exchange.id) { part in
            switch part.kind {
            case .text, .binary, .close: body(part)
            case .ping, .pong, .segment, .grpc, .event, .frame, .datagram: break
            }
            return true
        }
    }
}

extension ComparedMessage {
    fileprivate init(_ part: MessageRecord) {
        self.init(part.kind)
        if part.kind == .close, !part.detail.isEmpty {
            labels = [Label(name: "close", value: part.detail)]
        }
    }

    fileprivate mutating func append(_ part: MessageRecord, isOver: Bool, shown: [UInt8]) {
        size = size.addingSaturated(part.size)
        guard isWhole, !part.isTruncated, !isOver else { return passOver(part.bytes) }
        if shown != part.bytes || masked != nil { masked = (masked ?? bytes) + shown }
        bytes += part.bytes
    }
}

extension MessageRecord {
    fileprivate func hash(into hasher: inout Hasher) {
        if part == 0 {
            hasher.combine(kind)
            hasher.combine(detail)
        }
        unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
        hasher.combine(size)
        hasher.combine(isLast)
    }
}
