package import Sockets

/// A connection to an origin that was opened before it was known what would be spoken on it.
package struct DialledOrigin {
    package let channel: Channel
    package let address: SocketAddress
    /// Whose clients may be led there.
    package let reach: OriginReach
    /// The proxy that it leads to, which wants whole URLs; `nil` if it leads to the origin.
    package let forwarder: UpstreamProxy?

    package init(
        channel: Channel, address: SocketAddress, reach: OriginReach,
        forwarder: UpstreamProxy? = nil
    ) {
        self.channel = channel
        self.address = address
        self.reach = reach
        self.forwarder = forwarder
    }

    package func close() {
        channel.close()
    }

    /// Whether what the origin said first is the SETTINGS of HTTP/2, which do not wait for the
    /// client's preface (RFC 9113 §3.4).
    package var beginsHTTP2: Bool {
        let header = channel.peek(9)
        guard header.count == 9 else { return false }
        let size = Int(header[0]) << 16 | Int(header[1]) << 8 | Int(header[2])
        return header[3] == 4 && header[4] == 0 && size % 6 == 0 && size < 256
            && header[5...].allSatisfy { $0 == 0 }
    }
}
