internal import Base
internal import Traffic

/// TLS-S-CERT: what is wrong with what an origin showed.
enum ConnectionDetector {
    static func examine(_ connection: ConnectionRecord) -> [RuleMatch] {
        var found: [RuleMatch] = []
        if let problem = problem(of: connection) {
            var result = RuleMatch(.tlsOriginCertificate, problem.severity, .certain)
            result.place = .service
            result.notes = [.verification(problem)]
            found.append(result)
        }
        return found
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
        worst: .high,
        weaknesses: [295, 298, 326])
}
