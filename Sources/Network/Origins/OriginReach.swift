package import Sockets

/// Where a client's requests may go.
package enum OriginReach {
    case everywhere
    case beyondLoopback

    package func includes(_ address: SocketAddress) -> Bool {
        self == .everywhere || !(address.isLoopback || address.isWildcard)
    }

    /// Whether a connection that was opened with `other` leads nowhere else.
    package func includes(_ other: OriginReach) -> Bool { self == .everywhere || other == self }
}
