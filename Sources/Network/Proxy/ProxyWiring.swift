internal import HTTPCodecs
internal import HTTPModel
package import Origins
internal import Sockets
package import TLS

/// Where a proxy's clients come in, and the bounds of what they can make it do: fixed as long as it
/// runs.
package struct ProxyWiring: Sendable {
    /// Where clients come in; at least one.
    package var ports: [PortPlan]
    /// The namespace that a port of mode `captured` is in.
    package var captured: CapturedNetwork?
    /// Names that lead to a server beside the proxy; `nil` for none.
    package var hosted: HostedZone?
    /// What requests to the proxy itself are answered with; `nil` for not at all.
    package var page: (any OwnPage)?
    /// Whether it is looked for which programs of this machine connections come from.
    package var findsProcesses = false
    /// Of TLS, with clients and origins.
    package var versions = TLSVersions.modern
    package var limits = ProxyLimits()
    /// Event loops, each a thread; one a processor by default.
    package var loopCount = availableProcessorCount()
}

/// The bounds of what a peer can make the proxy hold or wait for.
package struct ProxyLimits: Sendable {
    /// For the first byte of a connection, in milliseconds.
    package var openingTimeout: UInt64 = 60_000
    /// For a whole request head from its first byte, in milliseconds.
    package var headTimeout: UInt64 = 30_000
    /// Of a head of HTTP/1, in bytes: Kerberos tickets and tokens in URLs reach some hundred KB.
    package var headSize = 1 << 20
    /// Between two requests of a connection, in milliseconds.
    package var idleTimeout: UInt64 = 300_000
    /// For the next byte of a body, or for the peer to take one, in milliseconds.
    package var bodyTimeout: UInt64 = 120_000
    /// For the head of a response once the request is sent, in milliseconds; long polls need it long.
    package var responseTimeout: UInt64 = 600_000
    package var connectTimeout: UInt64 = 15_000
    package var handshakeTimeout: UInt64 = 15_000
    /// How long an origin may still take to answer a client that has ended its direction, and a
    /// client to go on with content behind its response, in milliseconds.
    package var halfCloseGrace: UInt64 = 10_000
    /// How long an unused connection to an origin is kept, in milliseconds.
    package var originIdle: UInt64 = 15_000
    /// Unused connections to origins that each loop keeps.
    package var originIdleCount = 256
    /// How soon after the handshake a client must have closed to count as one that refused, in
    /// milliseconds: a browser's spare connection is closed much later.
    package var refusalWindow: UInt64 = 3_000

    package init() {}

    /// Clients are held to the letter.
    var requestHead: HeadLimits { HeadLimits(total: headSize) }
    /// Origins are taken as clients take them.
    var responseHead: HeadLimits { HeadLimits(total: headSize, leniency: .response) }
}
