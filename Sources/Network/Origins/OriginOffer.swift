internal import Traffic

/// What an origin is asked to speak.
package enum OriginOffer: Sendable, Equatable {
    /// By ALPN (RFC 7301), in the order of preference.
    case protocols([String])
    /// HTTP/1 without TLS.
    case plain
    /// HTTP/2 without TLS and with prior knowledge (RFC 9113 §3.3).
    case plainHTTP2

    package static let http1 = OriginOffer.protocols(["http/1.1"])

    /// Whether a connection speaks what the origin would choose from this offer.
    package func accepts(_ leg: OriginLeg) -> Bool {
        if leg.offer == self { return true }
        guard case .protocols(let names) = self, case .protocols = leg.offer else { return false }
        if leg.http2 != nil { return names.contains("h2") }
        return names == ["http/1.1"] && leg.tls?.alpn.map { $0 == "http/1.1" } ?? true
    }
}
