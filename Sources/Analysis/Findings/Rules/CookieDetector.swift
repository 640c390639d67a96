internal import Base

/// PLAIN-HTTP-COOKIE: a cookie that carries a session over cleartext HTTP.
///
/// It remembers the tags of cookies seen over TLS, so that the same value in cleartext is certain.
struct CookieDetector {
    private var seenOverTLS = Set<Tag>()
    private var order: [Tag] = []
    private var oldest = 0

    mutating func examine(_ view: ExchangeView, redaction: EvidenceRedaction) -> [RuleMatch] {
        let cookies = view.cookies
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
        result.container = cookie.field.container
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

    /// How many cookies are remembered; about 100 bytes each.
    private static let memoryLimit = 32_768
}

extension Cookie {
    fileprivate func tag(_ redaction: EvidenceRedaction) -> Tag {
        Tag(name + [0x3D] + value, kind: .text, redaction: redaction)
    }

    /// Whether it may carry a session at all.
    fileprivate var isWorthRemembering: Bool {
        !isHarmless
            && (hasSessionName && value.count >= 8 || Randomness.bits(of: value) >= 64)
    }
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
