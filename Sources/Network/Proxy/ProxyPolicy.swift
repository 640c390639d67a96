package import Origins
package import TLS

/// What is done with the connections that come in: a value that is exchanged while the proxy runs, see
/// `ProxyServer.exchange`. A connection is served by the one that it came in under to its end.
package struct ProxyPolicy: Sendable {
    package var disposition = DispositionRules()
    /// Hosts at which clients are asked for a certificate, which they need not have.
    package var asksForCertificates: [HostPattern] = []
    package var originTrust = OriginTrust()
    package var originVersion = OriginVersion.mirrored
    /// Other proxies on the way to origins; the first that leads to a host is taken.
    package var upstreams: [UpstreamProxy] = []
    /// Whether advertisements of HTTP/3 are taken out of responses, so that clients stay where they
    /// can be seen.
    package var removesHTTP3 = true
    /// In bytes of one message's content; bytes past it are counted but not stored.
    package var recordedBody: Int64 = 1 << 30

    package init() {}

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

extension ProxyPolicy {
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
