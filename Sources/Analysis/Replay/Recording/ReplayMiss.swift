package import Base

/// A request that nothing recorded answers, with the recorded request that is nearest to it.
package struct ReplayMiss: Sendable, Equatable {
    package enum Reason: String, Sendable {
        /// Nothing recorded is equal in what counts.
        case unknown = "no-match"
        /// What is equal has been given already.
        case exhausted
        /// What is no HTTP was not spoken with this host and port.
        case dialogue = "no-dialogue"
        /// A client says something else in it than was recorded.
        case difference = "dialogue-differs"
    }

    package let reason: Reason
    package let method: String
    package let url: String
    /// `nil` if nothing is recorded.
    package let nearest: Nearest?
    /// What differs in a dialogue, without what was said; empty for everything else.
    package let difference: String

    package struct Nearest: Sendable, Equatable {
        /// Its number in the capture.
        package let exchange: Int64
        package let method: String
        package let url: String
        /// None if it is equal in what counts, and exhausted.
        package let differences: [MatchDifference]
    }

    /// Of a client that spoke something else than HTTP, of which nothing is recorded with an origin.
    package init(_ host: String, _ port: UInt16) {
        reason = .dialogue
        method = "CONNECT"
        url = "tcp://\(HostPort(host: host, port: port))"
        nearest = nil
        difference = ""
    }

    /// Of a client whose dialogue with an origin is not the recorded one.
    init(_ difference: String, in authority: String) {
        reason = .difference
        method = "CONNECT"
        url = "tcp://" + authority
        nearest = nil
        self.difference = difference
    }

    init(
        reason: Reason, method: String, url: String, nearest: Nearest?, difference: String = ""
    ) {
        self.difference = difference
        self.reason = reason
        self.method = method
        self.url = url
        self.nearest = nearest
    }

    /// The same with values that are secret by their parts' names, and URLs, shown otherwise.
    package func showing(
        url shown: (String) -> String, _ value: (MessagePart, String) -> String
    ) -> ReplayMiss {
        ReplayMiss(
            reason: reason, method: method, url: shown(url),
            nearest: nearest.map { nearest in
                Nearest(
                    exchange: nearest.exchange, method: nearest.method, url: shown(nearest.url),
                    differences: nearest.differences.map { difference in
                        MatchDifference(
                            part: difference.part,
                            recorded: difference.recorded.map { value(difference.part, $0) },
                            live: difference.live.map { value(difference.part, $0) })
                    })
            }, difference: difference)
    }

    /// The rules with which the nearest request would have answered; none if what differs is what
    /// was asked for, as the path and the method are.
    package var rules: [ReplayRule] {
        if reason == .difference {
            let scope = RuleScope(String(url.dropFirst("tcp://".count)))
            return [ReplayRule(.ignore, .request, .body(""), at: scope)]
        }
        guard let nearest, reason == .unknown else { return [] }
        let rules = nearest.differences.map { difference in
            ReplayRule(.ignore, .request, difference.part.pattern)
        }
        let isHopeful = rules.allSatisfy { rule in
            switch rule.part {
            case .query, .header, .body, .authority: rule.part != .header("upgrade")
            default: false
            }
        }
        var seen: Set<ReplayRule> = []
        return isHopeful ? rules.filter { seen.insert($0).inserted } : []
    }

    /// What can be done about it.
    package var hint: String {
        if reason == .exhausted {
            return
                "with '--order stay' the last answer is given again, with '--order cycle' all are"
        }
        let rules = rules.prefix(Self.shownDifferences)
        if rules.isEmpty { return "if the request is right, record the session anew" }
        let more = self.rules.count - rules.count
        return "if that may differ, --rules with "
            + rules.map { "'\($0.text)'" }.joined(separator: ", ")
            + (more > 0 ? " and \(more) more" : "")
    }

    /// One line: what was asked for, and what differs.
    package var detail: String {
        if reason == .dialogue { return "no recorded dialogue with \(Self.cut(url))" }
        if reason == .difference { return "\(Self.cut(url)): \(difference)" }
        var text = "no recorded answer for \(method) \(Self.cut(url))"
        guard let nearest else { return text + ": nothing is recorded" }
        if reason == .exhausted {
            return text + ": every one has been given, the last of exchange \(nearest.exchange)"
        }
        text +=
            "; nearest is exchange \(nearest.exchange), \(nearest.method) \(Self.cut(nearest.url))"
        let parts = nearest.differences.prefix(Self.shownDifferences).map(Self.words)
        let more = nearest.differences.count - parts.count
        return text + ", which differs in " + parts.joined(separator: "; ")
            + (more > 0 ? " and \(more) more" : "")
    }

    /// A few words for a field of the response.
    package var field: String {
        guard let nearest else { return reason.rawValue }
        let parts = nearest.differences.prefix(Self.shownDifferences).map { difference in
            Self.fieldText(difference.part.text)
        }
        return "\(reason.rawValue); nearest=\(nearest.exchange)"
            + (parts.isEmpty ? "" : "; differs=\"\(parts.joined(separator: ", "))\"")
    }

    /// The document, in the schema `sallyport.replay-miss/1`.
    package var json: JSONText {
        var members: [JSONText.Member] = [
            .init("schema", "sallyport.replay-miss/1"), .init("reason", .string(reason.rawValue)),
            .init("method", .string(method)), .init("url", .string(url)),
        ]
        if let nearest {
            let differences = nearest.differences.map { difference -> JSONText in
                [
                    "part": .string(difference.part.text),
                    "recorded": .optional(difference.recorded),
                    "request": .optional(difference.live),
                ]
            }
            members.append(
                .init(
                    "nearest",
                    [
                        "exchange": .integer(nearest.exchange), "method": .string(nearest.method),
                        "url": .string(nearest.url), "differences": .array(differences),
                    ]))
        }
        if !difference.isEmpty { members.append(.init("difference", .string(difference))) }
        members.append(.init("hint", .string(hint)))
        members.append(.init("rules", .array(rules.map { .string($0.text) })))
        return .object(members)
    }

    private static func words(_ difference: MatchDifference) -> String {
        switch (difference.recorded, difference.live) {
        case (let recorded?, let live?):
            "\(difference.part.text): \(cut(recorded)) recorded, \(cut(live)) asked for"
        case (let recorded?, nil): "\(difference.part.text): \(cut(recorded)) recorded, missing now"
        case (nil, let live?): "\(difference.part.text): \(cut(live)) is new"
        case (nil, nil): difference.part.text
        }
    }

    private static func cut(_ text: String) -> String {
        text.count > shownLength ? text.prefix(shownLength) + "…" : text
    }

    /// Visible ASCII without quotes, as a field's value may hold.
    private static func fieldText(_ text: String) -> String {
        let bytes = text.utf8.prefix(shownLength).map { byte -> UInt8 in
            byte >= 0x20 && byte < 0x7F && byte != 0x22 && byte != 0x5C ? byte : 0x3F
        }
        return bytes.text
    }

    private static let shownDifferences = 4
    /// In characters.
    private static let shownLength = 120
}
