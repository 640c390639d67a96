internal import Base
internal import Contents

/// A cookie as rules look at it: decoded, and judged by its name and value.
struct Cookie {
    let name: [UInt8]
    let value: [UInt8]
    /// Whether the origin set it in this exchange.
    let isSet: Bool
    let isSecure: Bool

    /// Those that were sent, and those that an origin set.
    static func read(_ view: ExchangeView) -> [Cookie] {
        var result: [Cookie] = []
        for header in view.request.texts("cookie") {
            for pair in CookiePair.sent(header[...]).prefix(limit) {
                result.append(Cookie(pair, isSet: false, isSecure: false))
            }
        }
        guard view.hasOriginResponse else { return result }
        for header in view.responseFacts.cookies {
            let (cookie, attributes) = CookiePair.set(header[...])
            let isSecure = attributes.contains { $0.name.equalsIgnoringCase("secure") }
            result.append(Cookie(cookie, isSet: true, isSecure: isSecure))
        }
        return Array(result.prefix(limit))
    }

    init(_ pair: CookiePair, isSet: Bool, isSecure: Bool) {
        name = PercentCoding.decoded(pair.name, plusIsSpace: true).trimmed
        let plain = PercentCoding.decoded(pair.value.prefix(MessageField.valueLimit))
        value = Array(plain.trimmed.filter { $0 != 0x22 })
        self.isSet = isSet
        self.isSecure = isSecure
    }

    var field: MessageField {
        MessageField(container: isSet ? .setCookie : .cookie, name: name, value: value)
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

    private static let limit = 256
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
