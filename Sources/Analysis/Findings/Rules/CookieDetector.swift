internal import Base
internal import Contents

/// PLAIN-HTTP-COOKIE: a cookie that carries a session over cleartext HTTP.
///
/// It remembers hashes of cookies seen over TLS, so that the same value in cleartext is certain.
struct CookieDetector {
    /// With whether the cookie is a secret by its name or by how it was set.
    private var seenOverTLS: [UInt64: Bool] = [:]
    private var order = HashRing(limit: Self.memoryLimit)

    /// How many cookies are no longer compared.
    var forgottenCount: Int { order.droppedCount }

    mutating func examine(_ view: ExchangeView, redaction: EvidenceRedaction) -> [RuleMatch] {
        let cookies = view.cookies.filter { !$0.isHarmless && view.tracker == nil }
        guard view.isClear else {
            for cookie in cookies.prefix(Self.countLimit) where cookie.canBeSecret {
                remember(
                    cookie.hash(redaction), isSecret: cookie.hasSessionName || cookie.isGuarded)
            }
            return []
        }
        return cookies.compactMap { judge($0, redaction: redaction) }
    }

    private func judge(_ cookie: Cookie, redaction: EvidenceRedaction) -> RuleMatch? {
        guard !Placeholder.matches(cookie.value) else { return nil }
        let known = cookie.canBeSecret ? seenOverTLS[cookie.hash(redaction)] : nil
        let verdict: (Severity, Confidence)
        if let isSecret = known {
            verdict = isSecret ? (.high, .certain) : (.medium, .tentative)
        } else if cookie.hasPasswordName {
            verdict = (.high, .firm)
        } else if cookie.hasSessionName, cookie.value.count >= 16 {
            verdict = (.medium, .firm)
        } else if Randomness.bits(of: cookie.value) >= 64 {
            verdict = (.low, .tentative)
        } else {
            return nil
        }
        var result = RuleMatch(.plainHTTPCookie, verdict.0, verdict.1)
        result.container = cookie.field.container
        result.name = cookie.name
        result.value = cookie.value
        if known != nil { result.notes.append(.earlierOverTLS) }
        if cookie.isSet, !cookie.isSecure { result.notes.append(.setWithoutSecure) }
        return result
    }

    private mutating func remember(_ hash: UInt64, isSecret: Bool) {
        if let known = seenOverTLS[hash] {
            seenOverTLS[hash] = known || isSecret
            return
        }
        if let dropped = order.add(hash) { seenOverTLS[dropped] = nil }
        seenOverTLS[hash] = isSecret
    }

    /// How many cookies are remembered.
    private static let memoryLimit = 32_768
    /// How many of one exchange are: browsers send no more to a domain.
    private static let countLimit = 256
}

extension Cookie {
    fileprivate func hash(_ redaction: EvidenceRedaction) -> UInt64 {
        redaction.hash(of: name + [0x3D] + value)
    }

    /// Whether it is named as a password, and not as a pass of another kind.
    fileprivate var hasPasswordName: Bool {
        guard SecretName.reported(name) == .password else { return false }
        let name = name.lowercasedBytes
        return name.contains(run: Array("password".utf8)) || name.suffix(4) == Array("pass".utf8)
            || name.suffix(3) == Array("pwd".utf8)
    }

    /// Whether nobody could guess it.
    fileprivate var canBeSecret: Bool { Randomness.bits(of: value) >= 64 }
}

extension RuleText {
    static let plainHTTPCookie = RuleText(
        title: "Session cookie over cleartext HTTP",
        reason: "whoever copies the cookie from the path takes the session over",
        advice: "use https only, set Secure and HttpOnly on the cookie, and send HSTS",
        decision:
            "A request without TLS has a cookie that is a session's by its name and value, or that"
            + " was seen over TLS before. That makes it certain if the name says so or if it was set"
            + " with Secure or HttpOnly.",
        exceptions:
            "Cookies that are constants, preferences or counters by their form, and those that are"
            + " known as balancers' or trackers'.",
        worst: .high,
        weaknesses: [319, 614])
}
