internal import CPlatform
internal import Glibc

/// A process that stays in the network namespace and makes sockets there, for the tool to reach the
/// servers that the command itself runs. It ends with the tool.
enum InsideSocketTask {
    /// Starts it; this process must have one thread only.
    ///
    /// It is no child of this process, so that the command does not find one that it never started.
    ///
    /// - Returns: the tool's end of the socket that it is asked by.
    static func start() throws(ConfinementError) -> Int32 {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw ConfinementError("make a pair of sockets")
        }
        let between = platform_fork()
        guard between >= 0 else { throw ConfinementError("fork") }
        if between == 0 {
            guard platform_fork() == 0 else { _exit(0) }
            serve(ends[1])
        }
        close(ends[1])
        var status: Int32 = 0
        while unsafe waitpid(between, &status, 0) < 0, errno == EINTR {}
        return ends[0]
    }

    private static func serve(_ control: Int32) -> Never {
        // Signals to the command's group, and its terminal, are none of its business.
        setsid()
        _ = unsafe chdir("/")
        closeAll(but: control)
        while true {
            var family: UInt8 = 0
            let count = unsafe recv(control, &family, 1, 0)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { _exit(0) }
            let made = make(family == six ? AF_INET6 : AF_INET)
            var answer: UInt8 = made < 0 ? 0 : 1
            let sent = unsafe platform_send_descriptors(
                control, &answer, 1, [made], made < 0 ? 0 : 1)
            if made >= 0 { close(made) }
            if sent < 0 { _exit(0) }
        }
    }

    /// The command's streams among them: who reads its output waits for the last to close.
    private static func closeAll(but kept: Int32) {
        let limit = min(Int32(clamping: sysconf(Int32(_SC_OPEN_MAX))), 1 << 16)
        for descriptor in 0..<limit where descriptor != kept { close(descriptor) }
    }

    private static func make(_ family: Int32) -> Int32 {
        let flags = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
        let descriptor = socket(family, Int32(flags), 0)
        var mark = FilterRules.insideMark
        let size = socklen_t(MemoryLayout<UInt32>.size)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_MARK, &mark, size)
        return descriptor
    }

    static let four = UInt8(ascii: "4")
    static let six = UInt8(ascii: "6")
}
