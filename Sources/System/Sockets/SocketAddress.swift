internal import Base
internal import CPlatform
internal import Glibc

/// An IPv4 or IPv6 address with a port.
package struct SocketAddress: Sendable, Hashable, CustomStringConvertible {
    /// 4 or 16 bytes in network order.
    package let address: [UInt8]
    package let port: UInt16
    /// The interface of a link-local IPv6 address, 0 if none.
    package let scope: UInt32

    /// - Parameter address: 4 or 16 bytes in network order.
    package init(address: [UInt8], port: UInt16, scope: UInt32 = 0) {
        precondition(address.count == 4 || address.count == 16, "no IP address")
        self.address = address
        self.port = port
        self.scope = scope
    }

    /// Reads a literal such as `127.0.0.1` or `::1` (without brackets); `nil` for anything else.
    package init?(literal: String, port: UInt16) {
        // The system reads up to the first NUL, and would take what follows for nothing.
        guard !literal.utf8.contains(0) else { return nil }
        var four = in_addr()
        if unsafe inet_pton(AF_INET, literal, &four) == 1 {
            self.init(address: unsafe withUnsafeBytes(of: &four) { unsafe [UInt8]($0) }, port: port)
            return
        }
        var six = in6_addr()
        guard unsafe inet_pton(AF_INET6, literal, &six) == 1 else { return nil }
        self.init(address: unsafe withUnsafeBytes(of: &six) { unsafe [UInt8]($0) }, port: port)
    }

    package var isIPv6: Bool { address.count == 16 }

    /// Whether it names this machine: 127/8, ::1, or one of them mapped into IPv6.
    package var isLoopback: Bool {
        let bytes = unmapped
        return bytes.count == 4
            ? bytes[0] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes[15] == 1
    }

    /// Whether it stands for all addresses of this machine.
    package var isWildcard: Bool { unmapped.allSatisfy { $0 == 0 } }

    private var unmapped: [UInt8] {
        let mapped =
            address.count == 16 && address[..<10].allSatisfy { $0 == 0 } && address[10] == 0xFF
            && address[11] == 0xFF
        return mapped ? Array(address[12...]) : address
    }

    /// The same, of an IPv4 address that is mapped into IPv6 that one.
    package var unmappedHost: String { SocketAddress(address: unmapped, port: port).host }

    /// The address without the port, and without brackets.
    package var host: String {
        guard isIPv6 else { return address.map(String.init).joined(separator: ".") }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        _ = unsafe inet_ntop(AF_INET6, address, &text, socklen_t(INET6_ADDRSTRLEN))
        return text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }.text
    }

    package var description: String { isIPv6 ? "[\(host)]:\(port)" : "\(host):\(port)" }

    package func withPort(_ port: UInt16) -> SocketAddress {
        SocketAddress(address: address, port: port, scope: scope)
    }

    var family: Int32 { isIPv6 ? AF_INET6 : AF_INET }

    /// The address in the kernel's form, with its length.
    var kernelForm: (storage: sockaddr_storage, length: socklen_t) {
        var storage = sockaddr_storage()
        guard isIPv6 else {
            var four = sockaddr_in()
            four.sin_family = sa_family_t(AF_INET)
            four.sin_port = port.bigEndian
            unsafe withUnsafeMutableBytes(of: &four.sin_addr) { unsafe $0.copyBytes(from: address) }
            copy(four, to: &storage)
            return (storage, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
        var six = sockaddr_in6()
        six.sin6_family = sa_family_t(AF_INET6)
        six.sin6_port = port.bigEndian
        six.sin6_scope_id = scope
        unsafe withUnsafeMutableBytes(of: &six.sin6_addr) { unsafe $0.copyBytes(from: address) }
        copy(six, to: &storage)
        return (storage, socklen_t(MemoryLayout<sockaddr_in6>.size))
    }

    private func copy<Address>(
        _ address: Address, to storage: inout sockaddr_storage
    ) {
        unsafe withUnsafeBytes(of: address) { source in
            unsafe withUnsafeMutableBytes(of: &storage) { unsafe $0.copyMemory(from: source) }
        }
    }

    /// Reads the kernel's form; `nil` for another family.
    init?(_ storage: sockaddr_storage) {
        var storage = storage
        switch Int32(storage.ss_family) {
        case AF_INET:
            let four = unsafe withUnsafeBytes(of: &storage) { unsafe $0.load(as: sockaddr_in.self) }
            var address = four.sin_addr
            self.init(
                address: unsafe withUnsafeBytes(of: &address) { unsafe [UInt8]($0) },
                port: UInt16(bigEndian: four.sin_port))
        case AF_INET6:
            let six = unsafe withUnsafeBytes(of: &storage) { unsafe $0.load(as: sockaddr_in6.self) }
            var address = six.sin6_addr
            self.init(
                address: unsafe withUnsafeBytes(of: &address) { unsafe [UInt8]($0) },
                port: UInt16(bigEndian: six.sin6_port), scope: six.sin6_scope_id)
        default:
            return nil
        }
    }
}
