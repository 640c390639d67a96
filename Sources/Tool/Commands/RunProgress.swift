internal import Base
internal import Synchronization

/// How far a run has come, on a terminal.
final class RunProgress: Sendable {
    private struct State {
        var bar: ProgressBar?
        /// Whether nobody looks any more; the report tells all of it in the end.
        var isUnseen = false
    }

    private let title: String
    private let environment: Environment
    private let state = Mutex(State())

    init(_ title: String, _ environment: Environment) {
        self.title = title
        self.environment = environment
    }

    /// Removes the bar once all is done.
    func advance(to done: Int64, of total: Int64) {
        state.withLock { state in
            guard !state.isUnseen else { return }
            var bar =
                state.bar
                ?? ProgressBar(
                    title, total: total, on: environment.diagnostics,
                    clock: environment.clock)
            do throws(Failure) {
                if done < total { try bar.advance(to: done) } else { try bar.finish() }
            } catch {
                state.isUnseen = true
            }
            state.bar = bar
        }
    }

    func finish() throws(Failure) {
        try state.withLock { state throws(Failure) in try state.bar?.finish() }
    }
}
