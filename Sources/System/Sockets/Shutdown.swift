internal import Synchronization

/// The wish that a server stops, and who has to hear of it.
package final class Shutdown: Sendable {
    private let grace: UInt64
    private let state = Mutex(State())

    private struct State {
        /// In milliseconds, once the stop was asked for.
        var grace: UInt64?
        var actions: [@Sendable (UInt64) -> Void] = []
    }

    /// - Parameter grace: how long connections may still take, in milliseconds.
    package init(grace: UInt64 = 5_000) {
        self.grace = grace
    }

    /// Calls `action` on a loop once the stop is asked for, or at once if it was.
    package func onRequest(
        on loop: EventLoop, _ action: @escaping @Sendable (_ grace: UInt64) -> Void
    ) {
        let hop: @Sendable (UInt64) -> Void = { grace in loop.execute { action(grace) } }
        let grace = state.withLock { state in
            if state.grace == nil { state.actions.append(hop) }
            return state.grace
        }
        if let grace { hop(grace) }
    }

    /// Asks for the stop; from any thread, and as often as one likes: the first time counts.
    ///
    /// - Parameter grace: in the place of the one that it was made with.
    package func request(grace: UInt64? = nil) {
        let (actions, grace) = state.withLock { state in
            let grace = state.grace ?? grace ?? self.grace
            state.grace = grace
            defer { state.actions = [] }
            return (state.actions, grace)
        }
        for action in actions { action(grace) }
    }
}
