internal import Base
internal import Synchronization
internal import Traffic

/// What an import writes, in memory; it can be read again by exports.
final class MemoryCapture: TrafficSink, TrafficSource {
    private struct Content {
        var connections: [Int64: ConnectionRecord] = [:]
        var exchanges: [Int64: ExchangeRecord] = [:]
        var chunks: [Int64: [2 of [[UInt8]]]] = [:]
        var messages: [Int64: [MessageRecord]] = [:]
        var weight = 0
    }

    private let content = Mutex(Content())

    var weight: Int { content.withLock { $0.weight } }

    // MARK: Writing

    func submit(_ events: [TrafficEvent]) {
        content.withLock { content in
            for event in events {
                content.weight += event.weight
                switch event {
                case .connection(let record): content.connections[record.id] = record
                case .exchange(let snapshot):
                    content.exchanges[snapshot.record.id] = snapshot.record
                case .bodyChunk(let exchange, let direction, _, let bytes):
                    content.chunks[exchange, default: [[], []]][direction.rawValue].append(bytes)
                case .message(let snapshot):
                    content.messages[snapshot.record.connection, default: []]
                        .append(snapshot.record)
                }
            }
        }
    }

    var isCongested: Bool { false }
    func whenRoom(_ resume: @escaping @Sendable () -> Void) { resume() }

    // MARK: Reading

    func connections(_ visit: (ConnectionRecord) throws -> Bool) throws {
        let records = content.withLock { $0.connections }
        for (_, record) in records.sorted(by: { $0.key < $1.key }) {
            guard try visit(record) else { return }
        }
    }

    func exchanges(_ visit: (ExchangeRecord) throws -> Bool) throws {
        let records = content.withLock { $0.exchanges }
        for (_, record) in records.sorted(by: { $0.key < $1.key }) {
            guard try visit(record) else { return }
        }
    }

    func exchange(_ id: Int64) throws -> ExchangeRecord? { content.withLock { $0.exchanges[id] } }

    func body(
        ofExchange id: Int64, _ direction: Direction, _ visit: ([UInt8]) throws -> Bool
    ) throws {
        let (record, chunks) = content.withLock { ($0.exchanges[id], $0.chunks[id]) }
        for chunk in chunks?[direction.rawValue] ?? [] { guard try visit(chunk) else { return } }
        let body = direction == .request ? record?.requestBody : record?.responseBody
        if let bytes = body?.bytes, !bytes.isEmpty { _ = try visit(bytes) }
    }

    func messages(
        ofConnection id: Int64, exchange: Int64?, _ visit: (MessageRecord) throws -> Bool
    ) throws {
        let records = content.withLock { $0.messages[id] ?? [] }
        for record in records where exchange == nil || record.exchange == exchange {
            guard try visit(record) else { return }
        }
    }

    // MARK: Looking

    /// Notes what was written, but for how it was cut into parts.
    func note(in transcript: inout Transcript) {
        let content = content.withLock { $0 }
        for (_, record) in content.connections.sorted(by: { $0.key < $1.key }) {
            var record = record
            record.messageCount = 0
            transcript.note("connection", text: "\(record)")
        }
        for (_, record) in content.exchanges.sorted(by: { $0.key < $1.key }) {
            transcript.note("exchange", Int(record.id), record.status)
            transcript.note("request", record.requestHead)
            transcript.note("response", record.responseHead)
            transcript.note("error", text: record.error ?? "")
            transcript.note("size", Int(record.requestBody.size), Int(record.responseBody.size))
            for chunk in content.chunks[record.id]?[0] ?? [] { transcript.append(chunk.span) }
            transcript.append(record.requestBody.bytes.span)
            for chunk in content.chunks[record.id]?[1] ?? [] { transcript.append(chunk.span) }
            transcript.append(record.responseBody.bytes.span)
        }
        for (_, records) in content.messages.sorted(by: { $0.key < $1.key }) {
            for record in records { transcript.append(record.bytes.span) }
        }
    }
}
