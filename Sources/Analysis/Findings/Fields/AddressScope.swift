/// How far what is sent to an address goes; the raw values are a contract.
package enum AddressScope: String, Sendable {
    case loopback
    /// RFC 1918 §3, RFC 4193 §3.
    case privateNetwork = "private"
    /// RFC 3927 §2.1, RFC 4291 §2.5.6.
    case linkLocal = "link-local"
    /// Behind a provider's translation (RFC 6598 §7).
    case shared
    /// Many hosts: RFC 1112 §4, RFC 4291 §2.7, RFC 919 §7.
    case group
    case global

    /// Whether it ends within the local network.
    var isNearby: Bool { self == .privateNetwork || self == .linkLocal || self == .shared }

    /// - Returns: `nil` for a name.
    init?(_ host: HostName) {
        guard host.isAddress else { return nil }
        if host.bytes.contains(0x3A) {
            self = Self.ofVersion6(host)
            return
        }
        let parts = host.text.split(separator: ".").compactMap { UInt8($0) }
        guard parts.count == 4 else { return nil }
        self =
            switch (parts[0], parts[1]) {
            case (127, _): .loopback
            case (10, _), (172, 16...31), (192, 168): .privateNetwork
            case (169, 254): .linkLocal
            case (100, 64...127): .shared
            case (224...239, _), (255, 255): .group
            default: .global
            }
    }

    private static func ofVersion6(_ host: HostName) -> AddressScope {
        if host.isLoopback { return .loopback }
        let start = host.text.prefix { $0 != ":" }
        guard let group = UInt16(start, radix: 16) else { return .global }
        return switch group {
        case 0xFE80...0xFEBF: .linkLocal
        case 0xFC00...0xFDFF: .privateNetwork
        case 0xFF00...: .group
        default: .global
        }
    }

    var text: String {
        switch self {
        case .loopback: "this machine itself"
        case .privateNetwork: "a private network"
        case .linkLocal: "the local link"
        case .shared: "a provider's shared network"
        case .group: "a group of hosts"
        case .global: "the Internet"
        }
    }
}

extension HostName {
    /// Whether it is a name of the local link (RFC 6762 §3).
    var isLinkName: Bool { bytes.count > 6 && bytes.suffix(6).elementsEqual(".local".utf8) }
}
