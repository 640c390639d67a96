internal import Base
internal import Contents
internal import Sockets
internal import TLS
internal import Traffic
package import Transport

/// Names what went wrong on the way to an origin: the code, one line for the record, and what to do.
package struct OriginFailureText {
    private let configuration: OriginConfiguration

    package static let certificateCode = "client-certificate-required"
    package static let proxyLoginCode = "proxy-login-wanted"

    package init(_ configuration: OriginConfiguration) {
        self.configuration = configuration
    }

    func unconnected(_ host: String, _ port: UInt16, _ error: SystemError) -> OriginFailure {
        OriginFailure(
            failure: Failure(
                error == .timedOut ? "connect-timed-out" : "connect-failed", party: .origin,
                "cannot connect to \(host) port \(port): \(error)"),
            outcome: .originUnreachable)
    }

    func withoutWay(_ host: String, _ violation: ProxyScriptViolation) -> OriginFailure {
        OriginFailure(
            failure: Failure(
                "proxy-script-failed", party: .client,
                "the proxy script names no way to \(host): \(violation.detail)",
                hint: "name the proxy itself"),
            outcome: .originUnreachable)
    }

    /// Of a proxy on the way, so that nobody looks for what is wrong at the origin.
    func unreached(_ upstream: UpstreamProxy, _ failure: OriginFailure) -> OriginFailure {
        OriginFailure(
            failure: Failure(
                failure.failure.code, party: failure.failure.party,
                "the upstream proxy cannot be reached: \(failure.failure.detail)",
                hint: failure.failure.hint),
            outcome: failure.outcome, tls: failure.tls, address: failure.address)
    }

    func ended() -> OriginFailure {
        OriginFailure(
            failure: Failure("cut", party: .tool, "\(configuration.dialler) was shut down"),
            outcome: .originUnreachable)
    }

    func outOfReach(_ host: String, _ address: SocketAddress) -> OriginFailure {
        OriginFailure(
            failure: Failure(
                "loopback-origin", party: .client,
                "\(host) is \(address.host), which only clients on this machine may reach"),
            outcome: .originUnreachable)
    }

    func blocked(_ host: String, _ reason: String) -> OriginFailure {
        OriginFailure(
            failure: Failure("host-blocked", party: .tool, "\(host) is not served: \(reason)"),
            outcome: .refused)
    }

    func loop(_ address: SocketAddress) -> OriginFailure {
        OriginFailure(
            failure: Failure(
                "proxy-loop", party: .client, "\(address) is this proxy itself",
                hint: "ask for the origin's own address"),
            outcome: .originUnreachable)
    }

    /// Of a certificate that does not verify; `nil` if it does, or there is none.
    package func untrusted(_ leg: OriginLeg) -> OriginFailure? {
        guard let error = leg.verifyError else { return nil }
        let name = leg.serverName ?? leg.target.host
        let reason = VerifyExplanation.text(error, chain: leg.tls?.chain ?? [])
        return OriginFailure(
            failure: Failure(
                "origin-certificate", party: .origin,
                "the certificate of \(name) does not verify: \(reason)",
                hint: VerifyExplanation.isOfTrust(error)
                    ? configuration.trustHint : configuration.flawHint),
            outcome: .originUntrusted, tls: leg.tls, address: leg.address)
    }

    // MARK: Handshakes

    /// What to do about a failure of TLS, where that is known.
    ///
    /// - Parameter hasShownCertificate: whether the origin was shown one of ours.
    package func hint(_ failure: StreamFailure?, hasShownCertificate: Bool) -> String? {
        guard let failure, failure.wantsCertificate || failure.demandsCertificate else {
            return nil
        }
        return hasShownCertificate ? Self.refusedHint : configuration.certificateHint
    }

    private static let refusedHint =
        "it was shown a certificate and did not take it: look at who issued that"

    /// - Parameter hasShownCertificate: whether the origin was shown one of ours.
    func handshake(
        _ error: StreamFailure, with target: OriginTarget, hasShownCertificate: Bool = false
    ) -> Failure {
        let place = "\(target.host) port \(target.port)"
        let detail = "the TLS handshake with \(place) failed: origin \(error.detail)"
        let code =
            error.isTimeout ? "origin-handshake-timed-out" : "origin-handshake-failed"
        guard case .tls(let tls) = error else { return Failure(code, party: .origin, detail) }
        if tls.demandsCertificate {
            return Failure(
                Self.certificateCode, party: .origin, detail,
                hint: hasShownCertificate ? Self.refusedHint : configuration.certificateHint)
        }
        let versions = configuration.versions
        let hint =
            tls.wantsCertificate && tls.reason == .peerReset
            ? configuration.certificateHint
            : tls.foreign.isEmpty
                ? "\(configuration.dialler) speaks \(versions.minimum.name) to \(versions.maximum.name)"
                : hint(for: ForeignProtocol(tls.foreign), target)
        return Failure(code, party: .origin, detail, hint: hint, isLasting: tls.isLasting)
    }

    /// The same where the origin had spoken before anybody began TLS.
    package func handshake(
        _ error: OriginFailure, behind greeting: [UInt8], with target: OriginTarget
    ) -> OriginFailure {
        guard error.outcome == .originHandshakeFailed else { return error }
        let spoken = ForeignProtocol(greeting)
        let failure = Failure(
            "origin-handshake-failed", party: .origin,
            "the TLS handshake with \(target.host) port \(target.port) failed: origin answered TLS"
                + " with \(spoken.text)", hint: hint(for: spoken, target), isLasting: true)
        return OriginFailure(
            failure: failure, outcome: error.outcome, tls: error.tls, address: error.address)
    }

    private func hint(for spoken: ForeignProtocol, _ target: OriginTarget) -> String {
        if spoken.name == "plain HTTP" {
            return "ask for http://\(target.host):\(target.port)/ , or for the port that speaks TLS"
        }
        return spoken.knowsUpgrade
            ? "let the client begin in cleartext and ask for TLS, or use the port that begins with TLS"
            : "look at the port: TLS is not spoken there"
    }
}
