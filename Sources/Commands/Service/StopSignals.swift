internal import Base
internal import Glibc
internal import Sockets

/// SIGINT and SIGTERM, taken by a thread of their own instead of ending the process.
final class StopSignals: Sendable {
    /// Blocks the signals; to be called before other threads are started, which inherit that.
    init() {
        var signals = Self.set
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
        // A reader of our output that leaves is told by the write that fails.
        _ = signal(SIGPIPE, SIG_IGN)
    }

    /// Calls `onStop` at the first signal; a second one ends the process at once.
    ///
    /// - Parameter onTick: called about twice a second while none comes.
    func watch(onStop: @escaping @Sendable () -> Void, onTick: @escaping @Sendable () -> Void) {
        startThread(named: "signals") {
            var signals = Self.set
            var count = 0
            while true {
                var pause = timespec(tv_sec: 0, tv_nsec: 500_000_000)
                let number = unsafe sigtimedwait(&signals, nil, &pause)
                if number > 0 {
                    count += 1
                    if count > 1 { _exit(128 + number) }
                    onStop()
                } else {
                    onTick()
                }
            }
        }
    }

    private static var set: sigset_t {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGINT)
        unsafe sigaddset(&signals, SIGTERM)
        return signals
    }
}
