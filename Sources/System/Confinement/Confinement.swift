package import Base
internal import CPlatform
internal import Glibc

/// What a confined command is started with.
package struct ConfinementConfiguration: Sendable {
    /// The program, looked for in the PATH of `variables`, and its arguments.
    package var command: [String]
    package var variables: [String: String]
    /// A file of certificates in PEM, the system's and ours, that is laid over the system's own.
    package var bundle: String
    /// A folder of the caller's for files that must last as long as the command.
    package var folder: String
    /// Files that are added to those of `/etc/ssl/certs`, by their paths in it: our CA under the
    /// name that OpenSSL looks for, `HASH.0`, and a Java key store as `java/cacerts`.
    package var certificates: [String: [UInt8]] = [:]
    /// Whether a name that stands for loopback in the system's table of hosts is to be resolved by who
    /// serves names; those with other addresses are in any case.
    package var leadsName: @Sendable (String) -> Bool = { _ in false }
    /// Whether the kernel's packet filter is used if it is there; without it only the ports of
    /// `ConfinementLimit.onlyPorts` are captured.
    package var usesFilter = true
    /// What the command's standard output and error go to; `nil` for the caller's.
    package var output: Int32?
    /// The tool's executable.
    package var executable = "/proc/self/exe"

    package init(
        command: [String], variables: [String: String], bundle: String, folder: String
    ) {
        self.command = command
        self.variables = variables
        self.bundle = bundle
        self.folder = folder
    }
}

/// Starts a command in namespaces of its own whose only way out is what accepts on the sockets that
/// it hands out. It needs no privileges, and leaves nothing behind but the files in its folder.
package enum Confinement {
    /// Prepares the command's network and returns once it is there; blocks for some 15 ms. The command
    /// runs from `ConfinedProcess.begin` on.
    ///
    /// The command gets the caller's streams, terminal and process group. It is killed when the
    /// calling thread ends, so the thread must last as long as the command.
    ///
    /// Errors: `namespaces-forbidden` with who forbids it, `confinement-failed`, `file-unwritable`, and
    /// `command-not-started` of no command.
    package static func launch(
        _ configuration: ConfinementConfiguration
    ) throws(Failure) -> ConfinedProcess {
        guard !configuration.command.isEmpty else { throw notStarted("", ENOENT) }
        let files = try ConfinementFiles(configuration)
        do throws(Failure) {
            let (id, control) = try spawn(configuration, files)
            do throws(Failure) {
                return try ConfinedProcess(id: id, control: control, files: files)
            } catch {
                close(control)
                kill(id, SIGKILL)
                var status: Int32 = 0
                while unsafe waitpid(id, &status, 0) < 0, errno == EINTR {}
                throw error
            }
        } catch {
            files.remove()
            throw error
        }
    }

    /// What this machine is called.
    package static var ownHostName: String {
        var name = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&name, name.count - 1) == 0 else { return "" }
        let bytes = name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func spawn(
        _ configuration: ConfinementConfiguration, _ files: ConfinementFiles
    ) throws(Failure) -> (id: pid_t, control: Int32) {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw failure(ConfinementError("make a pair of sockets"))
        }
        defer { close(ends[1]) }
        var limit = timeval(tv_sec: timeLimitSeconds, tv_usec: 0)
        unsafe setsockopt(
            ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let started = Program.start(
            configuration.executable,
            arguments: [
                "sallyport", ConfinedStart.word, String(ends[1]),
                configuration.usesFilter ? ConfinedStart.filterWord : "no-filter",
                configuration.bundle,
                files.certificates, files.resolver, files.hosts ?? "", files.sources ?? "",
            ] + configuration.command,
            variables: configuration.variables, keeping: ends[1], output: configuration.output)
        guard started.number == 0 else {
            close(ends[0])
            throw failure(ConfinementError("start the tool's executable", started.number))
        }
        return (started.id, ends[0])
    }

    static func failure(_ error: ConfinementError) -> Failure {
        Failure("confinement-failed", party: .tool, "cannot confine the command: \(error.text)")
    }

    /// `command-not-started`.
    package static func notStarted(_ name: String, _ number: Int32) -> Failure {
        let reason = unsafe String(cString: strerror(number)).lowercased()
        return Failure(
            "command-not-started", party: .tool, "cannot start \(name): \(reason)",
            hint: number == ENOENT
                ? "is it installed, and in PATH? What is elsewhere is named by its path"
                : "the command stands behind --, as in: -- curl https://example.com/")
    }

    /// Far above what is ever needed: it only keeps a system that hangs from hanging the tool.
    private static let timeLimitSeconds = 20
}
