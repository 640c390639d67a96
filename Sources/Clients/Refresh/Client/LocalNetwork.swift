internal import Base
internal import Sockets

/// Which hosts are on the local network, for which a user is asked (seed 004): not this machine
/// itself.
package enum LocalNetwork {
    /// - Parameter host: a name or an address, without brackets.
    package static func holds(_ host: String) -> Bool {
        let name = host.lowercased()
        let bare = name.hasSuffix(".") ? String(name.dropLast()) : name
        if bare == "local" || bare.hasSuffix(".local") { return true }
        guard let address = SocketAddress(literal: bare, port: 1)?.address else { return false }
        return address.count == 4 ? isLocal(address) : isLocalIPv6(address)
    }

    /// RFC 1918, RFC 3927, and multicast and broadcast.
    private static func isLocal(_ address: [UInt8]) -> Bool {
        switch (address[0], address[1]) {
        case (10, _), (172, 16...31), (192, 168), (169, 254), (224...239, _): true
        default: address.allSatisfy { $0 == 255 }
        }
    }

    /// RFC 4193, RFC 4291 §2.5.6 and §2.7, and an IPv4 address within.
    private static func isLocalIPv6(_ address: [UInt8]) -> Bool {
        let isMapped = address.prefix(10).allSatisfy { $0 == 0 } && address[10...11] == [255, 255]
        if isMapped { return isLocal(Array(address[12...])) }
        return address[0] & 0xFE == 0xFC || address[0] == 0xFF
            || address[0] == 0xFE && address[1] & 0xC0 == 0x80
    }
}
