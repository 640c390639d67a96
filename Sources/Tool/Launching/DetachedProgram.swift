package import Base
internal import CPlatform
internal import Glibc
internal import Sockets
internal import Synchronization

/// A program that goes on without the one that started it: in a session of its own, in the root
/// folder, with nothing to read, and with no descriptor but its log.
package final class DetachedProgram: Sendable {
    private let ended = Mutex(false)
    private let log: String

    private init(_ id: Int32, log: String) {
        self.log = log
        // An ended child that nobody waits for is what whoever waits for any child is told of over and
        // over again.
        startThread(named: "detached") { [weak self] in
            var status: Int32 = 0
            while unsafe waitpid(id, &status, 0) < 0, errno == EINTR {}
            self?.ended.withLock { $0 = true }
        }
    }

    /// - Parameters:
    ///   - arguments: without the program's name.
    ///   - log: the file that gets what it writes; a long one is begun anew.
    ///
    /// Errors: `command-not-started`, `file-unwritable`.
    package static func start(
        _ path: String, arguments: [String], variables: [String: String], log: String
    ) throws(Failure) -> DetachedProgram {
        let descriptor = unsafe open(
            log, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("file-unwritable", "cannot open", log, errno) }
        defer { close(descriptor) }
        if lseek(descriptor, 0, SEEK_END) > logLimit { _ = ftruncate(descriptor, 0) }
        let (id, number) = spawn(path, arguments, variables, log: descriptor)
        guard number == 0 else {
            throw failure("command-not-started", "cannot start", path, number)
        }
        return DetachedProgram(id, log: log)
    }

    /// - Returns: the system's error, 0 for none.
    private static func spawn(
        _ path: String, _ arguments: [String], _ variables: [String: String], log: Int32
    ) -> (id: Int32, number: Int32) {
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        // Signals are as a shell leaves them: what this process blocks and ignores is its own.
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe posix_spawnattr_setsigmask(&attributes, &signals)
        for number in ignoredSignals { unsafe sigaddset(&signals, number) }
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        unsafe posix_spawnattr_setflags(
            &attributes,
            Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF) | platform_spawn_session)
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, log, 1)
        unsafe posix_spawn_file_actions_adddup2(&actions, log, 2)
        let number = unsafe platform_spawn_apart(&actions, "/", 3)
        guard number == 0 else { return (0, number) }
        let words = CStrings([path] + arguments)
        let settings = CStrings(variables.map { "\($0.key)=\($0.value)" })
        var id = pid_t()
        let outcome = unsafe posix_spawn(
            &id, path, &actions, &attributes, words.pointers, settings.pointers)
        return (id, outcome)
    }

    /// The tool itself, wherever it is.
    ///
    /// Errors: `command-not-started`.
    package static func ownPath() throws(Failure) -> String {
        guard let path = unsafe realpath("/proc/self/exe", nil) else {
            throw failure("command-not-started", "cannot find", "/proc/self/exe", errno)
        }
        defer { unsafe free(path) }
        return unsafe String(cString: path)
    }

    /// Whether it has ended.
    package var hasEnded: Bool { ended.withLock { $0 } }

    /// The last line of its log that is no hint; `nil` if there is none.
    package var lastWords: String? {
        do throws(Failure) {
            let bytes = try Files.read(log, byteLimit: Int(Self.logLimit) * 4)
            let lines = bytes.split(separator: UInt8(ascii: "\n")).map { Array($0).text }
            return lines.last { !$0.hasPrefix("sallyport: hint:") } ?? lines.last
        } catch {
            return nil
        }
    }

    private static func failure(
        _ code: String, _ what: String, _ path: String, _ number: Int32
    ) -> Failure {
        let reason = unsafe String(cString: strerror(number)).lowercased()
        return Failure(code, party: .tool, "\(what) \(path): \(reason)")
    }

    /// In bytes.
    private static let logLimit: off_t = 64 << 10
}
