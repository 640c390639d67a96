package import Base
internal import CPlatform
internal import Glibc
internal import Synchronization

/// A command in namespaces of its own, with the sockets there that the tool outside uses.
///
/// All descriptors are non-blocking where that matters, closed on exec, and the caller's to close,
/// but those that are read through methods. A connection that was accepted here knows where it was
/// meant to go: see `SocketAddress.originalDestination`.
package final class ConfinedProcess: Sendable {
    package let program: StartedProgram
    package var id: Int32 { program.id }
    /// Listening TCP sockets, IPv4 and IPv6, that get every connection but those for port 53.
    package let tcpListeners: [Int32]
    /// Listening TCP sockets that get what is meant for port 53: DNS, each message with its length
    /// before it (RFC 1035 §4.2.2).
    package let dnsListeners: [Int32]
    /// UDP sockets that get what is meant for port 53; an answer goes back with `sendto`.
    package let dnsSockets: [Int32]
    /// The same for what is meant for UDP port 443 and begins as QUIC does.
    package let quicSockets: [Int32]
    /// Readable when datagrams were refused; read it with `DatagramAttemptReader.drain`. `nil` where
    /// the kernel cannot list them.
    package let attempts: Int32?
    /// A netlink socket for `SocketDiagnosis` of the connections inside.
    package let diagnosis: Int32
    /// What could not be done on this system.
    package let limits: [ConfinementLimit]
    /// -1 where there is none, and once it is closed.
    private let filter: Mutex<Int32>
    private let namespace: String?
    private let insideSockets: Mutex<Int32>
    /// Where the new process waits to be let go; -1 once it is.
    private let control: Mutex<Int32>
    private let files: ConfinementFiles

    /// Waits until its network is there. `control` is closed by `begin` or `close`.
    init(id: pid_t, control: Int32, files: ConfinementFiles) throws(Failure) {
        let ready = try ControlMessage.receive(control)
        try ready.check()
        self.control = Mutex(control)
        program = StartedProgram(id: id)
        self.files = files
        namespace = ProcessLink.namespace(of: id)
        tcpListeners = ready.descriptors(.tcpListener)
        dnsListeners = ready.descriptors(.dnsListener)
        dnsSockets = ready.descriptors(.dnsSocket)
        quicSockets = ready.descriptors(.quicSocket)
        attempts = ready.descriptors(.attempts).first
        filter = Mutex(ready.descriptors(.filter).first ?? -1)
        diagnosis = ready.descriptors(.diagnosis).first ?? -1
        insideSockets = Mutex(ready.descriptors(.insideSockets).first ?? -1)
        limits = ready.lines.dropFirst().compactMap(ConfinementLimit.init(line:))
    }

    /// Lets the command run, and returns once it does. If it throws, there is only its end to wait for.
    ///
    /// Errors: `command-not-started`, `confinement-failed`.
    package func begin() throws(Failure) {
        let control = Self.take(control)
        guard control >= 0 else { return }
        defer { _ = Glibc.close(control) }
        var byte: UInt8 = 0
        guard unsafe send(control, &byte, 1, platform_no_signal) == 1 else {
            throw Confinement.failure(ConfinementError("let the new process go on"))
        }
        // The end is the start of the command: its descriptor is closed by that.
        try ControlMessage.receive(control).check()
    }

    /// A descriptor that is to be closed: whoever comes second finds none.
    private static func take(_ descriptor: borrowing Mutex<Int32>) -> Int32 {
        descriptor.withLock { descriptor in
            defer { descriptor = -1 }
            return descriptor
        }
    }

    /// Makes a TCP socket inside, not connected, whose connections are not led back to us: for the
    /// servers that the command itself runs. It is the caller's to close.
    ///
    /// Errors: `confinement-failed`.
    package func insideSocket(isIPv6: Bool) throws(Failure) -> Int32 {
        let made = insideSockets.withLock { control -> Int32 in
            var byte = isIPv6 ? InsideSocketTask.six : InsideSocketTask.four
            var descriptors = [Int32](repeating: -1, count: Int(platform_descriptor_limit))
            var count: Int32 = 0
            guard unsafe send(control, &byte, 1, platform_no_signal) == 1,
                unsafe platform_receive_descriptors(control, &byte, 1, &descriptors, &count) == 1,
                count == 1
            else { return -1 }
            return descriptors[0]
        }
        guard made >= 0 else {
            throw Confinement.failure(ConfinementError("make a socket inside"))
        }
        return made
    }

    /// What the packet filter counted so far; `nil` where there is none.
    package func counters() -> ConfinementCounters? {
        filter.withLock { $0 >= 0 ? ConfinementCounters(filter: $0) : nil }
    }

    /// Waits for the command's end; blocks.
    ///
    /// - Returns: the status, as `waitpid` gives it.
    package func wait() -> Int32 {
        program.wait()
    }

    /// The programs that run inside, each such as `sleep (123)`: after the command's end, those that
    /// it left behind. Some 20 at most.
    package func programs() -> [String] {
        namespace.map { StrayProcesses.names(.namespace($0)) } ?? []
    }

    /// Ends the programs that run inside, once the command has ended; blocks for a second at most.
    package func endPrograms() -> StrayProcesses.Ended {
        // The process that makes sockets is inside too, so that the namespace is still this one's.
        namespace.map { StrayProcesses.end(.namespace($0)) } ?? StrayProcesses.Ended()
    }

    /// Closes what is read through methods, ends the process that makes sockets inside, and removes
    /// the files; after the command's end.
    package func close() {
        for descriptor in [Self.take(filter), Self.take(control), Self.take(insideSockets)]
        where descriptor >= 0 {
            _ = Glibc.close(descriptor)
        }
        files.remove()
    }
}

/// What the new process tells the tool, with descriptors.
private struct ControlMessage {
    let lines: [Substring]
    private let sockets: [(role: DescriptorRole, descriptor: Int32)]

    /// An end without a message is a message without lines.
    static func receive(_ control: Int32) throws(Failure) -> ControlMessage {
        var bytes = [UInt8](repeating: 0, count: 16 << 10)
        var descriptors = [Int32](repeating: -1, count: Int(platform_descriptor_limit))
        var count: Int32 = 0
        var size = -1
        repeat {
            size = unsafe platform_receive_descriptors(
                control, &bytes, UInt(bytes.count), &descriptors, &count)
        } while size < 0 && errno == EINTR
        guard size >= 0 else {
            throw Confinement.failure(ConfinementError("hear from the new process"))
        }
        let message = bytes.prefix(size)
        let roles = message.prefix { $0 != 0x0A }.compactMap(DescriptorRole.init(rawValue:))
        let text = String(decoding: message.drop { $0 != 0x0A }.dropFirst(), as: UTF8.self)
        return ControlMessage(
            lines: text.split(separator: "\n", omittingEmptySubsequences: false),
            sockets: Array(zip(roles, descriptors.prefix(Int(count)))).map { ($0, $1) })
    }

    private init(lines: [Substring], sockets: [(DescriptorRole, Int32)]) {
        self.lines = lines
        self.sockets = sockets
    }

    /// Throws what it tells of a failure.
    func check() throws(Failure) {
        guard lines.first == "failed", lines.count >= 4 else { return }
        throw Failure(
            String(lines[1]), party: .tool, String(lines[2]),
            hint: lines[3].isEmpty ? nil : String(lines[3]))
    }

    func descriptors(_ role: DescriptorRole) -> [Int32] {
        sockets.filter { $0.role == role }.map(\.descriptor)
    }
}
