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
        if localDomains.contains(where: { name == $0 || name.hasSuffix("." + $0) }) { return true }
        guard let address = SocketAddress(literal: name, port: 1)?.address else { return false }
        let inner = innermost(address)
        return inner.count == 4 ? isLocalIPv4(inner) : isLocalIPv6(inner)
    }

    /// RFC 6762 §3, RFC 8375, and the ones that are kept for private use.
    private static let localDomains = ["local", "home.arpa", "internal", "lan"]

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
            let isHere =
                address.isLoopback || isThisHost(innermost(address.address))
                || address.address.allSatisfy { $0 == 0 }
            return isHere ? .thisMachine : .elsewhere
        }
        guard !isNumber(name) else { return nil }
        let names = name.split(separator: ".").map(String.init)
        if names.last == "localhost" || names.count == 1 && ownNames.contains(names[0])
            || ["localdomain", "localdomain4", "localdomain6"].contains(names.last ?? "")
        {
            return .thisMachine
        }
        // What has one label is found in the domain of this machine.
        return name.contains(".") ? .elsewhere : .localNetwork
    }

    /// As tables of hosts have them.
    private static let ownNames = [
        "localhost", "localhost4", "localhost6", "ip6-localhost", "ip6-loopback",
    ]

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

    /// RFC 1122 §3.2.1.3: 0.0.0.0/8 and 127/8.
    private static func isThisHost(_ address: [UInt8]) -> Bool {
        address.count == 4 && (address[0] == 0 || address[0] == 127)
    }

    /// The IPv4 address within one of IPv6, or the address itself: mapped and of old (RFC 4291 §2.5.5),
    /// translated (RFC 2765 §2.1, RFC 6052 §2.1), and of 6to4 (RFC 3056 §2).
    private static func innermost(_ address: [UInt8]) -> [UInt8] {
        guard address.count == 16 else { return address }
        if address[0...1] == [0x20, 0x02] { return Array(address[2..<6]) }
        let holdsOne = prefixes.contains { address.starts(with: $0) }
        // Of ::1, which is this machine, more is known.
        return holdsOne && !address.starts(with: [UInt8](repeating: 0, count: 15))
            ? Array(address[12...]) : address
    }

    private static let zeros = [UInt8](repeating: 0, count: 12)
    private static let prefixes: [[UInt8]] = [
        zeros, zeros.prefix(10) + [0xFF, 0xFF], zeros.prefix(8) + [0xFF, 0xFF, 0, 0],
        [0, 0x64, 0xFF, 0x9B] + zeros.prefix(8),
    ]

    /// RFC 1918, RFC 3927, RFC 6598 and what else never leads far (RFC 6890 §2.2.2): addresses of
    /// protocols, of measurements, of many, and those that are kept back.
    private static func isLocalIPv4(_ address: [UInt8]) -> Bool {
        switch (address[0], address[1], address[2]) {
        case (10, _, _), (172, 16...31, _), (192, 168, _), (169, 254, _): true
        case (100, 64...127, _), (192, 0, 0), (198, 18...19, _), (224...255, _, _): true
        default: false
        }
    }

    /// RFC 4193, RFC 4291 §2.5.6 and §2.7, RFC 3879.
    private static func isLocalIPv6(_ address: [UInt8]) -> Bool {
        address[0] & 0xFE == 0xFC || address[0] == 0xFF
            || address[0] == 0xFE && address[1] & 0x80 == 0x80
    }
}
