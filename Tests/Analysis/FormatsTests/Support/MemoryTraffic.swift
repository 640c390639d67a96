import Base
import Synchronization
import Traffic

/// Traffic in memory, written and read like a capture.
final class MemoryTraffic: TrafficSink, TrafficSource {
    private struct Key: Hashable {
        let exchange: Int64
        let direction: Direction
    }

    private struct State {
        var connections: [Int64: ConnectionRecord] = [:]
        var exchanges: [Int64: ExchangeRecord] = [:]
        var contents: [Key: [[UInt8]]] = [:]
        var messages: [MessageRecord] = []
    }

    private let state = Mutex(State())

    func submit(_ events: [TrafficEvent]) {
        state.withLock { state in
            for event in events { Self.take(event, &state) }
        }
    }

    private static func take(_ event: TrafficEvent, _ state: inout State) {
        switch event {
        case .connection(var record):
            let earlier = state.connections[record.id]
            keep(earlier?.clientTLS, in: &record.clientTLS)
            keep(earlier?.originTLS, in: &record.originTLS)
            state.connections[record.id] = record
        case .message(let snapshot): state.messages.append(snapshot.record)
        case .bodyChunk(let exchange, let direction, _, let bytes):
            state.contents[Key(exchange: exchange, direction: direction), default: []].append(bytes)
        case .exchange(let snapshot):
            var record = snapshot.record
            let bodies = [record.requestBody.bytes, record.responseBody.bytes]
            for (direction, bytes) in zip([Direction.request, .response], bodies)
            where !bytes.isEmpty {
                state.contents[Key(exchange: record.id, direction: direction), default: []]
                    .append(bytes)
            }
            record.requestBody.bytes = []
            record.responseBody.bytes = []
            state.exchanges[record.id] = record
        }
    }

    /// What a later record leaves empty stays as it was told.
    private static func keep(_ earlier: TLSRecord?, in record: inout TLSRecord?) {
        guard let earlier, var merged = record else { return }
        if merged.clientHello.isEmpty { merged.clientHello = earlier.clientHello }
        if merged.chain.isEmpty { merged.chain = earlier.chain }
        if merged.keyLog.isEmpty { merged.keyLog = earlier.keyLog }
        record = merged
    }

    var isCongested: Bool { false }

    func whenRoom(_ resume: @escaping @Sendable () -> Void) { resume() }

    func connections(_ visit: (ConnectionRecord) throws -> Bool) throws {
        for (_, record) in state.withLock(\.connections).sorted(by: { $0.key < $1.key }) {
            guard try visit(record) else { return }
        }
    }

    func exchanges(_ visit: (ExchangeRecord) throws -> Bool) throws {
        for (_, record) in state.withLock(\.exchanges).sorted(by: { $0.key < $1.key }) {
            guard try visit(record) else { return }
        }
    }

    func exchange(_ id: Int64) throws -> ExchangeRecord? { state.withLock { $0.exchanges[id] } }

    func body(
        ofExchange id: Int64, _ direction: Direction, _ visit: ([UInt8]) throws -> Bool
    ) throws {
        let parts = state.withLock { $0.contents[Key(exchange: id, direction: direction)] ?? [] }
        for part in parts {
            // Odd pieces, so that base64 and characters are split.
            for start in stride(from: 0, to: part.count, by: 65_537) {
                guard try visit(Array(part[start..<min(start + 65_537, part.count)])) else {
                    return
                }
            }
        }
    }

    func messages(
        ofConnection id: Int64, exchange: Int64?, _ visit: (MessageRecord) throws -> Bool
    ) throws {
        let records = state.withLock(\.messages).filter {
            $0.connection == id && (exchange == nil || $0.exchange == exchange)
        }.sorted { ($0.number, $0.part) < ($1.number, $1.part) }
        for record in records where try !visit(record) { return }
    }

    func content(_ exchange: Int64, _ direction: Direction) -> [UInt8] {
        chunks(exchange, direction).flatMap(\.self)
    }

    /// A content as it was cut.
    func chunks(_ exchange: Int64, _ direction: Direction) -> [[UInt8]] {
        state.withLock { $0.contents[Key(exchange: exchange, direction: direction)] ?? [] }
    }

    /// Everything that is held, a record a line; how contents and messages are cut does not show.
    func description() throws -> [String] {
        var lines: [String] = []
        try connections { record in
            lines.append("\(record)")
            return true
        }
        try exchanges { record in
            var record = record
            record.requestBody.chunkCount = 0
            record.responseBody.chunkCount = 0
            lines.append("\(record)")
            for direction in [Direction.request, .response] {
                let bytes = content(record.id, direction)
                lines.append("content \(record.id) \(direction) \(bytes.count) \(bytes.hashValue)")
            }
            return true
        }
        var messages: [String: MessageRecord] = [:]
        for record in state.withLock(\.messages) {
            let key = "\(record.connection) \(record.number)"
            var whole = messages[key] ?? record
            if messages[key] != nil {
                whole.bytes += record.bytes
                whole.size += record.size
                whole.at = record.at
            }
            whole.isLast = record.isLast
            messages[key] = whole
        }
        return lines + messages.sorted { $0.key < $1.key }.map { "\($0.value)" }
    }

}
