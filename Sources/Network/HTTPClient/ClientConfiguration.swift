package import Origins
package import TLS

/// How origins are reached and for how long they may take.
package struct ClientConfiguration: Sendable {
    /// Trusted besides the system's.
    package var authorities: [Certificate] = []
    /// What is shown to origins that ask for a certificate.
    package var identities: [OriginIdentity] = []
    package var versions = TLSVersions.modern
    /// Whether suites without forward secrecy are not offered.
    package var keepsSecrecy = false
    /// Proxies on the way to origins; the first that leads to a host is taken.
    package var upstreams: [UpstreamProxy] = []
    /// What decides where none of them leads to a host.
    package var proxies = ProxySettings.direct
    /// Whether requests without TLS are given to a proxy of HTTP whole; no WebSocket can be opened by
    /// it then.
    package var forwardsCleartext = false
    package var http = ClientVersions.auto
    /// In milliseconds: what a person would wait for a connection.
    package var connectTimeout: UInt64 = 10_000
    /// In milliseconds without a byte of the response: long polls end within a minute.
    package var readTimeout: UInt64 = 60_000
    /// In milliseconds without a byte of the request taken.
    package var writeTimeout: UInt64 = 60_000
    /// How many connections wait for the next request; more are closed.
    package var idleLimit = 64
    /// How long a connection of HTTP/2 may be without a request, in milliseconds: longer than most
    /// servers let it.
    package var idleTimeout: UInt64 = 300_000
    /// How many requests are under way on one connection of HTTP/2, if its origin takes as many:
    /// the least that RFC 9113 §6.5.2 recommends to take.
    package var streamLimit = 100
    /// In bytes: what is kept in memory of an answer, for who looks for values in it.
    package var keptContentLimit = 1 << 20
    /// Whether an exchange without a reception ends where that is reached: nobody looks at the rest,
    /// which may have no end. What records answers reads them whole.
    package var endsBeyondKept = false
    /// In milliseconds, of a whole exchange without a reception; `nil` for as long as bytes come.
    package var timeLimit: UInt64?
    /// What to do about an upstream proxy that wants a login.
    package var upstreamHint =
        "name the proxy with user and password in http_proxy and https_proxy"
    /// What to do about an origin that wants a certificate of the client's.
    package var certificateHint = "show it one with --client-cert HOST=FILE"

    package init() {}

    /// How origins are reached.
    var origins: OriginConfiguration {
        var origins = OriginConfiguration()
        origins.upstreams = upstreams
        origins.proxies = proxies
        origins.forwardsCleartext = forwardsCleartext
        origins.versions = versions
        origins.keepsSecrecy = keepsSecrecy
        origins.extraAuthorities = authorities
        origins.identities = identities
        origins.connectTimeout = connectTimeout
        origins.handshakeTimeout = connectTimeout
        origins.writeTimeout = writeTimeout
        origins.streamIdleTimeout = idleTimeout
        origins.dialler = "the client"
        origins.certificateHint = certificateHint
        origins.upstreamHint = upstreamHint
        origins.trustHint = "name a file with the CA that vouches for it with --ca"
        return origins
    }
}

/// Which versions of HTTP a client speaks.
package enum ClientVersions: String, CaseIterable, Sendable {
    /// The one that a request prefers where the origin has it, else the other.
    case auto
    case http1 = "1"
    case http2 = "2"
}
