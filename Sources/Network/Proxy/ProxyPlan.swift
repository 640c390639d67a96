internal import HTTPCodecs
internal import HTTPModel
package import Negotiation
package import Origins
package import Sockets
package import TLS

/// What the proxy does with what comes in: values only, fixed before the first connection.
package struct ProxyPlan: Sendable {
    /// Where clients come in; at least one.
    package var ports: [PortPlan]
    /// Hosts at which clients are asked for a certificate, which they need not have.
    package var asksForCertificates: [HostPattern] = []
    /// Names that lead to a server beside the proxy; `nil` for none.
    package var hosted: HostedZone?
    package var originTrust = OriginTrust()
    package var originVersion = OriginVersion.mirrored
    package var disposition = DispositionRules()
    /// Other proxies on the way to origins; the first that leads to a host is taken.
    package var upstreams: [UpstreamProxy] = []
    /// Whether advertisements of HTTP/3 are taken out of responses, so that clients stay where they
    /// can be seen.
    package var removesHTTP3 = true
    /// The namespace that a port of mode `captured` is in.
    package var captured: CapturedNetwork?
    /// Whether it is looked for which programs of this machine connections come from.
    package var findsProcesses = false
    /// Who shows clients flawed servers in place of their origins; `nil` for nobody.
    package var prober: (any Prober)?
    /// Who answers in the place of origins; `nil` for the origins themselves.
    package var responder: (any OriginResponder)?
    /// What requests to the proxy itself are answered with; `nil` for not at all.
    package var page: (any OwnPage)?
    package var limits = ProxyLimits()
    package var versions = TLSVersions.modern
    /// Event loops, each a thread; one a processor by default.
    package var loopCount = availableProcessorCount()

    package init(listen: SocketAddress, mode: Mode = .explicit) {
        ports = [PortPlan(listen, mode)]
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

    /// What origins are spoken to in.
    package enum OriginVersion: String, Sendable, CaseIterable {
        /// What the client speaks, as far as the origin does.
        case mirrored = "auto"
        case http1 = "1"
        case http2 = "2"
    }

    package struct OriginTrust: Sendable {
        /// Trusted besides the system's.
        package var extraAuthorities: [Certificate] = []
        /// What is shown to origins that ask for a certificate.
        package var identities: [OriginIdentity] = []
        /// Whether a client is served although the origin's chain does not verify; the failure is
        /// recorded either way.
        package var servesUnverified = false

        package init() {}
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
    /// How long an origin may still take to answer a client that has ended its direction.
    package var halfCloseGrace: UInt64 = 10_000
    /// How long an unused connection to an origin is kept, in milliseconds.
    package var originIdle: UInt64 = 15_000
    /// Unused connections to origins that each loop keeps.
    package var originIdleCount = 256
    /// In bytes of one message's content; what is beyond is counted and not kept.
    package var recordedBody: Int64 = 1 << 30
    /// How soon after the handshake a client must have closed to count as one that refused, in
    /// milliseconds: a browser's spare connection is closed much later.
    package var refusalWindow: UInt64 = 3_000

    package init() {}

    /// Clients are held to the letter.
    var requestHead: HeadLimits { HeadLimits(total: headSize) }
    /// Origins are taken as clients take them.
    var responseHead: HeadLimits { HeadLimits(total: headSize, leniency: .response) }
}

extension ProxyPlan {
    /// How origins are reached.
    var origins: OriginConfiguration {
        var origins = OriginConfiguration()
        origins.upstreams = upstreams
        origins.hosted = hosted
        origins.bridgesLoopback = captured != nil
        origins.versions = versions
        origins.extraAuthorities = originTrust.extraAuthorities
        origins.identities = originTrust.identities
        origins.trustsAnybody = originTrust.servesUnverified
        origins.connectTimeout = limits.connectTimeout
        origins.handshakeTimeout = limits.handshakeTimeout
        origins.writeTimeout = limits.bodyTimeout
        origins.streamIdleTimeout = limits.idleTimeout
        origins.idleTimeout = limits.originIdle
        origins.idleCount = limits.originIdleCount
        origins.certificateHint =
            "show it one with --client-cert HOST=FILE; with --pass-through HOST the client shows its"
            + " own, and nothing is decrypted"
        origins.trustHint =
            "trust its CA with --origin-ca FILE, or go on and record it with --insecure-origin"
        origins.upstreamHint = "give the login with --upstream-auth FILE"
        origins.flawHint = "go on and record it with --insecure-origin"
        return origins
    }

    /// What is offered to an origin for a client that offers `names`.
    func offer(to target: OriginTarget, _ names: [String]) -> OriginOffer {
        guard target.isSecure else { return originVersion == .http2 ? .plainHTTP2 : .plain }
        switch originVersion {
        case .http1: return .http1
        case .http2: return .protocols(["h2"])
        case .mirrored:
            let http = names.filter { $0 == "h2" || $0 == "http/1.1" }
            return .protocols(http.isEmpty ? names : http)
        }
    }
}
