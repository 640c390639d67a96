internal import Traffic

/// Passes records on to the store, if there is one, and tells of them.
final class EventSink: TrafficSink {
    private let store: (any TrafficSink)?
    private let events: RunEvents

    init(_ store: (any TrafficSink)?, _ events: RunEvents) {
        self.store = store
        self.events = events
    }

    var isCongested: Bool { store?.isCongested ?? false }

    func whenRoom(_ resume: @escaping @Sendable () -> Void) {
        if let store { store.whenRoom(resume) } else { resume() }
    }

    func submit(_ records: [TrafficEvent]) {
        store?.submit(records)
        guard !events.isUnheard else { return }
        events.publish(
            records.compactMap { record in
                if case .bodyChunk = record { nil } else { .traffic(record) }
            })
    }
}
