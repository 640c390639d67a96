package import Sockets
internal import Synchronization

/// The wish that a server stops, and who has to hear of it.
package final class Shutdown: Sendable {
    /// How long connections may still take, in milliseconds.
    package let grace: UInt64
    private let state = Mutex(State())

    private struct State {
        var isRequested = false
        var actions: [@Sendable () -> Void] = []
    }

    package init(grace: UInt64 = 5_000) {
        self.grace = grace
    }

    /// Calls `action` on a loop once the stop is asked for, or at once if it was.
    package func onRequest(on loop: EventLoop, _ action: @escaping @Sendable () -> Void) {
        let hop: @Sendable () -> Void = { loop.execute(action) }
        let isRequested = state.withLock { state in
            if !state.isRequested { state.actions.append(hop) }
            return state.isRequested
        }
        if isRequested { hop() }
    }

    /// Asks for the stop; from any thread, and as often as one likes.
    package func request() {
        let actions = state.withLock { state in
            state.isRequested = true
            defer { state.actions = [] }
            return state.actions
        }
        for action in actions { action() }
    }
}
