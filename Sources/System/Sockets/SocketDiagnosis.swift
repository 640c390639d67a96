internal import CPlatform
internal import Glibc
internal import Synchronization

/// Asks the kernel for a TCP socket of this machine by its addresses (linux/inet_diag.h): one look
/// into its hash table, however many sockets there are.
package final class SocketDiagnosis: Sendable {
    /// Locked from a question until its answer has been read.
    let descriptor: Mutex<Int32>

    /// A TCP socket.
    package struct Socket: Sendable, Equatable {
        /// The number by which `/proc/PID/fd` names it; 0 if no process has it any more.
        package let inode: UInt64
        /// The user that made it.
        package let user: UInt32
        package let isListening: Bool

        package init(inode: UInt64, user: UInt32, isListening: Bool) {
            self.inode = inode
            self.user = user
            self.isListening = isListening
        }
    }

    /// Takes a netlink socket of the kind over: one of another network namespace asks there.
    package init(descriptor: Int32) {
        self.descriptor = Mutex(descriptor)
    }

    /// Makes one for this process's network namespace; `nil` if the kernel has no such thing.
    package convenience init?() {
        let kind = Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = Glibc.socket(AF_NETLINK, kind, Self.protocolNumber)
        guard descriptor >= 0 else { return nil }
        self.init(descriptor: descriptor)
    }

    deinit {
        descriptor.withLock { _ = Glibc.close($0) }
    }

    /// Whether a connection to the address would find a listener.
    package func isListening(at address: SocketAddress) -> Bool {
        // From a port that nothing connects from.
        let nobody = SocketAddress(address: address.address, port: 0)
        return socket(local: address, remote: nobody)?.isListening ?? false
    }

    /// Whether the socket with the addresses is there, and no process has it any more: as after a
    /// close, which its peer cannot tell from the end of one direction.
    package func isAbandoned(local: SocketAddress, remote: SocketAddress) -> Bool {
        guard let socket = socket(local: local, remote: remote) else { return false }
        return !socket.isListening && socket.inode == 0
    }

    /// The socket that has the addresses, or that listens at the local one; `nil` if there is none
    /// or the kernel does not say.
    ///
    /// Addresses that map IPv4 into IPv6 find the same as those that they map.
    package func socket(local: SocketAddress, remote: SocketAddress) -> Socket? {
        let local = local.withoutMapping
        let remote = remote.withoutMapping
        guard local.isIPv6 == remote.isIPv6 else { return nil }
        var request: [UInt8] = []
        func append(_ number: some FixedWidthInteger) {
            unsafe withUnsafeBytes(of: number) { unsafe request += $0 }
        }
        append(UInt32(Self.requestSize))
        append(Self.byFamily)
        append(UInt16(1))
        append(UInt64(1))
        append(UInt8(local.isIPv6 ? AF_INET6 : AF_INET))
        append(UInt8(IPPROTO_TCP))
        append(UInt16(0))
        append(UInt32.max)
        append(local.port.bigEndian)
        append(remote.port.bigEndian)
        for address in [local.address, remote.address] {
            request += address + [UInt8](repeating: 0, count: 16 - address.count)
        }
        append(local.scope)
        append(UInt64.max)
        return descriptor.withLock { Self.answer(to: request, on: $0) }
    }

    /// The kernel answers before the call that asks returns, so this never waits.
    private static func answer(to request: [UInt8], on descriptor: Int32) -> Socket? {
        guard unsafe send(descriptor, request, request.count, 0) == request.count else {
            return nil
        }
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = unsafe recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        guard count >= answerSize else { return nil }
        return unsafe bytes.withUnsafeBytes { bytes -> Socket? in
            guard unsafe bytes.loadUnaligned(fromByteOffset: 4, as: UInt16.self) == byFamily
            else { return nil }
            return Socket(
                inode: UInt64(unsafe bytes.loadUnaligned(fromByteOffset: 84, as: UInt32.self)),
                user: unsafe bytes.loadUnaligned(fromByteOffset: 80, as: UInt32.self),
                isListening: unsafe bytes[17] == listening)
        }
    }

    private static let protocolNumber: Int32 = 4
    private static let byFamily: UInt16 = 20
    private static let listening: UInt8 = 10
    /// The header, and struct inet_diag_req_v2.
    private static let requestSize = 16 + 56
    /// The header, and struct inet_diag_msg.
    private static let answerSize = 16 + 72
}

extension SocketAddress {
    /// An IPv4 address as itself, and not mapped into IPv6 (RFC 4291 §2.5.5.2).
    package var withoutMapping: SocketAddress {
        let mapping = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
        guard isIPv6, address.starts(with: mapping) else { return self }
        return SocketAddress(address: Array(address[12...]), port: port)
    }

    /// Where an accepted connection was meant to go before the system led it here; its own local
    /// address if it was not led, and `nil` if it is gone.
    package static func originalDestination(of descriptor: Int32) -> SocketAddress? {
        var local = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        guard unsafe platform_socket_name(descriptor, &local, &length) == 0 else { return nil }
        var meant = sockaddr_storage()
        guard unsafe platform_original_destination(descriptor, &meant) == 0 else {
            return SocketAddress(local)
        }
        return SocketAddress(meant)
    }
}
