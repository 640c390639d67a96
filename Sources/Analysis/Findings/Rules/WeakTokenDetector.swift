internal import Base
internal import Traffic

/// JWT-WEAK: a JSON Web Token that proves nothing, or proves it for too long.
enum WeakTokenDetector {
    static func examine(_ view: ExchangeView) -> [RuleMatch] {
        view.credentials.compactMap { credential in
            guard credential.kind == .token, let token = JSONWebToken(credential.value) else {
                return nil
            }
            guard let (severity, confidence, note) = judge(token, in: view) else { return nil }
            var result = RuleMatch(.weakToken, severity, confidence, field: credential.field)
            result.value = credential.value
            result.notes = [note] + view.verdict
            return result
        }
    }

    private static func judge(
        _ token: JSONWebToken, in view: ExchangeView
    ) -> (Severity, Confidence, FindingNote)? {
        let isAccepted = view.verdict.contains(.serverAccepted)
        if token.algorithm == "none" || !token.isSigned {
            // Only the origin can make it count.
            return (isAccepted ? .critical : .medium, .certain, .token(.unsigned))
        }
        if let expiresAt = token.expiresAt {
            let now = Double(view.exchange.startedAt.microseconds) / 1_000_000
            if isAccepted, now > expiresAt + clockSkew {
                return (.high, .tentative, .token(.expired))
            }
        }
        if token.namesKeySource { return (.medium, .certain, .token(.namesKeySource)) }
        guard token.expiresAt != nil else { return (.medium, .firm, .token(.neverExpires)) }
        let longest = token.isRefresh ? longestRefresh : longestAccess
        guard let lifetime = token.lifetimeSeconds, lifetime > longest else { return nil }
        return (.low, .certain, .token(.longLived))
    }

    /// In seconds.
    private static let clockSkew: Double = 300
    private static let longestAccess: Double = 24 * 3600
    private static let longestRefresh: Double = 90 * 24 * 3600
}

/// What is weak about a token, from a closed list.
package enum TokenWeakness: Sendable, Hashable {
    case unsigned
    case expired
    case namesKeySource
    case neverExpires
    case longLived

    var text: String {
        switch self {
        case .unsigned: "the token has no signature"
        case .expired: "the token had expired, and the origin answered as if it had not"
        case .namesKeySource: "the token itself tells where the key to check it with is"
        case .neverExpires: "the token never expires"
        case .longLived: "the token is good for more than a day, or a refresh token's 90 days"
        }
    }
}

extension RuleText {
    static let weakToken = RuleText(
        title: "JSON Web Token that proves little, or for too long",
        reason: "whoever can make the token up, or copies it once, acts as the user",
        advice:
            "sign tokens, check signature and expiry at the origin, and let access tokens live for"
            + " minutes",
        decision:
            "A credential is a JSON Web Token without a signature, which the origin accepted or not,"
            + " without an expiry, past it, that names its own key's source, or that lives for more"
            + " than 24 hours (90 days for a refresh token) (RFC 8725 §3).",
        exceptions:
            "Signatures are not verified. An origin that needs no credential for a resource answers"
            + " an expired token's request as well, so that is tentative.",
        party: .origin,
        worst: .critical,
        weaknesses: [347, 613])
}
