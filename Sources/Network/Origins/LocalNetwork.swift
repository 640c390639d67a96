internal import Base
internal import Sockets

/// Where hosts are, by their names alone: a user is asked before an app reaches those on the local
/// network, and a stranger's document leads to neither those nor this machine.
package enum LocalNetwork {
    /// Whether a user is asked for it: not for this machine itself.
    ///
    /// - Parameter host: a name or an address, without brackets.
    package static func holds(_ host: String) -> Bool {
        let name = bare(host)
        if name == "local" || name.hasSuffix(".local") { return true }
        guard let address = SocketAddress(literal: name, port: 1)?.address else { return false }
        return address.count == 4 ? isLocal(address) : isLocalIPv6(address)
    }

    /// Whether what is fetched from one host may lead to another.
    package static func mayLead(from host: String, to next: String) -> Bool {
        guard let zone = zone(of: next) else { return false }
        return zone == .elsewhere || zone == self.zone(of: host)
    }

    private enum Zone {
        case elsewhere
        case localNetwork
        case thisMachine
    }

    /// - Returns: `nil` for an address in a spelling that resolvers read, and nobody writes who wants
    ///   to be understood.
    private static func zone(of host: String) -> Zone? {
        let name = bare(host)
        if holds(name) { return .localNetwork }
        if let address = SocketAddress(literal: name, port: 1) {
            let isHere = address.isLoopback || isThisHost(address.address)
            return isHere ? .thisMachine : .elsewhere
        }
        guard !isNumber(name) else { return nil }
        if name == "localhost" || name.hasSuffix(".localhost") || name == "localhost.localdomain" {
            return .thisMachine
        }
        // What has one label is found in the domain of this machine.
        return name.contains(".") ? .elsewhere : .localNetwork
    }

    private static func bare(_ host: String) -> String {
        let name = host.lowercased()
        return name.hasSuffix(".") ? String(name.dropLast()) : name
    }

    /// Whether it is read as a number of IPv4, such as 2130706433, 0x7f.1 or 127.1 (URL standard, "ends
    /// in a number"), or has the colons of an address and is none.
    private static func isNumber(_ name: String) -> Bool {
        guard !name.contains(":") else { return true }
        let last = name.split(separator: ".", omittingEmptySubsequences: false).last ?? ""
        guard last.hasPrefix("0x") else { return last.utf8.allSatisfy(\.isASCIIDigit) }
        return last.utf8.dropFirst(2).allSatisfy { $0.isASCIIDigit || (0x61...0x66).contains($0) }
    }

    /// RFC 1122 §3.2.1.3 (0.0.0.0/8), and the same and 127/8 in the old form of RFC 4291 §2.5.5.1.
    private static func isThisHost(_ address: [UInt8]) -> Bool {
        guard address.count == 16 else { return address[0] == 0 }
        if address[10...11] == [255, 255] { return isMapped(address) && address[12] == 0 }
        return address.prefix(12).allSatisfy { $0 == 0 } && [0, 127].contains(address[12])
    }

    private static func isMapped(_ address: [UInt8]) -> Bool {
        address.prefix(10).allSatisfy { $0 == 0 } && address[10...11] == [255, 255]
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
        if isMapped(address) { return isLocal(Array(address[12...])) }
        return address[0] & 0xFE == 0xFC || address[0] == 0xFF
            || address[0] == 0xFE && address[1] & 0xC0 == 0x80
    }
}
