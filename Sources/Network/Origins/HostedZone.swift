package import Sockets

/// Names that lead to a server of ours, whatever the system's resolver says of them.
package struct HostedZone: Sendable {
    private let hosts: HostPattern
    private let places: [UInt16: SocketAddress]

    /// - Parameter places: by the port that is asked for.
    package init(_ hosts: HostPattern, places: [UInt16: SocketAddress]) {
        self.hosts = hosts
        self.places = places
    }

    func address(of host: String, _ port: UInt16) -> SocketAddress? {
        hosts.matches(host) ? places[port] : nil
    }
}
