internal import CPlatform
internal import Glibc

extension SocketAddress {
    /// The addresses at which other machines reach a listener here, IPv4 first; none for one on
    /// loopback, nor those of links, which need a zone.
    package var placesOnNetwork: [SocketAddress] {
        if isLoopback { return [] }
        guard isWildcard else { return [self] }
        var first: UnsafeMutablePointer<ifaddrs>?
        guard unsafe getifaddrs(&first) == 0 else { return [] }
        defer { unsafe freeifaddrs(first) }
        var found: [SocketAddress] = []
        var next = unsafe first
        while let entry = unsafe next {
            unsafe next = entry.pointee.ifa_next
            guard unsafe entry.pointee.ifa_flags & UInt32(IFF_UP) != 0,
                let address = unsafe Self.address(entry.pointee.ifa_addr, port: port),
                !address.isLoopback, !address.isOfLink, isIPv6 || !address.isIPv6
            else { continue }
            found.append(address)
        }
        return found.filter { !$0.isIPv6 } + found.filter(\.isIPv6)
    }

    private static func address(
        _ pointer: UnsafeMutablePointer<sockaddr>?, port: UInt16
    ) -> SocketAddress? {
        guard let pointer = unsafe pointer else { return nil }
        var storage = sockaddr_storage()
        let size =
            switch unsafe Int32(pointer.pointee.sa_family) {
            case AF_INET: MemoryLayout<sockaddr_in>.size
            case AF_INET6: MemoryLayout<sockaddr_in6>.size
            default: 0
            }
        guard size > 0 else { return nil }
        unsafe withUnsafeMutableBytes(of: &storage) {
            unsafe $0.copyMemory(from: UnsafeRawBufferPointer(start: pointer, count: size))
        }
        return SocketAddress(storage).map { SocketAddress(address: $0.address, port: port) }
    }

    /// 169.254/16 and fe80::/10.
    private var isOfLink: Bool {
        isIPv6
            ? address[0] == 0xFE && address[1] & 0xC0 == 0x80
            : address[0] == 169 && address[1] == 254
    }
}
