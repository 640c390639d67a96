internal import Base
internal import Contents
internal import Traffic

/// CACHE-AUTH: responses made for one user that caches may keep.
enum CachedSecretDetector {
    static func examine(_ view: ExchangeView) -> [RuleMatch] {
        guard view.hasOriginResponse, storable.contains(view.exchange.status),
            view.method == Array("GET".utf8), isPersonal(view.responseType)
        else { return [] }
        let cache = view.responseFacts.cache
        guard !cache.forbidsStoring else { return [] }
        let isAuthorized = view.request.first(named: "authorization") != nil
        guard isAuthorized || hasSession(view) else { return [] }
        guard let (flaw, severity, confidence) = judge(view, isAuthorized: isAuthorized) else {
            return []
        }
        var result = RuleMatch(.cacheAuthenticated, severity, confidence)
        result.container = .header
        result.name = Array("cache-control".utf8)
        result.notes = [.hygiene(flaw)]
        return [result]
    }

    private static func judge(
        _ view: ExchangeView, isAuthorized: Bool
    ) -> (HygieneFlaw, Severity, Confidence)? {
        let fields = view.responseFacts
        let cache = fields.cache
        // What has to be asked for each time is given to nobody else unasked.
        if cache.mustAsk || cache.lifetime == 0 && (cache.sharedLifetime ?? 0) == 0 { return nil }
        let varying = Set(fields.vary.split(separator: 0x2C).map { Array($0).trimmed.text })
        let isKeyed = !varying.isDisjoint(with: ["cookie", "authorization", "*"])
        let isTold = cache.isPresent || fields.hasExpiry
        guard isTold else {
            return fields.hasLastModified && !isAuthorized && !isKeyed
                ? (.cachesMayGuess, .low, .tentative) : nil
        }
        guard !cache.isPrivate else { return nil }
        // Shared caches keep what came with Authorization only if they are told to (RFC 9111 §3.5).
        let isShared =
            cache.isPublic || (cache.sharedLifetime ?? 0) > 0
            || (isAuthorized ? cache.mustRevalidate : cache.lifetime != nil)
        guard cache.lifetime != nil || cache.sharedLifetime != nil || fields.hasExpiry else {
            return cache.isPublic && !isKeyed ? (.sharedCachesMayStore, .medium, .firm) : nil
        }
        if isShared, !isKeyed { return (.sharedCachesMayStore, .medium, .firm) }
        return (.privateCachesMayStore, .low, .firm)
    }

    /// Whether content of this type may be made for a user; scripts, styles, pictures and their like
    /// are fetched with the same cookies and are the same for all.
    private static func isPersonal(_ type: [UInt8]) -> Bool {
        let media = MediaType(type[...])
        return media.isJSON || media.isXML || media.isHTML || media.isForm
            || media.isProtobuf || media.isGRPC || media.isPlain && !type.isEmpty
    }

    private static func hasSession(_ view: ExchangeView) -> Bool {
        view.cookies.contains {
            !$0.isSet && $0.hasSessionName && !$0.isHarmless && $0.value.count >= 8
        }
    }

    /// The statuses that caches keep unasked (RFC 9110 §15.1), but for those without a content.
    private static let storable: Set<Int> = [200, 203, 206, 300, 301, 404, 410]
}

extension RuleText {
    static let cacheAuthenticated = RuleText(
        title: "Response to an authenticated request may be cached",
        reason: "the next one who asks the cache, or opens the device, gets another user's content",
        advice: "send Cache-Control: no-store, or private where the client may keep it",
        decision:
            "A GET with Authorization or a session's cookie was answered with JSON, HTML, XML or"
            + " text that a cache may store by RFC 9111 §3; medium where a shared one may.",
        exceptions:
            "Scripts, styles, pictures and fonts, what has to be revalidated each time, and for"
            + " shared caches what varies by the credential. Where nothing is said it is tentative.",
        party: .origin, worst: .medium,
        weaknesses: [524, 525])
}
