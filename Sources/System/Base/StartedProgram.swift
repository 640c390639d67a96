internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// A child process, which is signalled only while its number is its own: once its end has been
/// taken, the system may give the number to another's process.
package final class StartedProgram: Sendable {
    package let id: Int32
    private let hasEnded = Mutex(false)

    /// - Parameter id: of a child whose end nobody else waits for.
    package init(id: Int32) {
        self.id = id
    }

    /// Waits for its end; blocks, and is called once.
    ///
    /// - Returns: the status, as `waitpid` gives it.
    package func wait() -> Int32 {
        // Leaves its number taken, so that no signal can go astray between the end and the lock.
        while waitid(P_PID, id_t(id), nil, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        return hasEnded.withLock { hasEnded in
            hasEnded = true
            var status: Int32 = 0
            while unsafe waitpid(id, &status, 0) < 0, errno == EINTR {}
            return status
        }
    }

    /// Sends it a signal, unless it has ended.
    package func send(_ signal: Int32) {
        hasEnded.withLock { hasEnded in
            if !hasEnded { kill(id, signal) }
        }
    }
}
