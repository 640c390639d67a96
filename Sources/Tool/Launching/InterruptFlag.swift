internal import Base
internal import Glibc
internal import Synchronization

/// SIGINT, SIGTERM and SIGHUP as a flag, for a command that works in a loop and has something to
/// put in order before it ends. A second signal, a second later or more, ends the process at once.
enum InterruptFlag {
    /// Takes the signals over for the whole process, but for one that the caller ignores.
    static func install() {
        raisedAt.store(0, ordering: .relaxed)
        for number in [SIGINT, SIGTERM, SIGHUP] where !SignalDisposition.isIgnored(number) {
            var action = sigaction()
            action.sa_flags = SA_RESTART
            // Only what POSIX allows in a handler.
            unsafe action.__sigaction_handler.sa_handler = { number in
                let now = MonotonicTime.now().nanoseconds
                let (isFirst, first) = raisedAt.compareExchange(
                    expected: 0, desired: now, ordering: .relaxed)
                // One wish may come twice: see `StopMachine`.
                if !isFirst, now > first, now - first >= StopMachine.sameWish {
                    _exit(128 + number)
                }
            }
            unsafe sigaction(number, &action, nil)
        }
    }

    /// Errors: `interrupted`, once a signal came.
    static func check() throws(Failure) {
        guard raisedAt.load(ordering: .relaxed) != 0 else { return }
        throw Failure("interrupted", party: .tool, "stopped by a signal before the end")
    }
}

/// What a signal does to this process.
enum SignalDisposition {
    static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        unsafe sigaction(number, nil, &action)
        let ignoring = unsafe unsafeBitCast(SIG_IGN, to: Int.self)
        return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == ignoring
    }
}

/// When the first signal came, in nanoseconds; 0 while none has.
private let raisedAt = Atomic<UInt64>(0)
