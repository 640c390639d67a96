internal import Base
internal import HTTP2
internal import HTTPCodecs
internal import TLS
internal import Traffic
internal import Transport

/// What a failure of an origin says of the client's connection, the same in whatever way it came in
/// and whatever version of HTTP is spoken.
extension RelayFailure {
    /// How the connection is judged; `nil` if the origin is not to blame, or a single stream failed,
    /// which leaves the connection as it was.
    var outcome: ConnectionRecord.Outcome? {
        if demandsCertificate { return .originHandshakeFailed }
        return switch self {
        case .origin(.timedOut), .originStream(.timedOut): .timedOut
        case .origin(.closed), .originStream(.reset), .originStream(.stopped),
            .originStream(.unsent):
            nil
        case .origin, .originEnded, .originViolation, .originStream, .originTruncated: .broken
        case .unanswered, .client, .clientStream, .clientEnded, .clientLeft, .clientViolation: nil
        }
    }

    /// Whether the origin wants a certificate of the client: in TLS 1.3 it says so when the
    /// handshake is done for us, and the first response is due.
    var demandsCertificate: Bool {
        streamFailure?.demandsCertificate ?? false
    }

    private var streamFailure: StreamFailure? {
        switch self {
        case .origin(let failure), .originStream(.connectionLost(.failed(let failure))): failure
        default: nil
        }
    }

    /// What to do about it, where that is known.
    var hint: String? {
        streamFailure?.wantsCertificate ?? false || demandsCertificate ? Self.certificateHint : nil
    }

    static let certificateCode = "client-certificate-required"
    static let certificateHint =
        "the proxy has no certificate to show; with --pass-through HOST the client shows its own,"
        + " and nothing is decrypted"

    /// The same with what there is of a response's head, whole or not.
    func words(responseHead: [UInt8]) -> (code: String, detail: String) {
        if case .originEnded = self, responseHead.isEmpty {
            return (words.code, "origin ended the connection without a response")
        }
        guard case .originViolation = self, !responseHead.isEmpty,
            !responseHead.starts(with: "HTTP/".utf8)
        else { return words }
        let spoken = ForeignProtocol(responseHead)
        guard let name = spoken.name else {
            return (words.code, "\(words.detail): it begins with \(spoken.quoted)")
        }
        return (words.code, "origin answered HTTP with \(name): \(spoken.quoted)")
    }
}

extension ProxyLoop {
    /// Names what went wrong in a handshake with an origin, and what to do.
    func failure(
        _ error: StreamFailure, with target: OriginTarget
    ) -> Failure {
        let place = "\(target.host) port \(target.port)"
        let detail = "the TLS handshake with \(place) failed: origin \(error.detail)"
        guard case .tls(let tls) = error else {
            return Failure(
                error.isTimeout ? "origin-handshake-timed-out" : "origin-handshake-failed",
                party: .origin, detail)
        }
        if tls.demandsCertificate {
            return Failure(
                RelayFailure.certificateCode, party: .origin, detail,
                hint: RelayFailure.certificateHint)
        }
        let hint =
            tls.wantsCertificate && tls.reason == .peerReset
            ? RelayFailure.certificateHint
            : tls.foreign.isEmpty
                ? "the proxy speaks \(plan.versions.minimum.name) to \(plan.versions.maximum.name)"
                : hint(for: ForeignProtocol(tls.foreign), target)
        return Failure(
            error.isTimeout ? "origin-handshake-timed-out" : "origin-handshake-failed",
            party: .origin, detail, hint: hint)
    }

    /// The same where the origin had spoken before anybody began TLS.
    func failure(
        _ error: OriginFailure, _ greeting: [UInt8], with target: OriginTarget
    ) -> OriginFailure {
        guard error.outcome == .originHandshakeFailed else { return error }
        let spoken = ForeignProtocol(greeting)
        let failure = Failure(
            "origin-handshake-failed", party: .origin,
            "the TLS handshake with \(target.host) port \(target.port) failed: origin answered TLS"
                + " with \(spoken.text)", hint: hint(for: spoken, target))
        return OriginFailure(
            failure: failure, outcome: error.outcome, tls: error.tls, address: error.address)
    }

    private func hint(for spoken: ForeignProtocol, _ target: OriginTarget) -> String {
        if spoken.name == "plain HTTP" {
            return "ask for http://\(target.host):\(target.port)/ , or for the port that speaks TLS"
        }
        return spoken.knowsUpgrade
            ? "let the client begin in clear and ask for TLS, or use the port that begins with TLS"
            : "look at the port: TLS is not spoken there"
    }
}
