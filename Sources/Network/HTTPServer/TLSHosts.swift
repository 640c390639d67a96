package import Base
package import Sockets
package import TLS

/// What a TLS port shows by the name that a client asks for.
package protocol TLSHosts: Sendable {
    /// Chooses for one connection; what takes long is made on another thread.
    func host(for hello: ClientHello) async -> TLSHost
}

/// What one client of a TLS port is shown.
package enum TLSHost: Sendable {
    /// A certificate of the port's authority for the name.
    ///
    /// - clientAuthorities: whose certificates the client is asked for; `nil` to ask for none. A
    ///   client without one is served all the same: that is the routes' to judge.
    case sound(clientAuthorities: [Certificate]? = nil)
    /// TLS of another kind, with the server's routes behind it for who takes it.
    case other(ProbeTLSConfiguration)
    /// Something else has the connection to its end; it is given what the client has sent, and does
    /// not close the channel.
    case taken(@Sendable (Channel, ByteBuffer) async -> Void)
}
