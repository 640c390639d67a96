internal import Proxy

/// What one connection says of a probe.
package enum ConnectionVerdict: Sendable, Equatable {
    /// The client sent data to a server that it must have authenticated by then.
    case accepted
    /// The client sent its data in cleartext to a server that offers TLS, which says nothing of how it
    /// would have judged that.
    case inClear
    /// The client ended before the handshake was done, with this alert or without one.
    case refused(alert: UInt8?)
    /// The client ended after the handshake, and had said nothing.
    case refusedLate
    /// The client took the certificate in TLS; what it would have made of it cannot be seen.
    case suspected
    /// Client and server had nothing in common that the probe needs.
    case notOffered
    /// The client waits, or has opened the connection in advance: the probe is to be shown again.
    case inconclusive(String)
    /// Nothing was seen of the client's judgement.
    case noEvidence(String)
}

extension ConnectionVerdict {
    var isRefusal: Bool {
        switch self {
        case .refused, .refusedLate: true
        case .accepted, .inClear, .suspected, .notOffered, .inconclusive, .noEvidence: false
        }
    }

    var isAcceptance: Bool {
        switch self {
        case .accepted, .inClear: true
        case .refused, .refusedLate, .suspected, .notOffered, .inconclusive, .noEvidence: false
        }
    }

    /// Whether TLS came to nothing, by the client's will or for lack of what both know.
    var isFailure: Bool {
        switch self {
        case .refused, .refusedLate, .notOffered: true
        case .accepted, .inClear, .suspected, .inconclusive, .noEvidence: false
        }
    }
}

/// Judges one connection by what was seen of it.
package enum ConnectionRule {
    /// - Parameter speaksFirst: whether this client sent data at once in a sound run of its own;
    ///   `nil` if it has had none.
    package static func judge(
        _ seen: ProbeObservation, speaksFirst: Bool?
    ) -> ConnectionVerdict {
        if seen.isInClear { return .inClear }
        if seen.acceptedBytes > 0 || seen.proof != nil { return .accepted }
        if seen.clearRequest != nil { return .noEvidence("the client asked in cleartext") }
        if seen.hasAskedForStatus {
            return .noEvidence("the client asked whether the certificate is revoked, no more")
        }
        guard seen.sawOpening else { return .noEvidence("the client sent nothing") }
        if let alert = seen.ownAlert, !seen.isHandshakeDone, [40, 70, 71, 86].contains(alert) {
            return .notOffered
        }
        if let alert = seen.alert { return .refused(alert: alert) }
        if seen.hasDeclined { return .refused(alert: nil) }
        if seen.wasCutOff {
            return .inconclusive("the client waited until its command was ended")
        }
        guard seen.sentCertificate else {
            return .noEvidence("the client left before it was shown a certificate")
        }
        if seen.isHandshakeDone { return judgeEnd(seen, speaksFirst) }
        // GnuTLS, for one, takes its leave where others send an alert.
        if seen.hasSaidClose { return .refused(alert: nil) }
        if seen.wasIdle {
            return .inconclusive("the client stopped in the middle of the handshake")
        }
        if seen.end == .ours, seen.sawClientFlight { return .suspected }
        if seen.end == .closed || seen.end == .reset { return .refused(alert: nil) }
        return .inconclusive("the connection was ended before the client had judged")
    }

    private static func judgeEnd(
        _ seen: ProbeObservation, _ speaksFirst: Bool?
    ) -> ConnectionVerdict {
        if seen.wasIdle {
            return .inconclusive(
                seen.firstBytes.isEmpty
                    ? "the client finished the handshake and said nothing"
                    : "the client waits for answers to several commands at once")
        }
        guard seen.end == .closed || seen.end == .reset || seen.hasSaidClose else {
            return .inconclusive("the connection was ended before the client had spoken")
        }
        guard let speaksFirst else {
            return .inconclusive(
                "the client closed after the handshake, and it is not known whether it would speak")
        }
        guard speaksFirst || seen.hasGreeted else {
            return .inconclusive(
                "the client closed after the handshake, as it does when all is well")
        }
        return .refusedLate
    }
}
