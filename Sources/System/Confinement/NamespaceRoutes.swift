internal import Glibc

/// Makes the loopback interface of a new network namespace the way to everywhere.
///
/// It has an address of global scope of each family, because without one the source of packets
/// would be 0.0.0.0, and replies to that are lost.
enum NamespaceRoutes {
    /// How packets for foreign addresses are taken.
    enum Kind {
        /// They are routed to the interface, where netfilter leads them to our sockets.
        case redirected
        /// Every address is this machine's own: a socket bound to all addresses gets them.
        case everyAddressOurs
    }

    /// - Returns: whether IPv6 is there.
    static func set(_ kind: Kind) throws(ConfinementError) -> Bool {
        let socket = try NetlinkSocket(protocol: Netlink.route)
        defer { socket.close() }
        try bringUp(socket)
        try setAddress(socket, four, family: AF_INET)
        try setRoute(socket, kind, four, family: AF_INET)
        do throws(ConfinementError) {
            try setAddress(socket, six, family: AF_INET6)
            try setRoute(socket, kind, six, family: AF_INET6)
            return true
        } catch {
            // A kernel without IPv6, or one that was told to leave it out: nobody can use it.
            return false
        }
    }

    private static func bringUp(_ socket: NetlinkSocket) throws(ConfinementError) {
        var writer = NetlinkWriter()
        writer.message(type: newLink, flags: Netlink.acknowledge) {
            $0.append(UInt8(AF_UNSPEC))
            $0.append(UInt8(0))
            $0.append(UInt16(0))
            $0.append(loopbackIndex)
            $0.append(interfaceUp)
            $0.append(interfaceUp)
        }
        _ = try socket.request(writer, "bring up the interface")
    }

    private static func setAddress(
        _ socket: NetlinkSocket, _ address: [UInt8], family: Int32
    ) throws(ConfinementError) {
        var writer = NetlinkWriter()
        writer.message(
            type: newAddress, flags: Netlink.acknowledge | Netlink.create | Netlink.exclusive
        ) {
            $0.append(UInt8(family))
            $0.append(UInt8(address.count * 8))
            $0.append(family == AF_INET6 ? noDuplicateDetection : 0)
            $0.append(UInt8(0))
            $0.append(loopbackIndex)
            $0.attribute(1, address)
            $0.attribute(2, address)
        }
        _ = try socket.request(writer, "set an address")
    }

    private static func setRoute(
        _ socket: NetlinkSocket, _ kind: Kind, _ source: [UInt8], family: Int32
    ) throws(ConfinementError) {
        let isLocal = kind == .everyAddressOurs
        var writer = NetlinkWriter()
        writer.message(
            type: newRoute, flags: Netlink.acknowledge | Netlink.create | Netlink.exclusive
        ) {
            $0.append(UInt8(family))
            $0.append(UInt8(0))
            $0.append(UInt8(0))
            $0.append(UInt8(0))
            $0.append(isLocal ? localTable : mainTable)
            $0.append(staticOrigin)
            $0.append(isLocal && family == AF_INET ? hostScope : 0)
            $0.append(isLocal ? localRoute : unicastRoute)
            $0.append(UInt32(0))
            $0.attribute(outputInterface, nativeBytes(loopbackIndex))
            $0.attribute(preferredSource, source)
        }
        _ = try socket.request(writer, "set a route")
    }

    private static func nativeBytes(_ number: UInt32) -> [UInt8] {
        unsafe withUnsafeBytes(of: number) { unsafe [UInt8]($0) }
    }

    /// 198.19.255.1, of the block for benchmarks (RFC 2544), which no network uses.
    static let four: [UInt8] = [198, 19, 255, 1]
    /// fd00:19::1, a unique local address (RFC 4193).
    static let six: [UInt8] = [0xFD, 0, 0, 0x19] + [UInt8](repeating: 0, count: 11) + [1]

    // Numbers of linux/rtnetlink.h, if_link.h and if_addr.h.
    private static let newLink: UInt16 = 16
    private static let newAddress: UInt16 = 20
    private static let newRoute: UInt16 = 24
    /// A new network namespace has this interface only.
    private static let loopbackIndex: UInt32 = 1
    private static let interfaceUp: UInt32 = 1
    private static let noDuplicateDetection: UInt8 = 2
    private static let mainTable: UInt8 = 254
    private static let localTable: UInt8 = 255
    private static let staticOrigin: UInt8 = 4
    private static let hostScope: UInt8 = 254
    private static let unicastRoute: UInt8 = 1
    private static let localRoute: UInt8 = 2
    private static let outputInterface: UInt16 = 4
    private static let preferredSource: UInt16 = 7
}
