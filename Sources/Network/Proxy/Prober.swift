package import Sockets
package import TLS
package import Traffic

/// Takes connections out of the proxy's hands, to show their clients what an audit has prepared.
package protocol Prober: Interceptor {
    /// Says whether a connection may be for it; called before any origin is asked.
    func claim(_ visit: ProbeVisit) -> ProbeClaim

    /// Says how a claimed connection is served; `nil` leaves it to the proxy. Called once the client
    /// has begun to speak, or at once if its server speaks first.
    func probe(for visit: ProbeVisit) -> (any ProbeMachine)?
}

package enum ProbeClaim: Sendable {
    case none
    /// The client's first bytes are waited for, and tell more.
    case afterOpening
    /// The server speaks first.
    case atOnce
}

/// A client that wants to speak to a destination.
package struct ProbeVisit: Sendable {
    /// The connection's number in the capture.
    package let connection: Int64
    package let peer: SocketAddress
    /// Where it came in.
    package let listener: SocketAddress
    /// The program, if it runs on this machine and has been found.
    package var process: ProcessRecord?
    package let host: String
    package let port: UInt16
    /// What the client opened TLS with; `nil` for what begins in another way, or waits.
    package var hello: ClientHello?

    package init(
        connection: Int64, peer: SocketAddress, listener: SocketAddress, process: ProcessRecord?,
        host: String, port: UInt16, hello: ClientHello?
    ) {
        self.connection = connection
        self.peer = peer
        self.listener = listener
        self.process = process
        self.host = host
        self.port = port
        self.hello = hello
    }
}

/// One probe of one connection, without a socket: the client's bytes go in, ours come out.
///
/// One task drives it.
package protocol ProbeMachine: AnyObject, Sendable {
    /// Such as `name-wrong-host`, as it is recorded.
    var identifier: String { get }
    /// When the client's silence is to be told, in milliseconds from the last of its bytes.
    var patience: UInt64 { get }
    /// Takes what the client sent; it is consumed.
    func receive(_ bytes: Span<UInt8>)
    /// Takes note that nothing came for `patience`.
    func noteSilence()
    /// Takes note of the end that the client made of the connection.
    func noteEnd(_ end: ProbeEnd)
    /// What is to be sent now; empty for nothing.
    func takeOutgoing() -> [UInt8]
    /// Whether the connection is to be closed once all is sent.
    var isOver: Bool { get }
    /// Facts of TLS for the connection's record, `nil` where there was none.
    var tls: TLSRecord? { get }
    /// What the client said inside, as far as it is kept, to be recorded.
    func takePlaintext() -> [(direction: Direction, bytes: [UInt8])]
    /// How the connection is recorded.
    var outcome: (outcome: ConnectionRecord.Outcome, cause: String) { get }
}

/// How a probe's connection ended.
package enum ProbeEnd: Sendable, Equatable {
    /// The client ended its direction, or the connection.
    case closed
    case reset
    /// We ended it, as `isOver` asked for.
    case ours
    /// The tool was shut down.
    case cut
}
