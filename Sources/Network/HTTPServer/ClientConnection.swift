/// What is known of the connection that a request came on, the same for all of its requests.
package final class ClientConnection: Sendable {
    /// What TLS says of a client.
    package struct Security: Sendable, Equatable {
        /// The name that the client asked for by SNI; `nil` if it asked for none.
        package let serverName: String?
        /// What was agreed by ALPN; `nil` for nothing.
        package let applicationProtocol: String?
        /// Such as `TLSv1.3`.
        package let version: String
        package let cipher: String
        /// The client's certificate with its chain, leaf first, in DER; empty without one.
        package let clientChain: [[UInt8]]
        /// Whether that chain leads to one of the port's client authorities.
        package let isClientVerified: Bool
        /// What names this connection to both of its ends, and to nobody between (RFC 5929 §4).
        package let endPointDigest: [UInt8]?

        package init(
            serverName: String?, applicationProtocol: String?, version: String, cipher: String,
            clientChain: [[UInt8]] = [], isClientVerified: Bool = false,
            endPointDigest: [UInt8]? = nil
        ) {
            self.serverName = serverName
            self.applicationProtocol = applicationProtocol
            self.version = version
            self.cipher = cipher
            self.clientChain = clientChain
            self.isClientVerified = isClientVerified
            self.endPointDigest = endPointDigest
        }
    }

    /// Counted from 1, over all ports of the server.
    package let number: UInt64
    /// The client's address and port, for people and logs.
    package let peer: String
    /// The client's address alone; `relayed` where somebody in between has connected for it.
    package let host: String
    /// `nil` on a plain port.
    package let security: Security?

    package init(number: UInt64, peer: String, host: String, security: Security? = nil) {
        self.number = number
        self.peer = peer
        self.host = host
        self.security = security
    }
}
