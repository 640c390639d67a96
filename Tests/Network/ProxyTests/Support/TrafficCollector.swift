import Base
import Dispatch
import Synchronization
import Traffic

/// Keeps what a proxy records, in the order it came.
final class TrafficCollector: TrafficSink {
    struct Content {
        var connections: [Int64: [ConnectionRecord]] = [:]
        var exchanges: [Int64: [ExchangeRecord]] = [:]
        var chunks: [Int64: [Direction: [[UInt8]]]] = [:]
        /// Of all body chunks, in bytes, also if they are not kept.
        var chunkBytes = 0
        var messages: [Int64: [MessageRecord]] = [:]
        /// What contradicts the contract of the sink.
        var contradictions: [String] = []

        var finalConnections: [ConnectionRecord] {
            connections.values.compactMap(\.last).filter { $0.closedAt != nil }
                .sorted { $0.id < $1.id }
        }

        var finalExchanges: [ExchangeRecord] {
            exchanges.values.compactMap(\.last).filter { $0.durationMicroseconds != nil }
                .sorted { $0.id < $1.id }
        }
    }

    private struct State {
        var content = Content()
        var isCongested = false
        var waiting: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())
    private let news = DispatchSemaphore(value: 0)
    private let keepsChunks: Bool

    init(keepsChunks: Bool = true) {
        self.keepsChunks = keepsChunks
    }

    // MARK: Sink

    func submit(_ events: [TrafficEvent]) {
        state.withLock { state in
            for event in events { note(event, in: &state.content) }
        }
        news.signal()
    }

    private func note(_ event: TrafficEvent, in content: inout Content) {
        switch event {
        case .connection(let record):
            if content.connections[record.id]?.last?.closedAt != nil {
                content.contradictions.append("connection \(record.id) was told of after its end")
            }
            let known = content.connections[record.id]?.last
            content.connections[record.id, default: []].append(record.keeping(known))
        case .exchange(let snapshot):
            let record = snapshot.record
            if content.exchanges[record.id]?.last?.durationMicroseconds != nil {
                content.contradictions.append("exchange \(record.id) was told of after its end")
            }
            content.exchanges[record.id, default: []].append(record)
        case .message(let snapshot):
            if snapshot.record.at.microseconds == 0 {
                content.contradictions.append("message \(snapshot.record.number) has no time")
            }
            content.messages[snapshot.record.connection, default: []].append(snapshot.record)
        case .bodyChunk(let exchange, let direction, let sequence, let bytes):
            if content.exchanges[exchange]?.last?.durationMicroseconds != nil {
                content.contradictions.append("exchange \(exchange) got content after its end")
            }
            content.chunkBytes += bytes.count
            let known = content.chunks[exchange]?[direction]?.count ?? 0
            if known != sequence {
                content.contradictions.append(
                    "exchange \(exchange) got chunk \(sequence) behind \(known)")
            }
            content.chunks[exchange, default: [:]][direction, default: []]
                .append(keepsChunks ? bytes : [])
        }
    }

    var isCongested: Bool { state.withLock { $0.isCongested } }

    func whenRoom(_ resume: @escaping @Sendable () -> Void) {
        let isCongested = state.withLock { state in
            if state.isCongested { state.waiting.append(resume) }
            return state.isCongested
        }
        if !isCongested { resume() }
    }

    /// Makes the proxy wait, or go on.
    func setCongested(_ isCongested: Bool) {
        let waiting = state.withLock { state in
            state.isCongested = isCongested
            defer { if !isCongested { state.waiting = [] } }
            return isCongested ? [] : state.waiting
        }
        for resume in waiting { resume() }
    }

    // MARK: What tests ask

    var content: Content { state.withLock { $0.content } }

    /// Waits until `find` finds something.
    func wait<Found>(for what: String, _ find: (Content) -> Found?) throws -> Found {
        let deadline = DispatchTime.now() + .seconds(Wire.patience)
        while true {
            if let found = find(content) { return found }
            guard news.wait(timeout: deadline) == .success else {
                throw WireFailure("\(what) was not recorded in \(Wire.patience) s")
            }
        }
    }

    /// The exchange of this place in the order of their numbers, once it has ended.
    func exchange(_ place: Int = 0) throws -> ExchangeRecord {
        try wait(for: "exchange \(place)") { content in
            let ended = content.finalExchanges
            return ended.count > place ? ended[place] : nil
        }
    }

    /// The same of a connection.
    func connection(_ place: Int = 0) throws -> ConnectionRecord {
        try wait(for: "the end of connection \(place)") { content in
            let ended = content.finalConnections
            return ended.count > place ? ended[place] : nil
        }
    }

    /// The first ended connection that `isWanted` is true of.
    func connection(
        where isWanted: @escaping (ConnectionRecord) -> Bool
    ) throws -> ConnectionRecord {
        try wait(for: "the end of such a connection") { content in
            content.finalConnections.first(where: isWanted)
        }
    }

    /// The bytes of the first connection's segments, once it has ended.
    func segments() throws -> [Direction: [UInt8]] {
        let messages = content.messages[try connection().id] ?? []
        return messages.filter { $0.kind == .segment }
            .reduce(into: [:]) { $0[$1.direction, default: []] += $1.bytes }
    }

    /// The recorded content of one direction.
    func body(_ exchange: ExchangeRecord, _ direction: Direction) -> [UInt8] {
        let record = direction == .request ? exchange.requestBody : exchange.responseBody
        let chunks = content.chunks[exchange.id]?[direction] ?? []
        return chunks.flatMap { $0 } + record.bytes
    }
}

extension ConnectionRecord {
    /// With what was told of it before and is told once, as the capture keeps it.
    fileprivate func keeping(_ earlier: ConnectionRecord?) -> ConnectionRecord {
        var whole = self
        whole.clientTLS = clientTLS?.keeping(earlier?.clientTLS)
        whole.originTLS = originTLS?.keeping(earlier?.originTLS)
        return whole
    }
}

extension TLSRecord {
    fileprivate func keeping(_ earlier: TLSRecord?) -> TLSRecord {
        guard let earlier else { return self }
        var whole = self
        if chain.isEmpty { whole.chain = earlier.chain }
        if keyLog.isEmpty { whole.keyLog = earlier.keyLog }
        if clientHello.isEmpty { whole.clientHello = earlier.clientHello }
        return whole
    }
}
