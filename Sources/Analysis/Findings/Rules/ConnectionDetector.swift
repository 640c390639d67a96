internal import Base
internal import Traffic

/// The rules about TLS on a connection's two legs.
enum ConnectionDetector {
    static func examine(_ connection: ConnectionRecord) -> [RuleMatch] {
        var found: [RuleMatch] = []
        if let hello = connection.clientTLS?.clientHello, let offer = ClientHelloOffer(hello) {
            found += [version(offer), cipher(offer)].compactMap { $0 }
        }
        if let problem = problem(of: connection) {
            var result = RuleMatch(.tlsOriginCertificate, problem.severity, .certain)
            result.place = .service
            result.notes = [.verification(problem)]
            found.append(result)
        }
        return found
    }

    private static func version(_ offer: ClientHelloOffer) -> RuleMatch? {
        guard !offer.isFallback else { return nil }
        let old = offer.oldVersions
        guard let lowest = old.first ?? (offer.isSSL2 ? 0x0002 : nil) else { return nil }
        let isSSL = offer.isSSL2 || lowest <= 0x0300
        var result = RuleMatch(.tlsClientVersion, isSSL ? .high : .medium, .certain)
        result.place = .service
        result.notes = offer.isSSL2 ? [.offersSSL2] : []
        result.notes += old.prefix(4).map { .offersVersion($0) }
        return result
    }

    /// Only the worst class sets the severity, so that it is one finding a service.
    private static func cipher(_ offer: ClientHelloOffer) -> RuleMatch? {
        let weak = offer.weakSuites
        let classes = Set(weak.map(\.suiteClass)).sorted()
        guard let worst = classes.last else { return nil }
        var result = RuleMatch(.tlsClientCipher, worst.severity, .certain)
        result.place = .service
        result.notes = classes.reversed().map { .offersSuites($0) }
        result.notes += weak.filter { $0.suiteClass == worst }.prefix(6).map { .offersSuite($0) }
        return result
    }

    private static func problem(of connection: ConnectionRecord) -> CertificateProblem? {
        if let error = connection.originTLS?.verifyError { return CertificateProblem(error) }
        return connection.outcome == .originUntrusted ? .other : nil
    }
}

/// Why a chain did not verify; the raw values are a contract.
package enum CertificateProblem: String, Sendable {
    case expired
    case notYetValid = "not-yet-valid"
    case wrongName = "wrong-name"
    case selfSigned = "self-signed"
    case untrusted
    case revoked
    case weak
    case other

    /// Recognises OpenSSL's words.
    init(_ error: String) {
        let text = error.lowercased()
        let known: [(String, CertificateProblem)] = [
            ("not yet valid", .notYetValid), ("expired", .expired), ("mismatch", .wrongName),
            ("revoked", .revoked), ("self-signed", .selfSigned), ("self signed", .selfSigned),
            ("unable to get", .untrusted), ("unable to verify", .untrusted),
            ("not trusted", .untrusted), ("too weak", .weak), ("too small", .weak),
        ]
        self = known.first { text.contains($0.0) }?.1 ?? .other
    }

    var severity: Severity {
        switch self {
        case .weak, .other: .medium
        default: .high
        }
    }

    var text: String {
        switch self {
        case .expired: "the certificate has expired"
        case .notYetValid: "the certificate is not yet valid"
        case .wrongName: "the certificate is for another name"
        case .selfSigned: "the chain ends in a self-signed certificate that is not trusted"
        case .untrusted: "the chain does not lead to a trusted CA"
        case .revoked: "the certificate is revoked"
        case .weak: "a key or a digest of the chain is too weak"
        case .other: "the chain does not verify"
        }
    }
}

extension RuleText {
    static let tlsClientVersion = RuleText(
        title: "Client offers an old version of TLS",
        reason: "versions before TLS 1.2 rest on broken constructions (RFC 8996)",
        advice: "set TLS 1.2 as the client's lowest version",
        decision: "The ClientHello offers a version before TLS 1.2 (RFC 8996).",
        exceptions: "GREASE and signalling values. What is offered is not what is agreed on.",
        weaknesses: [327, 757])

    static let tlsClientCipher = RuleText(
        title: "Client offers weak cipher suites",
        reason: "an origin, or an attacker who can downgrade, may choose one of them",
        advice: "offer only suites with forward secrecy and authenticated encryption",
        decision:
            "The ClientHello offers suites without encryption, authentication or forward"
            + " secrecy, or with RC4, DES, 3DES or export keys.",
        exceptions: "GREASE and signalling values. What is offered is not what is agreed on.",
        weaknesses: [326, 327])

    static let tlsOriginCertificate = RuleText(
        title: "Origin's certificate did not verify",
        reason: "a client that connects all the same talks to whoever answers",
        advice: "install a chain that verifies, or add its CA to the trusted ones if it is private",
        decision:
            "The chain that the origin showed the proxy does not verify for its host (RFC 5280"
            + " §6).",
        exceptions:
            "A private CA has to be named by --origin-ca; without it, its servers do not verify.",
        party: .origin,
        weaknesses: [295, 298, 326])
}
