internal import Base
internal import Glibc
internal import Sockets

/// A program that was started with our standard streams.
struct ChildProcess {
    let id: pid_t

    /// How it ended.
    enum Ending: Sendable, Equatable {
        case exited(Int32)
        case signalled(Int32)

        /// - Parameter status: as `waitpid` gives it.
        init(status: Int32) {
            let number = status & 0x7F
            self = number == 0 ? .exited(status >> 8 & 0xFF) : .signalled(number)
        }

        /// In words: `exited with 7`.
        var text: String {
            switch self {
            case .exited(let code): "exited with \(code)"
            case .signalled(let number): "was ended by signal \(number)"
            }
        }
    }

    /// Starts a program, which is looked for in PATH.
    ///
    /// Errors: `command-not-started`.
    static func start(
        _ arguments: [String], variables: [String: String]
    ) throws(Failure) -> ChildProcess {
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        // What the tool blocks and ignores for itself must not be inherited.
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        var standard = sigset_t()
        unsafe sigemptyset(&standard)
        unsafe sigaddset(&standard, SIGPIPE)
        unsafe posix_spawnattr_setsigdefault(&attributes, &standard)
        unsafe posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        let words = CStrings(arguments)
        let settings = CStrings(variables.map { "\($0.key)=\($0.value)" })
        var id = pid_t()
        let status = DescriptorLimit.withInherited {
            unsafe posix_spawnp(
                &id, words.pointers[0]!, nil, &attributes, words.pointers, settings.pointers)
        }
        guard status == 0 else {
            let reason = unsafe String(cString: strerror(status)).lowercased()
            throw Failure(
                "command-not-started", party: .tool, "cannot start \(arguments[0]): \(reason)",
                hint:
                    "the command stands behind --, as in: sallyport run -- curl https://example.com/"
            )
        }
        return ChildProcess(id: id)
    }

    /// Waits for its end; blocks.
    func wait() -> Ending {
        var status: Int32 = 0
        while unsafe waitpid(id, &status, 0) < 0, errno == EINTR {}
        return Ending(status: status)
    }

    /// Passes on a signal that the tool got, unless the terminal sent it to the child as well: for
    /// many programs a second SIGINT means to leave their work undone.
    func forward(_ signal: StopSignal) {
        if signal.isFromTerminal, getpgid(id) == getpgid(0) { return }
        kill(id, signal.number)
    }
}
