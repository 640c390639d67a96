package import Negotiation
package import Sockets

/// What a proxy is made of: what it is wired to, the policy that its first connections are served by,
/// and who stands in their way.
package struct ProxyPlan: Sendable {
    package var wiring: ProxyWiring
    package var policy = ProxyPolicy()
    /// In order: of several that would take a connection or answer a request, the first does.
    package var interceptors: [any Interceptor] = []

    package init(listen: SocketAddress, mode: Mode = .explicit) {
        wiring = ProxyWiring(ports: [PortPlan(listen, mode)])
    }

    /// How clients come in.
    package enum Mode: Sendable, Equatable {
        /// Clients know that it is a proxy: absolute-form and CONNECT (RFC 9110 §7.3).
        case explicit
        /// Clients take it for the origin.
        case reverse(ReverseTarget)
        /// Clients were on their way to an origin, and the system led them here.
        case transparent
        /// The same, from a namespace that has no other way out: see `ProxyPlan.captured`.
        case captured
    }

    package struct ReverseTarget: Sendable, Equatable {
        package let scheme: Scheme
        package let host: String
        package let port: UInt16

        package enum Scheme: String, Sendable, CaseIterable {
            case http
            case https
            /// Whatever client and origin speak.
            case tcp
        }

        package init(_ scheme: Scheme, host: String, port: UInt16) {
            self.scheme = scheme
            self.host = host
            self.port = port
        }
    }
}

/// A port that clients come in at.
package struct PortPlan: Sendable {
    package var source: Source
    package var mode: ProxyPlan.Mode
    /// Who may use it; `nil` for everybody who can reach it.
    package var credentials: [SOCKSCredential]?
    /// Whether connections to other addresses are taken that the system hands over
    /// (IP_TRANSPARENT); it needs the privilege.
    package var isTransparentSocket = false

    package enum Source: Sendable, Equatable {
        case address(SocketAddress)
        /// A socket that listens already, and the address that it is told by.
        case descriptor(Int32, SocketAddress)
    }

    package init(_ address: SocketAddress, _ mode: ProxyPlan.Mode) {
        source = .address(address)
        self.mode = mode
    }

    package init(descriptor: Int32, _ address: SocketAddress, _ mode: ProxyPlan.Mode) {
        source = .descriptor(descriptor, address)
        self.mode = mode
    }
}
