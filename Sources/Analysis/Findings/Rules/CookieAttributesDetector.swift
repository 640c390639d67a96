internal import Base
internal import Contents
internal import HTTPModel
internal import Traffic

/// COOKIE-ATTRS: attributes that a session's cookie lacks, and those that make browsers refuse one.
enum CookieAttributesDetector {
    static func examine(_ view: ExchangeView) -> [RuleMatch] {
        guard view.hasOriginResponse else { return [] }
        return view.responseFacts.cookies.prefix(countLimit).compactMap { judge($0, view) }
    }

    private static func judge(_ field: [UInt8], _ view: ExchangeView) -> RuleMatch? {
        let (pair, list) = CookiePair.set(field[...])
        let attributes = CookieAttributes(list.prefix(attributeLimit))
        guard !attributes.isDeletion(at: view.exchange.startedAt), !pair.value.isEmpty else {
            return nil
        }
        let cookie = Cookie(pair, isSet: true, isSecure: attributes.isSecure)
        var flaws = refused(cookie, attributes, view)
        var severity = flaws.isEmpty ? Severity.low : .medium
        if cookie.hasSessionName, !cookie.isHarmless, cookie.value.count >= 8 {
            flaws += lacking(attributes, view)
            if flaws.isEmpty, let domain = attributes.domain, isParent(domain, of: view.host) {
                flaws = [.cookieForParentDomain]
                severity = .info
            }
        }
        guard !flaws.isEmpty else { return nil }
        var result = RuleMatch(.cookieAttributes, severity, .certain)
        result.place = .service
        result.container = .setCookie
        result.name = cookie.name
        result.notes = flaws.map { .hygiene($0) }
        return result
    }

    /// What browsers refuse, whatever the cookie is for (RFC 6265bis §5.7).
    private static func refused(
        _ cookie: Cookie, _ attributes: CookieAttributes, _ view: ExchangeView
    ) -> [HygieneFlaw] {
        var flaws: [HygieneFlaw] = []
        if attributes.sameSite == "none", !attributes.isSecure {
            flaws.append(.cookieNoneWithoutSecure)
        }
        let name = cookie.name.lowercasedBytes.text
        let isSecure = attributes.isSecure && !view.isClear
        let isHostOnly = attributes.domain == nil && attributes.path == "/"
        if name.hasPrefix("__host-") && !(isSecure && isHostOnly)
            || name.hasPrefix("__secure-") && !isSecure
        {
            flaws.append(.cookiePrefixBroken)
        }
        return flaws
    }

    private static func lacking(
        _ attributes: CookieAttributes, _ view: ExchangeView
    ) -> [HygieneFlaw] {
        var flaws: [HygieneFlaw] = []
        // In cleartext, Secure would make browsers refuse it: PLAIN-HTTP-COOKIE tells of that.
        let lacksSecure = !attributes.isSecure && !view.isClear && attributes.sameSite != "none"
        if lacksSecure { flaws.append(.cookieWithoutSecure) }
        if !attributes.isHTTPOnly { flaws.append(.cookieWithoutHTTPOnly) }
        switch attributes.sameSite {
        case nil: flaws.append(.cookieWithoutSameSite)
        case "none", "lax", "strict": break
        default: flaws.append(.cookieSameSiteUnknown)
        }
        return flaws
    }

    /// Whether the cookie goes to more hosts than the one that set it and those below.
    private static func isParent(_ domain: String, of host: HostName) -> Bool {
        host.text != domain && host.text.hasSuffix("." + domain)
    }

    private static let countLimit = 64
    private static let attributeLimit = 32
}

/// The attributes of a `Set-Cookie` that decide where the cookie goes.
extension RuleText {
    static let cookieAttributes = RuleText(
        title: "Cookie lacks attributes that protect it",
        reason: "a script, another site or a cleartext request gets hold of the session's cookie",
        advice: "set Secure, HttpOnly and SameSite=Lax or Strict on it; name it __Host-…",
        decision:
            "A Set-Cookie of a session lacks Secure (over https), HttpOnly or SameSite; or any"
            + " cookie has SameSite=None without Secure, or breaks its prefix __Host- or __Secure-"
            + " (RFC 6265bis §4.1.3).",
        exceptions:
            "Cookies that are deleted, and those whose name is not a session's. A script may need"
            + " a cookie without HttpOnly.",
        party: .origin, worst: .medium,
        weaknesses: [614, 1004, 1275, 565])
}
