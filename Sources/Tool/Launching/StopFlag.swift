package import Base
internal import Synchronization

/// Whether a signal asked for the end, for a command that works in a loop and has something to put
/// in order before it ends.
package final class StopFlag: Sendable {
    private let isRaised = Atomic(false)

    package init() {}

    /// The one that the process's first signal raises; a second one, a second later or more, ends
    /// the process at once. What the caller ignores stays ignored.
    ///
    /// Errors: `no-signals`.
    package static func ofSignals() throws(Failure) -> StopFlag {
        try signalled.get()
    }

    private static let signalled = Result { () throws(Failure) in
        let flag = StopFlag()
        try StopSignals(keepsIgnored: true).watch(onStop: { _ in flag.raise() }, onTick: {})
        return flag
    }

    package func raise() {
        isRaised.store(true, ordering: .relaxed)
    }

    /// Errors: `interrupted`, once it was raised.
    package func check() throws(Failure) {
        guard isRaised.load(ordering: .relaxed) else { return }
        throw Failure("interrupted", party: .tool, "stopped by a signal before the end")
    }
}
