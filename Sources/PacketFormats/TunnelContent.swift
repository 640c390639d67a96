internal import Base
internal import Traffic

/// The content behind a 101, in the order of its messages: the bytes of both directions are stored
/// apart, and the messages tell which came when.
final class TunnelContent {
    private var cursors: [BodyCursor]
    /// By `Direction.rawValue`: the messages of both classes that were told, and the frames that passed.
    private var told: [[Int]] = [[0, 0], [0, 0]]
    private var passed: [[Int]] = [[0, 0], [0, 0]]

    init(_ source: any TrafficSource, exchange: Int64) {
        cursors = [.request, .response].map { BodyCursor(source, exchange: exchange, $0) }
    }

    /// Hands over the bytes up to the end of a message.
    func pass(
        _ message: MessageRecord, _ take: (Direction, [UInt8]) throws -> Void
    ) throws {
        guard message.isLast else { return }
        let side = message.direction.rawValue
        let isControl: Bool
        switch message.kind {
        case .segment:
            return try copy(message.size, message.direction, take)
        case .text, .binary: isControl = false
        case .ping, .pong, .close: isControl = true
        case .grpc, .event, .frame: return
        }
        let kind = isControl ? 1 : 0
        told[side][kind] += 1
        while passed[side][kind] < told[side][kind] {
            guard let frame = try frame(side) else { return }
            try copy(frame.size, message.direction, take)
            if frame.isControl {
                passed[side][1] += 1
            } else if frame.isFinal {
                passed[side][0] += 1
            }
        }
    }

    /// Hands over what is left.
    func passRest(_ take: (Direction, [UInt8]) throws -> Void) throws {
        try copy(.max, .request, take)
        try copy(.max, .response, take)
    }

    private func copy(
        _ size: Int64, _ direction: Direction, _ take: (Direction, [UInt8]) throws -> Void
    ) throws {
        var left = size
        while left > 0 {
            let bytes = try cursors[direction.rawValue].take(Int(min(left, 1 << 16)))
            guard !bytes.isEmpty else { return }
            left -= Int64(bytes.count)
            try take(direction, bytes)
        }
    }

    /// Looks at the next frame (RFC 6455 §5.2) without taking it.
    private func frame(_ side: Int) throws -> (size: Int64, isControl: Bool, isFinal: Bool)? {
        let head = try cursors[side].peek(10)
        guard head.count >= 2 else { return nil }
        let short = Int64(head[1] & 0x7F)
        let extra = short == 126 ? 2 : short == 127 ? 8 : 0
        guard head.count >= 2 + extra else { return nil }
        let length =
            extra == 0 ? short : head[2..<2 + extra].reduce(0) { $0 << 8 | Int64($1) }
        guard length >= 0, length < .max - 16 else { return nil }
        let maskLength: Int64 = head[1] & 0x80 == 0 ? 0 : 4
        return (
            Int64(2 + extra) + maskLength + length, head[0] & 8 != 0, head[0] & 0x80 != 0
        )
    }
}

/// Reads one content forwards, a part at a time.
struct BodyCursor {
    private let source: any TrafficSource
    private let exchange: Int64
    private let direction: Direction
    private var offset: Int64 = 0
    private var part: ArraySlice<UInt8> = []
    private var isAtEnd = false

    init(_ source: any TrafficSource, exchange: Int64, _ direction: Direction) {
        self.source = source
        self.exchange = exchange
        self.direction = direction
    }

    /// Up to `count` bytes, which stay.
    mutating func peek(_ count: Int) throws -> [UInt8] {
        while part.count < count, !isAtEnd { try fill() }
        return [UInt8](part.prefix(count))
    }

    /// Up to `count` bytes; none at the end.
    mutating func take(_ count: Int) throws -> [UInt8] {
        let bytes = try peek(count)
        part = part.dropFirst(bytes.count)
        return bytes
    }

    private mutating func fill() throws {
        var next: [UInt8] = []
        try source.body(ofExchange: exchange, direction, from: offset) { bytes in
            next = bytes
            return next.isEmpty
        }
        offset += Int64(next.count)
        isAtEnd = next.isEmpty
        part = ArraySlice([UInt8](part) + next)
    }
}
