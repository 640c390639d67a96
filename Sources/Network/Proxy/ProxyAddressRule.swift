internal import Origins
internal import Sockets

/// Keeps a proxy from addresses that its rules block, and from itself.
final class ProxyAddressRule: AddressRule {
    private let disposition: DispositionRules
    private let listening: [SocketAddress]
    private let ownPorts: Set<UInt16>

    init(disposition: DispositionRules, listening: [SocketAddress]) {
        self.disposition = disposition
        self.listening = listening
        ownPorts = Set(listening.map(\.port))
    }

    /// Whether an address is one of the proxy's own listeners: what comes in there would come back
    /// for ever, and a page in a browser could reach what only the machine's owner may.
    func isOwn(_ address: SocketAddress) -> Bool {
        guard ownPorts.contains(address.port) else { return false }
        return address.isLoopback || address.isWildcard
            || listening.contains { $0.host == address.host }
    }

    func leadsBack(_ channel: Channel, to address: SocketAddress, _ port: UInt16) -> Bool {
        ownPorts.contains(port) && channel.localAddress?.host == address.host
    }

    func blockReason(_ address: SocketAddress) -> String? {
        disposition.blockReason(address: address.host)
    }
}
