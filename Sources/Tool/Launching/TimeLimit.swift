internal import Base
internal import Glibc
package import Sockets
internal import Synchronization

/// Ends a command that takes too long: asks first, and then does not.
///
/// `@unchecked Sendable`: the timer is used on its loop's thread, the rest under the lock.
package final class TimeLimit: @unchecked Sendable {
    private let loop: EventLoop
    private let milliseconds: UInt64
    private let beforeEnding: @Sendable () -> Void
    private let state = Mutex(State())
    private var timer: LoopTimer?

    private struct State {
        var child: ChildProcess?
        var hasPassed = false
    }

    package init(
        _ loop: EventLoop, _ limit: Duration, beforeEnding: @escaping @Sendable () -> Void
    ) {
        self.loop = loop
        self.beforeEnding = beforeEnding
        milliseconds = UInt64(max(1, limit / .milliseconds(1)))
    }

    package var hasPassed: Bool { state.withLock(\.hasPassed) }

    package func begin(_ child: ChildProcess) {
        state.withLock { $0.child = child }
        loop.execute { [self] in
            let timer = loop.makeTimer { [weak self] in self?.pass() }
            self.timer = timer
            loop.set(timer, due: loop.now + milliseconds)
        }
    }

    private func pass() {
        state.withLock { state in
            guard let child = state.child else { return }
            if !state.hasPassed { beforeEnding() }
            child.program.send(state.hasPassed ? SIGKILL : SIGTERM)
            state.hasPassed = true
        }
        if let timer { loop.set(timer, due: loop.now + Self.grace) }
    }

    /// The command has ended.
    package func end() {
        state.withLock { $0.child = nil }
        loop.execute { [self] in timer = nil }
    }

    /// In milliseconds, between the request and the end.
    private static let grace: UInt64 = 2_000
}
