package import Replay
internal import Synchronization
package import Traffic

/// What a run tells while it goes on.
package enum RunEvent: Sendable {
    /// A connection, an exchange or a message as it now stands; contents are in the capture.
    case traffic(TrafficEvent)
    /// A request that a replay has no response for.
    case miss(ReplayMiss)
    /// Something besides the result.
    case note(String)
    /// What can be done about what was told.
    case hint(String)
    /// How much of the work is done.
    case progress(done: Int64, total: Int64)
    /// The servers of an audit are there.
    case listening(AuditPlaces)
    /// So many events were dropped, because they were not taken in time.
    case lagged(Int)
}

/// Hands the events of a run to everyone who subscribed, without ever waiting for them.
package final class RunEvents: Sendable {
    private struct State {
        var subscriptions: [RunSubscription] = []
        var isFinished = false
    }

    private let state = Mutex(State())
    private let count = Atomic(0)

    package init() {}

    /// - Parameter limit: how many events may wait to be taken; more are dropped and counted.
    package func subscribe(limit: Int = 4096) -> RunSubscription {
        let subscription = RunSubscription(limit: limit)
        let isFinished = state.withLock { state in
            state.subscriptions.append(subscription)
            return state.isFinished
        }
        count.wrappingAdd(1, ordering: .relaxed)
        if isFinished { subscription.finish() }
        return subscription
    }

    /// Whether nobody would take an event.
    var isUnheard: Bool { count.load(ordering: .relaxed) == 0 }

    func publish(_ event: RunEvent) { publish([event]) }

    func publish(_ events: [RunEvent]) {
        guard !isUnheard, !events.isEmpty else { return }
        for subscription in state.withLock(\.subscriptions) { subscription.add(events) }
    }

    /// Ends every subscription once it has taken what waits.
    package func finish() {
        let subscriptions = state.withLock { state in
            state.isFinished = true
            return state.subscriptions
        }
        for subscription in subscriptions { subscription.finish() }
    }
}

/// The events of a run as one subscriber takes them.
package final class RunSubscription: Sendable {
    private struct State {
        var waiting: [RunEvent] = []
        var dropped = 0
        var isFinished = false
        var resume: CheckedContinuation<Void, Never>?
    }

    private let limit: Int
    private let state = Mutex(State())

    init(limit: Int) {
        self.limit = limit
    }

    func add(_ events: [RunEvent]) {
        wake { state in
            let room = max(0, limit - state.waiting.count)
            state.waiting += events.prefix(room)
            state.dropped += max(0, events.count - room)
        }
    }

    func finish() {
        wake { $0.isFinished = true }
    }

    private func wake(_ change: (inout State) -> Void) {
        let resume = state.withLock { state in
            change(&state)
            return state.resume.take()
        }
        resume?.resume()
    }

    /// Waits for events and takes all that wait; one task at a time.
    ///
    /// - Returns: `nil` once the run has ended.
    package func next() async -> [RunEvent]? {
        while true {
            let (events, isFinished) = state.withLock { state in
                var events = state.waiting
                if state.dropped > 0 { events.append(.lagged(state.dropped)) }
                state.waiting = []
                state.dropped = 0
                return (events, state.isFinished)
            }
            if !events.isEmpty { return events }
            if isFinished { return nil }
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    let isReady = !state.waiting.isEmpty || state.dropped > 0 || state.isFinished
                    if !isReady { state.resume = continuation }
                    return isReady
                }
                if isReady { continuation.resume() }
            }
        }
    }
}
