internal import Base
internal import Contents

/// PLAIN-HTTP-COOKIE: a cookie that carries a session over cleartext HTTP.
///
/// It remembers the tags of cookies seen over TLS, so that the same value in cleartext is certain.
struct CookieDetector {
    private var seenOverTLS = Set<Tag>()
    private var order: [Tag] = []
    private var oldest = 0

    mutating func examine(_ view: ExchangeView, redaction: EvidenceRedaction) -> [RuleMatch] {
        let cookies = Self.cookies(of: view)
        guard view.isClear else {
            for cookie in cookies where cookie.isWorthRemembering {
                remember(cookie.tag(redaction))
            }
            return []
        }
        return cookies.compactMap { judge($0, redaction: redaction) }
    }

    private func judge(_ cookie: Cookie, redaction: EvidenceRedaction) -> RuleMatch? {
        guard !cookie.isHarmless, !Placeholder.matches(cookie.value) else { return nil }
        let isKnown = cookie.isWorthRemembering && seenOverTLS.contains(cookie.tag(redaction))
        let verdict: (Severity, Confidence)
        if isKnown {
            verdict = (.high, .certain)
        } else if cookie.hasSessionName, cookie.value.count >= 16 {
            verdict = (.medium, .firm)
        } else if Randomness.bits(of: cookie.value) >= 64 {
            verdict = (.low, .tentative)
        } else {
            return nil
        }
        var result = RuleMatch(.plainHTTPCookie, verdict.0, verdict.1)
        result.container = cookie.isSet ? .setCookie : .cookie
        result.name = cookie.name
        result.value = cookie.value
        if isKnown { result.notes.append(.earlierOverTLS) }
        if cookie.isSet, !cookie.isSecure { result.notes.append(.setWithoutSecure) }
        return result
    }

    private mutating func remember(_ tag: Tag) {
        guard seenOverTLS.insert(tag).inserted else { return }
        if order.count < Self.memoryLimit {
            order.append(tag)
        } else {
            seenOverTLS.remove(order[oldest])
            order[oldest] = tag
            oldest = (oldest + 1) % Self.memoryLimit
        }
    }

    private static func cookies(of view: ExchangeView) -> [Cookie] {
        var result: [Cookie] = []
        for header in view.request.texts("cookie") {
            for pair in CookiePair.sent(header[...]).prefix(256) {
                result.append(Cookie(pair, isSet: false, isSecure: false))
            }
        }
        guard view.hasOriginResponse else { return result }
        for header in view.response.texts("set-cookie") {
            let (cookie, attributes) = CookiePair.set(header[...])
            let isSecure = attributes.contains { $0.name.equalsIgnoringCase("secure") }
            result.append(Cookie(cookie, isSet: true, isSecure: isSecure))
        }
        return Array(result.prefix(256))
    }

    /// How many cookies are remembered; about 100 bytes each.
    private static let memoryLimit = 32_768
}

struct Cookie {
    let name: [UInt8]
    let value: [UInt8]
    /// Whether the origin set it in this exchange.
    let isSet: Bool
    let isSecure: Bool

    init(_ pair: CookiePair, isSet: Bool, isSecure: Bool) {
        name = PercentCoding.decoded(pair.name, plusIsSpace: true).trimmed
        let plain = PercentCoding.decoded(pair.value.prefix(MessageField.valueLimit))
        value = Array(plain.trimmed.filter { $0 != 0x22 })
        self.isSet = isSet
        self.isSecure = isSecure
    }

    func tag(_ redaction: EvidenceRedaction) -> Tag {
        Tag(name + [0x3D] + value, kind: .text, redaction: redaction)
    }

    /// Whether it may carry a session at all.
    var isWorthRemembering: Bool {
        !isHarmless
            && (hasSessionName && value.count >= 8 || Randomness.bits(of: value) >= 64)
    }

    var hasSessionName: Bool {
        let text = name.lowercasedBytes.text
        return Self.sessionNames.contains(text)
            || Self.sessionPrefixes.contains { text.hasPrefix($0) } || text.contains("session")
    }

    /// Analytics, consent, locale and anti-forgery values.
    var isHarmless: Bool {
        let text = name.lowercasedBytes.text
        if Self.analyticsPrefixes.contains(where: { text.hasPrefix($0) }) { return true }
        if ["consent", "csrf", "xsrf", "gdpr"].contains(where: { text.contains($0) }) {
            return true
        }
        return !Self.preferences.isDisjoint(with: NameWords(name[...]).texts)
    }

    private static let sessionNames: Set<String> = [
        "phpsessid", "jsessionid", "asp.net_sessionid", "connect.sid", "sid", "laravel_session",
        "token",
    ]
    private static let sessionPrefixes = [
        "aspsessionid", "sess", "auth", "remember_", "wordpress_logged_in_",
    ]
    private static let analyticsPrefixes = [
        "_ga", "_gid", "_gat", "_gcl", "_fbp", "_fbc", "__utm", "_hj", "ajs_", "amplitude", "mp_",
    ]
    private static let preferences: Set<String> = [
        "lang", "language", "locale", "theme", "timezone", "tz", "currency", "country", "region",
    ]
}

extension RuleText {
    static let plainHTTPCookie = RuleText(
        title: "Session cookie over cleartext HTTP",
        reason: "whoever copies the cookie from the path takes the session over",
        advice: "use https only, set Secure and HttpOnly on the cookie, and send HSTS",
        decision:
            "A request without TLS has a cookie that is a session's by its name and value, or that"
            + " was seen over TLS before, which makes it certain.",
        exceptions: "Cookies that are constants, preferences or counters by their form.",
        worst: .high,
        weaknesses: [319, 614])
}
