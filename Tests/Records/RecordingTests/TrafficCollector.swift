import Synchronization
import Traffic

/// Keeps what is recorded, and can play a store that is behind.
final class TrafficCollector: TrafficSink {
    private struct State {
        var batches: [[TrafficEvent]] = []
        var isCongested = false
        var resumptions: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())

    var batches: [[TrafficEvent]] { state.withLock(\.batches) }

    var events: [TrafficEvent] { batches.flatMap(\.self) }

    /// The pieces of a content that went ahead of its record.
    func chunks(_ direction: Direction) -> [[UInt8]] {
        events.compactMap { event in
            guard case .bodyChunk(_, direction, _, let bytes) = event else { return nil }
            return bytes
        }
    }

    var messages: [MessageRecord] {
        events.compactMap { if case .message(let snapshot) = $0 { snapshot.record } else { nil } }
    }

    func submit(_ events: [TrafficEvent]) { state.withLock { $0.batches.append(events) } }

    var isCongested: Bool { state.withLock(\.isCongested) }

    func whenRoom(_ resume: @escaping @Sendable () -> Void) {
        let isFree = state.withLock { state in
            if state.isCongested { state.resumptions.append(resume) }
            return !state.isCongested
        }
        if isFree { resume() }
    }

    var isAwaited: Bool { state.withLock { !$0.resumptions.isEmpty } }

    func congest() { state.withLock { $0.isCongested = true } }

    func relieve() {
        let resumptions = state.withLock { state in
            state.isCongested = false
            defer { state.resumptions = [] }
            return state.resumptions
        }
        for resume in resumptions { resume() }
    }
}
