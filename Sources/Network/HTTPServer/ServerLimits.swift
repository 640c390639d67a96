package import HTTPCodecs

/// What one client may take of the server; times are in milliseconds.
package struct ServerLimits: Sendable {
    package var head = HeadLimits()
    /// From the first byte to the end of the handshake: slow phones need seconds.
    package var handshakeTimeout: UInt64 = 15_000
    /// From a head's first byte to its last, so that a byte a second does not hold a connection.
    package var headTimeout: UInt64 = 15_000
    /// Between two requests; longer than the pools of browsers keep unused connections.
    package var idleTimeout: UInt64 = 75_000
    /// For the next bytes of a request's content.
    package var bodyTimeout: UInt64 = 30_000
    /// For a client to take one buffer of a response, at most 64 KiB.
    package var writeTimeout: UInt64 = 60_000
    /// How long a pause or a digest may take for a client that has ended its direction: it may still
    /// read, but one that has gone looks the same.
    package var halfClosedPatience: UInt64 = 2_000
    /// How much of a request's content is skipped, in bytes, to use the connection again; beyond,
    /// a new connection is cheaper.
    package var skippedBody: UInt64 = 65_536

    /// Of a connection of HTTP/2.
    package var http2 = HTTP2Limits()

    package init() {}
}
