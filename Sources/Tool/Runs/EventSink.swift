internal import Synchronization
internal import Traffic

/// Passes records on to the store, if there is one, and tells of them.
final class EventSink: TrafficSink {
    private let store: (any TrafficSink)?
    private let events: RunEvents
    /// What has ended, and so has its last record.
    private let connections = Atomic<Int64>(0)
    private let exchanges = Atomic<Int64>(0)

    init(_ store: (any TrafficSink)?, _ events: RunEvents) {
        self.store = store
        self.events = events
    }

    /// How many of both have ended.
    var counts: (connections: Int64, exchanges: Int64) {
        (connections.load(ordering: .relaxed), exchanges.load(ordering: .relaxed))
    }

    var isCongested: Bool { store?.isCongested ?? false }

    func whenRoom(_ resume: @escaping @Sendable () -> Void) {
        if let store { store.whenRoom(resume) } else { resume() }
    }

    func submit(_ records: [TrafficEvent]) {
        store?.submit(records)
        for record in records {
            switch record {
            case .connection(let record) where record.closedAt != nil:
                connections.wrappingAdd(1, ordering: .relaxed)
            case .exchange(let snapshot) where snapshot.record.durationMicroseconds != nil:
                exchanges.wrappingAdd(1, ordering: .relaxed)
            default: break
            }
        }
        guard !events.isUnheard else { return }
        events.publish(
            records.compactMap { record in
                if case .bodyChunk = record { nil } else { .traffic(record) }
            })
    }
}
