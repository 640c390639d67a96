import Foundation
import Synchronization

/// Starts one program at a time.
///
/// Foundation tells a program's end by a socket that any program started in the same moment
/// inherits, and then keeps open: the first would not be seen to end before the second has.
///
/// The threads of tasks block signals, and a program inherits that as well: it could not be ended in
/// order.
package enum ProcessStart {
    private static let lock = Mutex(())

    /// - Parameter body: makes the process and its pipes, and runs it.
    package static func alone(_ body: () throws -> Void) rethrows {
        try lock.withLock { _ in
            var none = sigset_t()
            var before = sigset_t()
            unsafe sigemptyset(&none)
            unsafe pthread_sigmask(SIG_SETMASK, &none, &before)
            defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
            try body()
        }
    }
}
