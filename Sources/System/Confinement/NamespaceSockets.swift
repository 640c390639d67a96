internal import CPlatform
internal import Glibc

/// What a descriptor that is handed out is for; its character goes before it.
enum DescriptorRole: UInt8, CaseIterable {
    case tcpListener = 0x6C
    case dnsListener = 0x64
    case dnsSocket = 0x75
    case quicSocket = 0x71
    case attempts = 0x61
    case filter = 0x66
    case diagnosis = 0x73
    case insideSockets = 0x69
}

/// The sockets of a new network namespace that the tool outside uses.
struct NamespaceSockets {
    private(set) var all: [(role: DescriptorRole, descriptor: Int32)] = []

    mutating func add(_ role: DescriptorRole, _ descriptor: Int32) {
        all.append((role, descriptor))
    }

    /// Listens where the packet filter leads to.
    mutating func bindForRedirection(hasIPv6: Bool) throws(ConfinementError) {
        let stream = SOCK_STREAM.rawValue
        for address in [Self.loopbackFour] + (hasIPv6 ? [Self.loopbackSix] : []) {
            add(.tcpListener, try Self.bind(address, FilterRules.tcpPort, stream))
            add(.dnsListener, try Self.bind(address, FilterRules.dnsPort, stream))
            add(.dnsSocket, try Self.bind(address, FilterRules.dnsPort, SOCK_DGRAM.rawValue))
            add(.quicSocket, try Self.bind(address, FilterRules.quicPort, SOCK_DGRAM.rawValue))
        }
    }

    /// Listens on the ports given, of all addresses.
    mutating func bindPorts(_ ports: [UInt16], hasIPv6: Bool) throws(ConfinementError) {
        let stream = SOCK_STREAM.rawValue
        let six: [[UInt8]] = hasIPv6 ? [[UInt8](repeating: 0, count: 16)] : []
        for address in [[0, 0, 0, 0]] + six {
            for port in ports { add(.tcpListener, try Self.bind(address, port, stream)) }
        }
        // One address only: answers that come from another than was asked are not heard.
        add(.dnsListener, try Self.bind(Self.resolver, 53, stream))
        add(.dnsSocket, try Self.bind(Self.resolver, 53, SOCK_DGRAM.rawValue))
    }

    private static func bind(
        _ address: [UInt8], _ port: UInt16, _ kind: __socket_type.RawValue
    ) throws(ConfinementError) -> Int32 {
        let isIPv6 = address.count == 16
        let flags = SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
        let descriptor = socket(isIPv6 ? AF_INET6 : AF_INET, Int32(kind | flags), 0)
        guard descriptor >= 0 else { throw ConfinementError("make a socket") }
        var on: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        if isIPv6 { unsafe setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &on, size) }
        var storage = sockaddr_storage()
        unsafe withUnsafeMutableBytes(of: &storage) { place in
            unsafe place.storeBytes(
                of: sa_family_t(isIPv6 ? AF_INET6 : AF_INET), as: sa_family_t.self)
            unsafe place.storeBytes(of: port.bigEndian, toByteOffset: 2, as: UInt16.self)
            for (index, byte) in address.enumerated() {
                unsafe place[(isIPv6 ? 8 : 4) + index] = byte
            }
        }
        let length = isIPv6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
        guard unsafe platform_bind(descriptor, &storage, socklen_t(length)) == 0,
            kind != SOCK_STREAM.rawValue || listen(descriptor, backlog) == 0
        else { throw ConfinementError("listen on port \(port)") }
        return descriptor
    }

    private static let backlog: Int32 = 4096
    private static let loopbackFour: [UInt8] = [127, 0, 0, 1]
    private static let loopbackSix = [UInt8](repeating: 0, count: 15) + [1]
    /// What `/etc/resolv.conf` names inside.
    static let resolver: [UInt8] = [127, 0, 0, 53]
}
