internal import Base
internal import Contents
internal import Traffic

/// A cookie as rules look at it: decoded, and judged by its name and value.
struct Cookie {
    let name: [UInt8]
    let value: [UInt8]
    /// Whether the origin set it in this exchange.
    let isSet: Bool
    let isSecure: Bool
    let hasSessionName: Bool
    /// Analytics, consent, locale and anti-forgery values, and what balancers and walls before an
    /// origin set: none opens an account.
    let isHarmless: Bool
    private(set) var isHTTPOnly = false
    /// How long it is kept, `nil` if it goes with the session or was sent.
    private(set) var lifetimeSeconds: Int?

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
            let told = CookieAttributes(attributes.prefix(32))
            var set = Cookie(cookie, isSet: true, isSecure: told.isSecure)
            set.isHTTPOnly = told.isHTTPOnly
            set.lifetimeSeconds = told.lifetimeSeconds(at: view.exchange.startedAt)
            result.append(set)
        }
        return Array(result.prefix(limit))
    }

    init(_ pair: CookiePair, isSet: Bool, isSecure: Bool) {
        name = PercentCoding.decoded(pair.name, plusIsSpace: true).trimmed
        let plain = PercentCoding.decoded(pair.value.prefix(MessageField.valueLimit))
        value = Array(plain.trimmed.filter { $0 != 0x22 })
        self.isSet = isSet
        self.isSecure = isSecure
        let lowercased = name.prefix(Self.nameLimit).lowercasedBytes
        hasSessionName = Self.isSession(lowercased)
        isHarmless = Self.isHarmless(lowercased, name)
    }

    var field: MessageField {
        MessageField(container: isSet ? .setCookie : .cookie, name: name, value: value)
    }

    /// Whether who set it means it to be a secret, as far as it tells.
    var isGuarded: Bool { isSecure || isHTTPOnly }

    private static func isSession(_ name: [UInt8]) -> Bool {
        let text = name.text
        if let known = SecretName.token(text), known != .signature { return true }
        return sessionPrefixes.contains { text.hasPrefix($0) }
            || name.contains(run: Array("session".utf8))
    }

    private static func isHarmless(_ lowercased: [UInt8], _ name: [UInt8]) -> Bool {
        let text = lowercased.text
        if trackers.contains(text) || infrastructure.contains(text) { return true }
        if let first = lowercased.first, let prefixes = harmlessPrefixes[first],
            prefixes.contains(where: { lowercased.starts(with: $0) })
        {
            return true
        }
        if harmlessParts.contains(where: { lowercased.contains(run: $0) }) { return true }
        return !preferences.isDisjoint(with: NameWords(name[...]).texts)
    }

    private static let nameLimit = 256
    private static let harmlessParts = ["consent", "csrf", "xsrf", "gdpr"].map { Array($0.utf8) }
    private static let limit = 256
    private static let sessionPrefixes = [
        "aspsessionid", "sess", "auth", "remember_", "wordpress_logged_in_", "connect.sid",
    ]
    private static let analyticsPrefixes = [
        "_ga", "_gid", "_gat", "_gcl", "_fbp", "_fbc", "__utm", "_hj", "ajs_", "amplitude", "mp_",
        "_pk_", "_uet", "_clck", "_clsk", "_tt_", "_pin_", "_sp_id", "_sp_ses", "amp_", "amcv",
        "mbox",
        "optimizely", "_vwo", "_vis_opt", "__gads", "__gpi", "__hs", "hubspot", "intercom-id",
        "_mkto", "_dd_s", "ph_", "_rdt", "_scid", "_li_", "li_", "cto_", "_gac", "_dc_gtm", "__qca",
        "_shopify_", "snowplow", "tracking", "visitor", "utm",
    ]
    private static let trackers: Set<String> = [
        "ide", "nid", "dsid", "anid", "1p_jar", "muid", "muidb", "fr", "uid", "uids", "uuid",
        "uuid2", "anj", "sess_ad", "demdex", "dpm", "bcookie", "bscookie", "lidc", "tuuid",
        "personalization_id", "guest_id", "s_vi", "s_fid", "s_ecid", "khaos", "tdid",
        "tdcpm", "cmid", "cmps", "uuidc", "mdid", "everest_g_v2", "tluid", "idsync", "vuid",
        "datr", "sb", "did_compat", "testcookie", "test_cookie", "yandexuid", "ymex",
    ]
    /// Balancers, walls against robots and counters of attacks.
    private static let infrastructure: Set<String> = [
        "awsalb", "awsalbcors", "awsalbtg", "awsalbtgcors", "awselb", "awselbcors", "arraffinity",
        "arraffinitysamesite", "serverid", "route", "routeid", "lb", "backend", "gclb", "srv",
        "sticky", "akacd", "ak_bmsc", "bm_sz", "bm_sv", "bm_mi", "_abck", "akavpau", "__cf_bm",
        "__cfduid", "__cflb", "_cfuvid", "cf_clearance", "__cfruid", "datadome", "_px3", "_pxhd",
        "_pxvid", "reese84", "x-bni-fpc", "x-bni-rncf", "x-ms-routing-name",
        "x-oracle-bmc-lbs-route",
        "affinity", "ingresscookie", "nlbi", "dtcookie", "rxvisitor", "dtsa", "dtpc",
    ]
    private static let infrastructurePrefixes = [
        "bigipserver", "visid_incap_", "incap_ses_", "nlbi_", "ts01", "citrix_ns_", "akaalb_",
        "f5_", "dtcookie", "_px",
    ]
    /// By their first byte.
    private static let harmlessPrefixes = Dictionary(
        grouping: (infrastructurePrefixes + analyticsPrefixes).map { Array($0.utf8) },
        by: { $0.first ?? 0 })
    private static let preferences: Set<String> = [
        "lang", "language", "locale", "theme", "timezone", "tz", "currency", "country", "region",
    ]
}
