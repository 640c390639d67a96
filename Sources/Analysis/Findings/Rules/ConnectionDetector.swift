internal import Base
internal import Traffic

/// TLS-S-CERT: what is wrong with what an origin showed.
enum ConnectionDetector {
    static func examine(_ connection: ConnectionRecord) -> [RuleMatch] {
        var found: [RuleMatch] = []
        let problems = problems(of: connection)
        if let severity = problems.map(\.severity).max() {
            var result = RuleMatch(.tlsOriginCertificate, severity, .certain)
            result.place = .service
            result.notes = problems.map { .verification($0) }
            found.append(result)
        }
        return found
    }

    private static func problems(of connection: ConnectionRecord) -> [CertificateProblem] {
        if let error = connection.tlsOfOrigin?.verifyError {
            return error.split(separator: ";").prefix(8).map { CertificateProblem(String($0)) }
        }
        return connection.outcome == .originUntrusted ? [.other] : []
    }
}

/// Why a chain did not verify; the raw values are a contract.
package enum CertificateProblem: String, Sendable {
    case expired
    case notYetValid = "not-yet-valid"
    case wrongName = "wrong-name"
    case selfSigned = "self-signed"
    /// Whether it is trusted is not known.
    case selfSignedLeaf = "self-signed-leaf"
    case untrusted
    case revoked
    case weak
    case other

    /// Recognises OpenSSL's words.
    init(_ error: String) {
        let text = error.lowercased()
        let known: [(String, CertificateProblem)] = [
            ("not yet valid", .notYetValid), ("expired", .expired), ("mismatch", .wrongName),
            ("revoked", .revoked), ("self-signed leaf", .selfSignedLeaf),
            ("self-signed", .selfSigned), ("self signed", .selfSigned),
            ("unable to get", .untrusted), ("unable to verify", .untrusted),
            ("not trusted", .untrusted), ("too weak", .weak), ("too small", .weak),
        ]
        self = known.first { text.contains($0.0) }?.1 ?? .other
    }

    var severity: Severity {
        switch self {
        case .weak, .selfSignedLeaf, .other: .medium
        default: .high
        }
    }

    var text: String {
        switch self {
        case .expired: "the certificate has expired"
        case .notYetValid: "the certificate is not yet valid"
        case .wrongName: "the certificate is for another name"
        case .selfSigned: "the chain ends in a self-signed certificate that is not trusted"
        case .selfSignedLeaf:
            "the certificate is self-signed: only who has it already can tell it from another's"
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
            + " §6). Of packets, what needs no trust is judged: times, name, key, digests, and"
            + " whether it is self-signed.",
        exceptions:
            "A private CA has to be named by --origin-ca; without it, its servers do not verify.",
        party: .origin,
        worst: .high,
        weaknesses: [295, 298, 326])
}
