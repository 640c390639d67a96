internal import Base
internal import Contents
internal import Traffic

/// HTTP-FIRST: a client that begins with http time and again, and lets a redirect lead it to https.
struct HTTPFirstDetector {
    private var redirects: [HostName: (count: Int, sighting: Sighting)] = [:]

    mutating func examine(_ view: ExchangeView, _ evidence: RunEvidence) {
        guard view.isClear, view.hasOriginResponse,
            [301, 302, 307, 308].contains(view.exchange.status), leadsToItself(view)
        else { return }
        if redirects[view.host] == nil {
            guard redirects.count < Self.countLimit else { return }
            redirects[view.host] = (0, evidence.sighting.ofService)
        }
        redirects[view.host]?.count += 1
    }

    func finish() -> [LateMatch] {
        let found = redirects.values.filter { $0.count >= 2 }
            .sorted { ($0.sighting.exchange ?? 0) < ($1.sighting.exchange ?? 0) }
        return found.map { count, sighting in
            var match = LateMatch(.httpFirst, .medium, .certain, at: sighting)
            match.notes = [.measured(.redirected(count))]
            return match
        }
    }

    private func leadsToItself(_ view: ExchangeView) -> Bool {
        let target = RecordedURL(view.responseFacts.location)
        return target.scheme.equalsIgnoringCase("https")
            && HostName(authority: Array(target.authority)) == view.host
    }

    private static let countLimit = 1024
}

extension RuleText {
    static let httpFirst = RuleText(
        title: "Client begins with http and relies on a redirect",
        reason: "whoever is on the path answers the first request and keeps the client on http",
        advice: "begin with https; in a program, write https in its addresses",
        decision:
            "Two or more requests to a host went over http and were redirected to https at the same"
            + " host (RFC 6797 §2.3.1).",
        exceptions: "A single one, which may be what a user typed.",
        worst: .medium,
        weaknesses: [319, 757])
}
