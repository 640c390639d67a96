internal import Synchronization
internal import Traffic

/// What waits to be written: filled by the event loops, emptied by the writer's thread.
final class EventQueue: Sendable {
    /// What one call of `submit` brought.
    struct Batch: Sendable {
        let events: [TrafficEvent]
        /// In bytes.
        let weight: Int
    }

    private struct State {
        var batches: [Batch] = []
        /// What waits and what the writer has taken and not yet written, in bytes.
        var byteCount = 0
        var isWriterAsleep = false
        var isClosed = false
        var resumptions: [@Sendable () -> Void] = []

        /// Whether the caller has to raise the signal; only the first of many has.
        mutating func wakeWriter() -> Bool {
            defer { isWriterAsleep = false }
            return isWriterAsleep
        }
    }

    private let state = Mutex(State())
    private let congested = Atomic(false)
    private let wake = WakeSignal()
    private let congestedAbove: Int
    private let roomBelow: Int
    private let gatheringMicroseconds: Int64

    init(byteLimit: Int, gatheringMicroseconds: Int64) {
        congestedAbove = byteLimit / 4 * 3
        roomBelow = byteLimit / 2
        self.gatheringMicroseconds = gatheringMicroseconds
    }

    // MARK: The loops' side

    var isCongested: Bool { congested.load(ordering: .relaxed) }

    /// Adds events, unless the queue is closed.
    func append(_ events: [TrafficEvent]) {
        var weight = 0
        for index in events.indices { weight += events[index].weight }
        let batch = Batch(events: events, weight: weight)
        let mustWake = state.withLock { state in
            guard !state.isClosed else { return false }
            state.batches.append(batch)
            state.byteCount += weight
            if state.byteCount > congestedAbove { congested.store(true, ordering: .relaxed) }
            return state.wakeWriter()
        }
        if mustWake { wake.raise() }
    }

    /// Calls `resume` once there is room: at once if there is.
    func whenRoom(_ resume: @escaping @Sendable () -> Void) {
        let hasRoom = state.withLock { state in
            guard congested.load(ordering: .relaxed) else { return true }
            state.resumptions.append(resume)
            return false
        }
        if hasRoom { resume() }
    }

    /// Takes nothing more; the writer gets what waits, and then `nil`.
    func close() {
        let mustWake = state.withLock { state in
            state.isClosed = true
            return state.wakeWriter()
        }
        if mustWake { wake.raise() }
    }

    // MARK: The writer's side

    /// All that waits, in order. Sleeps while nothing does; `nil` once closed and empty.
    func take() -> [Batch]? {
        while true {
            let (batches, isClosed) = state.withLock { state in
                var taken: [Batch] = []
                swap(&taken, &state.batches)
                state.isWriterAsleep = taken.isEmpty && !state.isClosed
                return (taken, state.isClosed)
            }
            if !batches.isEmpty { return batches }
            if isClosed { return nil }
            wake.wait(lowering: true)
            gather()
        }
    }

    var isEmpty: Bool { state.withLock(\.batches.isEmpty) }

    /// Tells that a batch of this weight is done with.
    func release(weight: Int) {
        let resumptions = state.withLock { state in
            state.byteCount -= weight
            var ready: [@Sendable () -> Void] = []
            if state.byteCount < roomBelow, congested.load(ordering: .relaxed) {
                congested.store(false, ordering: .relaxed)
                swap(&ready, &state.resumptions)
            }
            return ready
        }
        for resume in resumptions { resume() }
    }

    /// After a pause of the traffic, lets some events come together, unless there is much already.
    private func gather() {
        let isUrgent = state.withLock { $0.isClosed || $0.byteCount > urgentBytes }
        if !isUrgent, gatheringMicroseconds > 0 { pause(microseconds: gatheringMicroseconds) }
    }
}

/// From this many bytes on, writing starts without a wait.
private let urgentBytes = 1 << 20
