#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Keeps other processes away from what a file stands for, until it is no longer held or the process
/// ends.
package final class FileLock: Sendable {
    private let descriptor: Int32

    private init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Locks a file, which is made if it is not there (flock(2)).
    ///
    /// - Returns: `nil` if somebody else has it.
    ///
    /// Errors: `file-unwritable`.
    package static func take(_ path: String) throws(Failure) -> FileLock? {
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            throw Failure(
                "file-unwritable", party: .tool,
                "cannot open \(path): \(unsafe String(cString: strerror(errno)))")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            return nil
        }
        return FileLock(descriptor)
    }
}
