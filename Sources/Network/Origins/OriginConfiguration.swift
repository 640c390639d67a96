package import Sockets
package import TLS

/// How origins are reached, and for how long they may take: values only.
package struct OriginConfiguration: Sendable {
    /// Other proxies on the way to origins; the first that leads to a host is taken.
    package var upstreams: [UpstreamProxy] = []
    /// What decides where none of `upstreams` leads to a host.
    package var proxies = ProxySettings.direct
    /// Whether requests without TLS are given to a proxy of HTTP whole (RFC 9112 §3.2.2) and go by no
    /// tunnel: many proxies make tunnels to port 443 alone.
    package var forwardsCleartext = false
    package var hosted: HostedZone?
    package var versions = TLSVersions.modern
    /// Whether suites without forward secrecy are not offered: the proxy takes what its clients would.
    package var keepsSecrecy = false
    /// Trusted besides the system's.
    package var extraAuthorities: [Certificate] = []
    /// What is shown to origins that ask for a certificate; the first that is for a host is taken.
    package var identities: [OriginIdentity] = []
    /// Whether it is shown to an origin whose own certificate does not verify.
    package var trustsAnybody = false
    /// In milliseconds.
    package var connectTimeout: UInt64 = 15_000
    /// In milliseconds.
    package var handshakeTimeout: UInt64 = 15_000
    /// For an origin of HTTP/2 to take what is sent, in milliseconds.
    package var writeTimeout: UInt64 = 120_000
    /// How long a connection of HTTP/2 may be without a stream, in milliseconds.
    package var streamIdleTimeout: UInt64 = 300_000
    /// How long an unused connection is kept for the next request, in milliseconds.
    package var idleTimeout: UInt64 = 15_000
    /// Unused connections that are kept; more are closed.
    package var idleCount = 256
    /// Whether a client that asks for ::1 is led to 127.0.0.1 where nothing listens there: one that
    /// was connected before its origin cannot go on to the other address of localhost by itself.
    package var bridgesLoopback = false
    /// Who connects, as failures call it.
    package var dialler = "the proxy"
    /// What to do about an origin that wants a certificate of its client.
    package var certificateHint = "no certificate can be shown to it"
    /// What to do about an upstream proxy that wants a login.
    package var upstreamHint: String?
    /// What to do about a certificate that nobody who is trusted vouches for.
    package var trustHint = ""
    /// The same of one that is known and has another flaw; `nil` where nothing is to be done here.
    package var flawHint: String?

    package init() {}
}

/// A certificate with its key, and the hosts that it is shown to.
package struct OriginIdentity: Sendable {
    package let host: HostPattern
    package let identity: ClientIdentity

    package init(_ identity: ClientIdentity, for host: HostPattern) {
        self.identity = identity
        self.host = host
    }
}

/// Which addresses are not connected to, whoever asks.
package protocol AddressRule: AnyObject {
    /// Whether an address leads back to whoever dials.
    func isOwn(_ address: SocketAddress) -> Bool
    /// The same of a connection that is open.
    func leadsBack(_ channel: Channel, to address: SocketAddress, _ port: UInt16) -> Bool
    /// Why an address is not served; `nil` if it is.
    func blockReason(_ address: SocketAddress) -> String?
}
