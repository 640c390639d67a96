internal import Base
internal import Synchronization

/// How many probes are done, on a terminal.
final class AuditProgress: Sendable {
    private let state: Mutex<State>

    private struct State {
        var bar: ProgressBar
        var done: Int64 = 0
        /// Whether nobody looks any more; the report tells all of it in the end.
        var isUnseen = false
    }

    init(total: Int, _ environment: Environment) {
        state = Mutex(
            State(
                bar: ProgressBar(
                    "auditing", total: Int64(total), on: environment.diagnostics,
                    clock: environment.clock)))
    }

    func advance() {
        state.withLock { state in
            state.done += 1
            guard !state.isUnseen else { return }
            do throws(Failure) {
                try state.bar.advance(to: state.done)
            } catch {
                state.isUnseen = true
            }
        }
    }

    func finish() throws(Failure) {
        try state.withLock { state throws(Failure) in try state.bar.finish() }
    }
}
