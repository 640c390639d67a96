internal import Base
internal import Contents
internal import Traffic

/// ECON-CACHE: pictures, scripts, styles and fonts that no cache can keep or ask for again cheaply.
enum CachingDetector {
    static func examine(_ view: ExchangeView) -> [RuleMatch] {
        guard view.hasOriginResponse, view.exchange.status == 200,
            view.method == Array("GET".utf8), view.exchange.responseBody.size >= leastSize,
            MediaType(view.responseType[...]).isAsset
        else { return [] }
        let facts = view.responseFacts
        let cache = facts.cache
        guard !facts.hasEntityTag, !facts.hasLastModified, !facts.hasExpiry,
            cache.lifetime == nil, cache.sharedLifetime == nil, !cache.forbidsStoring,
            !cache.isImmutable, view.request.first(named: "authorization") == nil
        else { return [] }
        var result = RuleMatch(.economyCaching, .low, .firm)
        result.container = .header
        result.name = Array("cache-control".utf8)
        result.notes = [.hygiene(.neitherLifetimeNorValidator)]
        return [result]
    }

    /// In bytes.
    private static let leastSize: Int64 = 1024
}

extension RuleText {
    static let economyCaching = RuleText(
        title: "Asset without anything for caches",
        reason: "every use of it fetches all of it again",
        advice:
            "send Cache-Control: max-age=31536000, immutable with a name by version, or an ETag",
        decision:
            "A picture, script, style, font, sound or film came with neither max-age, s-maxage nor"
            + " Expires, and without ETag and Last-Modified (RFC 9111 §4.2, RFC 9110 §8.8).",
        exceptions: "Responses to requests with Authorization, and no-store, which is a decision.",
        party: .origin, worst: .low,
        weaknesses: [])
}
