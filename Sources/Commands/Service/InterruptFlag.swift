internal import Base
internal import Glibc
internal import Synchronization

/// SIGINT and SIGTERM as a flag, for a command that works in a loop and has something to put in
/// order before it ends. A second signal ends the process at once.
enum InterruptFlag {
    /// Takes the signals over for the whole process, but for one that the caller ignores.
    static func install() {
        isRaised.store(false, ordering: .relaxed)
        for number in [SIGINT, SIGTERM] {
            var action = sigaction()
            action.sa_flags = SA_RESTART | Int32(truncatingIfNeeded: SA_RESETHAND)
            // Only what POSIX allows in a handler.
            unsafe action.__sigaction_handler.sa_handler = { _ in
                isRaised.store(true, ordering: .relaxed)
            }
            var before = sigaction()
            unsafe sigaction(number, nil, &before)
            if isIgnored(before) { continue }
            unsafe sigaction(number, &action, nil)
        }
    }

    /// Errors: `interrupted`, once a signal came.
    static func check() throws(Failure) {
        guard isRaised.load(ordering: .relaxed) else { return }
        throw Failure("interrupted", party: .tool, "stopped by a signal before the end")
    }

    private static func isIgnored(_ action: sigaction) -> Bool {
        let ignoring = unsafe unsafeBitCast(SIG_IGN, to: Int.self)
        return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == ignoring
    }
}

private let isRaised = Atomic(false)
