package import Base
internal import Synchronization

/// How far a run has come, on a terminal.
package final class RunProgress: Sendable {
    private struct State {
        var bar: ProgressBar?
        /// Whether nobody looks any more; the report tells all of it in the end.
        var isUnseen = false
    }

    private let title: String
    private let console: Console
    private let state = Mutex(State())

    package init(_ title: String, on console: Console) {
        self.title = title
        self.console = console
    }

    /// Removes the bar once all is done.
    package func advance(to done: Int64, of total: Int64) {
        state.withLock { state in
            guard !state.isUnseen else { return }
            var bar =
                state.bar
                ?? ProgressBar(
                    title, total: total, on: console.diagnostics,
                    clock: console.clock)
            do throws(Failure) {
                if done < total { try bar.advance(to: done) } else { try bar.finish() }
            } catch {
                state.isUnseen = true
            }
            state.bar = bar
        }
    }

    package func finish() throws(Failure) {
        try state.withLock { state throws(Failure) in try state.bar?.finish() }
    }
}
