internal import Base
internal import CPlatform
internal import Glibc

/// The part of `Confinement.launch` that runs in the new process: it makes the namespaces, hands
/// their sockets to the tool, and becomes the command once the tool serves it.
///
/// It is the hidden command `sallyport confine`, and has to run before the process starts a second
/// thread.
package enum ConfinedStart {
    /// Its name on the command line, which no help mentions.
    package static let word = "confine"
    /// Asks for the packet filter, where the kernel has one.
    static let filterWord = "filter"

    /// Does its work if the arguments, without the tool's name, ask for it.
    ///
    /// - Returns: `nil` if they do not, or if the socket that they name is not there, as when a
    ///   person typed them; else the exit code, after a failure only.
    package static func run(_ arguments: [String]) -> Int32? {
        guard arguments.count > 8, arguments[0] == word, let control = Int32(arguments[1]),
            isControl(control)
        else { return nil }
        _ = fcntl(control, F_SETFD, FD_CLOEXEC)
        do throws(Failure) {
            try prepare(control, Array(arguments[2...7]))
            try become(Array(arguments[8...]), control)
        } catch {
            send(
                control, lines: ["failed", error.code, error.detail, error.hint ?? ""], [])
        }
        return 126
    }

    private static func isControl(_ descriptor: Int32) -> Bool {
        var kind: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        return unsafe getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &kind, &size) == 0
            && kind == Int32(SOCK_SEQPACKET.rawValue)
    }

    /// - Parameter words: as `Confinement.spawn` writes them.
    private static func prepare(_ control: Int32, _ words: [String]) throws(Failure) {
        try Namespaces.enter()
        var sockets = NamespaceSockets()
        var limits: [ConfinementLimit] = []
        do throws(ConfinementError) {
            limits = try Self.connect(&sockets, filters: words[0] == filterWord)
            sockets.add(.diagnosis, try NetlinkSocket(protocol: Netlink.socketDiagnosis).descriptor)
            sockets.add(.insideSockets, try InsideSocketTask.start())
        } catch  where error.number == EPERM || error.number == EACCES {
            // AppArmor lets user namespaces be made, but gives no rights in them.
            throw Namespaces.refusal(error.number, step: error.step)
        } catch {
            throw Failure(
                "confinement-failed", party: .tool,
                "cannot confine the command: \(error.text)")
        }
        limits += NamespaceMounts.set(
            bundle: words[1], certificates: words[2],
            names: [
                (words[3], "/etc/resolv.conf"), (words[4], "/etc/hosts"),
                (words[5], "/etc/nsswitch.conf"),
            ])
        send(control, lines: ["ready"] + limits.map(\.line), sockets.all)
    }

    /// Sets up the network, by the best way that the kernel has.
    private static func connect(
        _ sockets: inout NamespaceSockets, filters: Bool
    ) throws(ConfinementError) -> [ConfinementLimit] {
        do throws(ConfinementError) {
            guard filters else { throw ConfinementError(FilterRules.step, EOPNOTSUPP) }
            let rules = try FilterRules.set()
            var limits: [ConfinementLimit] = []
            if rules.lists {
                do throws(ConfinementError) {
                    sockets.add(.attempts, try DatagramAttemptReader.open().descriptor)
                } catch {
                    limits.append(.attemptsNotListed(error.text))
                }
            } else {
                limits.append(.attemptsNotListed("the kernel's packet filter cannot log"))
            }
            sockets.add(.filter, try NetlinkSocket(protocol: Netlink.netfilter).descriptor)
            let hasIPv6 = try NamespaceRoutes.set(.redirected)
            try sockets.bindForRedirection(hasIPv6: hasIPv6)
            return limits
        } catch  where error.step == FilterRules.step {
            let hasIPv6 = try NamespaceRoutes.set(.everyAddressOurs)
            try sockets.bindPorts(ConfinementLimit.ports, hasIPv6: hasIPv6)
            return [.onlyPorts(ConfinementLimit.ports), .attemptsNotListed(error.text)]
        }
    }

    /// Runs the command in place of this process.
    private static func become(_ command: [String], _ control: Int32) throws(Failure) {
        // The last of all: it is reset when a process changes what it may do.
        _ = platform_end_with_parent(SIGKILL)
        var byte: UInt8 = 0
        var count: Int
        repeat { count = unsafe recv(control, &byte, 1, 0) } while count < 0 && errno == EINTR
        // The tool is gone, or cannot serve.
        guard count == 1 else { return }
        let words = CStrings(command)
        unsafe execvp(words.pointers[0]!, words.pointers)
        throw Confinement.notStarted(command[0], errno)
    }

    private static func send(
        _ control: Int32, lines: [String], _ sockets: [(role: DescriptorRole, descriptor: Int32)]
    ) {
        let roles = sockets.map(\.role.rawValue)
        let text = lines.map { $0.replacingNewlines }.joined(separator: "\n")
        let bytes = roles + [0x0A] + Array(text.utf8)
        // If nobody listens any more, the tool is gone, and this process goes with it.
        _ = unsafe platform_send_descriptors(
            control, bytes, UInt(bytes.count), sockets.map(\.descriptor), Int32(sockets.count))
    }
}

extension String {
    fileprivate var replacingNewlines: String {
        String(map { $0.isNewline ? " " : $0 })
    }
}
