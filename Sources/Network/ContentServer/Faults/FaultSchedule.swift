internal import Base
internal import HTTPCodecs
internal import HTTPModel
package import HTTPServer
internal import Synchronization

/// Decides which faults a request meets.
///
/// A decision is drawn from a stream of its own, so that neither threads nor time have a part in it:
/// of the seed, the rule, the client and the ordinal of that client's request to that rule.
package final class FaultSchedule: Sendable {
    private let scenario: Scenario
    private let seed: UInt64
    private let counts = Mutex<[Key: UInt64]>([:])

    private struct Key: Hashable {
        let rule: Int
        let client: String
    }

    package init(_ scenario: Scenario, seed: UInt64) {
        self.scenario = scenario
        self.seed = seed
    }

    var isEmpty: Bool { scenario.rules.isEmpty }

    package struct Decision: Sendable {
        /// The rule that decided; `nil` for none.
        var rule: String?
        var faults: [Fault] = []
        var draws: FaultDraws
    }

    /// Counts a request for every rule that it matches, and takes the faults of the first whose turn
    /// it is.
    func decide(_ request: ServerRequest, client: String) -> Decision {
        var decision: Decision?
        var steps = Self.stepLimit
        for (index, rule) in scenario.rules.enumerated() where steps > 0 {
            guard rule.matches(request, steps: &steps) else { continue }
            let ordinal = count(Key(rule: index, client: client))
            guard decision == nil, rule.turn.means(ordinal) else { continue }
            var draws = FaultDraws(seed: seed, rule: rule.name, client: client, ordinal: ordinal)
            guard draws.below(1000) < rule.odds else { continue }
            decision = Decision(rule: rule.name, faults: rule.faults, draws: draws)
        }
        return decision
            ?? Decision(draws: FaultDraws(seed: seed, rule: "", client: client, ordinal: 0))
    }

    /// What a URL asks for is the same at every request for it.
    func draws(forURL text: String) -> FaultDraws {
        FaultDraws(seed: seed, rule: text, client: "", ordinal: 0)
    }

    private func count(_ key: Key) -> UInt64 {
        counts.withLock { counts in
            // Clients choose their labels: those that come too late are counted as one.
            let key =
                counts.count < Self.limit || counts[key] != nil
                ? key : Key(rule: key.rule, client: "")
            counts[key, default: 0] += 1
            return counts[key] ?? 1
        }
    }

    /// Begins to count anew.
    func reset() { counts.withLock { $0 = [:] } }

    private static let limit = 100_000
    /// Of all patterns for one request, which take some milliseconds: rules behind it are not looked at.
    private static let stepLimit = 1_000_000
}

/// Which client a request is of: the label that it gives itself, else its address without the port.
package enum ClientLabel {
    package static func of(_ request: ServerRequest) -> String {
        given(request).flatMap { text($0[...]) } ?? request.connection.host
    }

    /// What it calls itself, which need not be a label; `nil` for nothing, and for what a page of
    /// another site has a browser say.
    static func given(_ request: ServerRequest) -> [UInt8]? {
        guard !isOfAnotherSite(request) else { return nil }
        return request.fields.first(named: "sallyport-client").map { [UInt8]($0) }
            ?? request.path.queryValue("sallyport-client")
    }

    /// Whether any field says that a page of another site has a browser send this: it could spoil the
    /// verdict on a client whose label it knows (Fetch Metadata §2.4; to a plain port that is not
    /// loopback browsers do not tell it, and for an image no Origin either).
    static func isOfAnotherSite(_ request: ServerRequest) -> Bool {
        let fields = request.fields
        if let site = fields.first(named: "sec-fetch-site"), site.equalsIgnoringCase("cross-site") {
            return true
        }
        return [fields.first(named: "origin"), fields.first(named: "referer")].contains { url in
            guard let url else { return false }
            let host = url.drop { $0 != slash }.dropFirst(2).prefix { $0 != slash }
            return HostField.parse(host)?.host != request.host
        }
    }

    private static let slash = UInt8(ascii: "/")

    /// - Returns: `nil` for what is no label.
    static func text(_ label: ArraySlice<UInt8>) -> String? {
        guard (1...limit).contains(label.count), label.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { return nil }
        return label.text
    }

    /// In bytes.
    private static let limit = 64
}
