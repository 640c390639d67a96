#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Signals that the tool ignores, and no program that it starts: a write that fails tells as much. The
/// first is for who reads our output and leaves, the second for a limit on the length of files.
package let ignoredSignals = [SIGPIPE, SIGXFSZ]

/// Starts programs, with our standard streams or without.
package enum Program {
    /// How a start went: `number` is the system's error, 0 for none.
    package struct Started: Sendable {
        package let id: Int32
        package let number: Int32
    }

    /// Starts a program whose signals are as a shell would leave them: what the tool blocks and
    /// ignores for itself must not be inherited.
    ///
    /// - Parameters:
    ///   - path: the program; a name without a slash is looked for in the caller's PATH.
    ///   - arguments: with the program's own name first.
    ///   - descriptor: one that stays open in the program under its number, though it is closed on
    ///     exec here; `nil` for none.
    ///   - output: what its standard output and error go to, with nothing to read; `nil` for ours.
    package static func start(
        _ path: String, arguments: [String], variables: [String: String],
        keeping descriptor: Int32? = nil, output: Int32? = nil
    ) -> Started {
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        var standard = sigset_t()
        unsafe sigemptyset(&standard)
        for number in ignoredSignals { unsafe sigaddset(&standard, number) }
        unsafe posix_spawnattr_setsigdefault(&attributes, &standard)
        unsafe posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        // Onto itself: it stays open in the child, and no descriptor of the caller's is in its way.
        if let descriptor {
            unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, descriptor)
        }
        if let output {
            unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
            unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
            unsafe posix_spawn_file_actions_adddup2(&actions, output, 2)
        }
        let words = CStrings(arguments)
        let settings = CStrings(variables.map { "\($0.key)=\($0.value)" })
        var id = pid_t()
        let number = unsafe posix_spawnp(
            &id, path, &actions, &attributes, words.pointers, settings.pointers)
        return Started(id: id, number: number)
    }
}
