/// What one connection has proved, and may prove next: one team and key, and a new token no more
/// often than each 20 minutes.
///
/// Times are in seconds since 1970 and given by the caller.
struct ProviderConnection {
    private struct Accepted {
        let text: [UInt8]
        let token: ProviderToken
        let since: Int64
    }

    private var accepted: Accepted?
    /// Until when nothing is taken, as tokens were changed too often.
    private var blockedUntil = Int64.min

    /// Whether this very token was verified before.
    func knows(_ text: [UInt8]) -> Bool { accepted?.text == text }

    /// Judges a token whose signature is right.
    ///
    /// - Returns: why it is refused; `nil` if it is not.
    mutating func judge(_ token: ProviderToken, text: [UInt8], now: Int64) -> PushReason? {
        guard now >= blockedUntil else { return .tooManyProviderTokenUpdates }
        guard token.issuedAt <= now + Self.skew else { return .invalidProviderToken }
        guard now - token.issuedAt <= Self.lifetime else { return .expiredProviderToken }
        guard let last = accepted else {
            accepted = Accepted(text: text, token: token, since: now)
            return nil
        }
        guard last.text != text else { return nil }
        guard token.team == last.token.team else { return .invalidProviderToken }
        guard token.keyID == last.token.keyID else { return .unrelatedKeyId }
        guard now - last.since >= Self.interval else {
            blockedUntil = last.since + Self.interval
            return .tooManyProviderTokenUpdates
        }
        accepted = Accepted(text: text, token: token, since: now)
        return nil
    }

    /// In seconds: an hour.
    private static let lifetime: Int64 = 3600
    /// Between two tokens, in seconds: 20 minutes.
    private static let interval: Int64 = 1200
    /// By which a provider's clock may be ahead, in seconds.
    private static let skew: Int64 = 60
}
