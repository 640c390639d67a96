internal import Base
internal import Contents
internal import Traffic

/// CORS: responses that pages of other sites may read although they are made for a user.
///
/// It remembers one foreign origin a host: an answer to a second one shows that the list of allowed
/// origins is none.
struct CrossOriginDetector {
    private var origins: [HostName: HostName] = [:]

    /// - Parameter service: the registrable domain of a host, or the host.
    mutating func examine(
        _ view: ExchangeView, service: (HostName) -> String
    ) -> [RuleMatch] {
        let fields = view.responseFacts
        guard view.hasOriginResponse, !fields.allowedOrigin.isEmpty else { return [] }
        if fields.allowedOrigin == [0x2A] {
            if fields.allowsCredentials {
                return [match(.allowsAnyWithCredentials, .low, .certain)]
            }
            // What needs no credential is public, whoever reads it.
            let isAuthenticated = view.request.first(named: "authorization") != nil
            guard isAuthenticated, (200..<300).contains(view.exchange.status),
                view.method != Array("OPTIONS".utf8)
            else { return [] }
            return [match(.allowsAnyAuthenticated, .low, .firm)]
        }
        guard fields.allowsCredentials,
            let asked = view.request.first(named: "origin"),
            asked.elementsEqual(fields.allowedOrigin)
        else { return [] }
        if asked.equalsIgnoringCase("null") { return [match(.allowsNullOrigin, .medium, .firm)] }
        let origin = HostName(authority: Array(RecordedURL(asked).authority))
        guard !origin.isEmpty, service(origin) != service(view.host) else { return [] }
        guard let known = origins[view.host] else {
            if origins.count < Self.countLimit { origins[view.host] = origin }
            return [match(.reflectsOrigin, .low, .tentative)]
        }
        guard service(known) != service(origin) else {
            return [match(.reflectsOrigin, .low, .tentative)]
        }
        return [match(.reflectsSeveralOrigins, .medium, .firm)]
    }

    private func match(
        _ flaw: HygieneFlaw, _ severity: Severity, _ confidence: Confidence
    ) -> RuleMatch {
        var result = RuleMatch(.crossOrigin, severity, confidence)
        result.container = .header
        result.name = Array("access-control-allow-origin".utf8)
        result.notes = [.hygiene(flaw)]
        return result
    }

    private static let countLimit = 4096
}

extension RuleText {
    static let crossOrigin = RuleText(
        title: "Pages of other sites may read the response",
        reason: "a page that the user visits reads, with the user's cookies, what is meant for one",
        advice: "answer only origins on a list, and never with credentials to 'null' or to all",
        decision:
            "Access-Control-Allow-Origin repeats the Origin of another site, or 'null', beside"
            + " Access-Control-Allow-Credentials: true; or it is '*' on the response to a request"
            + " with Authorization (Fetch, CORS protocol).",
        exceptions:
            "Origins of the same registrable domain, and '*' on what anybody may fetch. One foreign"
            + " origin may be on a list, so it is tentative; origins of two other sites are firm.",
        party: .origin, worst: .medium,
        weaknesses: [942])
}
