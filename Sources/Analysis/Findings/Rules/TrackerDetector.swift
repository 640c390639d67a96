internal import Base
internal import Traffic

/// TRACK-HOST and TRACK-3PCOOKIE: services that measure or advertise, and cookies by which a
/// service that is no first party knows the user again.
enum TrackerDetector {
    static func examine(_ view: ExchangeView) -> [RuleMatch] {
        cookies(view) + host(view)
    }

    private static func host(_ view: ExchangeView) -> [RuleMatch] {
        guard let entry = view.tracker, !view.isTunnel else { return [] }
        let isIdentified = view.personalValues.contains { $0.kind.isIdentifier && !$0.isHarmless }
        var result = RuleMatch(.trackHost, isIdentified ? .medium : .info, .certain)
        result.place = .service
        result.notes = [.privacy(entry.isOwnList ? .listedByUser : .listedHere)]
        if isIdentified { result.notes.append(.privacy(.identifierSent)) }
        return [result]
    }

    private static func cookies(_ view: ExchangeView) -> [RuleMatch] {
        guard view.hasOriginResponse else { return [] }
        return view.cookies.compactMap { cookie in
            guard cookie.isSet, let lifetime = cookie.lifetimeSeconds, lifetime > day,
                Randomness.bits(of: cookie.value) >= 64
            else { return nil }
            var result = RuleMatch(.trackCookie, .low, .firm, field: cookie.field)
            result.place = .service
            result.value = cookie.value
            result.thirdPartySeverity = .medium
            result.isForThirdParties = true
            result.notes = [.privacy(.livesDays(min(lifetime / day, 100_000)))]
            return result
        }
    }

    /// In seconds.
    private static let day = 86_400
}

extension RuleText {
    static let trackHost = RuleText(
        title: "Known tracker contacted",
        reason: "the service learns who uses the program, when and for what",
        advice: "leave it out, or ask for permission first",
        decision:
            "The host, or a domain above it by whole labels, is on a short list of well-known"
            + " services that comes with the tool, or on one given with --tracker-list; medium if"
            + " the request carries an identifier. A name server that was asked for such a name, in"
            + " DNS that could be read, tells as much.",
        exceptions: "The list names services and not purposes: some only count crashes.",
        worst: .medium,
        weaknesses: [359])

    static let trackCookie = RuleText(
        title: "Lasting cookie of a third party",
        reason: "the service knows the user again wherever it is embedded",
        advice: "load nothing from services that set such cookies before the user agreed",
        decision:
            "A service that is no first party sets a cookie of at least 64 bits that lives for more"
            + " than a day (RFC 6265 §5.3).",
        exceptions: "Cookies of a session, and what is too short to tell users apart.",
        party: .origin, worst: .medium,
        weaknesses: [359])
}
