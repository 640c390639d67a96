package import Base
internal import Glibc
internal import TLS

/// A folder for files that are needed for a while, such as those of a command that the tool starts. It goes with the value, and where the
/// tool is killed, the next tool of this user that makes one removes it.
package final class CommandFolder: Sendable {
    package let path: String
    /// Locked while the tool runs: what is not locked has nobody any more.
    private let descriptor: Int32

    private static let prefix = "sallyport-command-"

    /// - Parameter parent: the folder for temporary files.
    ///
    /// Errors: `file-unwritable`.
    package init(in parent: String) throws(Failure) {
        Self.removeAbandoned(in: parent)
        let mark = Digests.randomBytes(6).hex
        let path = "\(parent)/\(Self.prefix)\(mark)"
        // It gets its name once it is locked, or another tool could take it for abandoned.
        let new = "\(parent)/sallyport-new-\(mark)"
        try Files.makeFolder(new)
        // Programs that change their user, as apt's do, have to read what is in it.
        _ = unsafe chmod(new, 0o711)
        let descriptor = unsafe open(new, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        if descriptor >= 0 { flock(descriptor, LOCK_EX | LOCK_NB) }
        guard descriptor >= 0, Files.move(new, to: path) else {
            let reason = unsafe String(cString: strerror(errno)).lowercased()
            if descriptor >= 0 { close(descriptor) }
            Files.remove(new)
            throw Failure(
                "file-unwritable", party: .tool, "cannot make the folder \(path): \(reason)")
        }
        self.path = path
        self.descriptor = descriptor
    }

    deinit {
        remove()
        close(descriptor)
    }

    /// Removes it with all that is in it; to be called when the command has ended, because a value
    /// that is not used any more may be gone before.
    package func remove() {
        Files.removeFolder(path, opened: descriptor)
    }

    /// Removes what tools left behind that were killed. What cannot be removed stays.
    private static func removeAbandoned(in parent: String) {
        let names: [String]
        do throws(Failure) {
            names = try Files.names(inFolder: parent)
        } catch {
            return
        }
        for name in names where name.hasPrefix(prefix) && name.hasSuffix("/") {
            let path = "\(parent)/\(name.dropLast())"
            let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            var facts = stat()
            // Nobody else can have put anything into what is ours.
            guard unsafe fstat(descriptor, &facts) == 0, facts.st_uid == geteuid(),
                flock(descriptor, LOCK_EX | LOCK_NB) == 0
            else { continue }
            Files.removeFolder(path, opened: descriptor)
        }
    }
}
