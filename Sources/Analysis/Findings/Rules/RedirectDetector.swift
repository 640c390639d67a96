internal import Base
internal import Traffic

/// LEAK-REDIRECT-AUTH: a credential that went along with a redirect to another origin.
///
/// It remembers hashes of what was sent before a redirect, and where the redirect led.
struct RedirectDetector {
    private struct Pending {
        let target: RedirectTarget
        let service: ServiceName
        let isSecure: Bool
        /// When the response was over: the origin chooses how long it takes.
        let end: Timestamp
        let hashes: Set<UInt64>
    }

    private var pending: [Pending] = []

    mutating func examine(
        _ view: ExchangeView, _ evidence: RunEvidence
    ) -> [RuleMatch] {
        guard !view.credentials.isEmpty else { return [] }
        let found = follow(view, evidence)
        let exchange = view.exchange
        guard view.hasOriginResponse, [301, 302, 303, 307, 308].contains(exchange.status) else {
            return found
        }
        let duration = RecordedNumber.bounded(exchange.durationMicroseconds ?? 0)
        let end = exchange.startedAt.microseconds.addingSaturated(duration)
        // Which of several counts hangs on the client.
        for location in view.response.texts("location").prefix(Self.locationLimit) {
            guard let target = RedirectTarget(location, from: view, evidence.redaction) else {
                continue
            }
            if pending.count >= Self.limit { pending.removeFirst() }
            pending.append(
                Pending(
                    target: target, service: view.service, isSecure: !view.isClear,
                    end: Timestamp(microseconds: end),
                    hashes: Set(view.credentials.map { evidence.redaction.hash(of: $0.value) })))
        }
        return found
    }

    private mutating func follow(
        _ view: ExchangeView, _ evidence: RunEvidence
    ) -> [RuleMatch] {
        guard !pending.isEmpty else { return [] }
        let now = view.exchange.startedAt
        pending.removeAll { now.microseconds(since: $0.end) > Self.longestMicroseconds }
        let target = RedirectTarget(view, evidence.redaction)
        let reached = pending.filter { $0.target.isReached(by: target) }
        guard !reached.isEmpty else { return [] }
        var followed = Set<UInt64>()
        let found = view.credentials.compactMap { credential -> RuleMatch? in
            let hash = evidence.redaction.hash(of: credential.value)
            let known = reached.filter { $0.hashes.contains(hash) }
            let judged = known.compactMap { redirect in
                severity(of: credential, redirect, view, evidence.parties).map { ($0, redirect) }
            }
            followed.insert(hash)
            guard let (severity, redirect) = judged.max(by: { $0.0 < $1.0 }) else { return nil }
            var match = RuleMatch(.leakRedirect, severity, .certain, field: credential.field)
            match.value = credential.value
            match.isPassword = credential.kind == .password
            match.notes = [.redirectedFrom(redirect.service)]
            return match
        }
        pending.removeAll {
            $0.target.isReached(by: target) && !$0.hashes.isDisjoint(with: followed)
        }
        return found
    }

    /// `nil` if it may go there.
    private func severity(
        of credential: Credential, _ redirect: Pending, _ view: ExchangeView, _ parties: Parties
    ) -> Severity? {
        if redirect.isSecure, view.isClear { return .critical }
        if redirect.service != view.service {
            return parties.areOneParty(redirect.service, view.service) ? .low : .high
        }
        // A cookie tells by its domain where it may go.
        return credential.field.container == .cookie ? nil : .medium
    }

    private static let longestMicroseconds: Int64 = 30_000_000
    private static let limit = 256
    private static let locationLimit = 4
}

extension RuleText {
    static let leakRedirect = RuleText(
        title: "Credential follows a redirect to another origin",
        reason: "whoever can answer with a redirect, or is at its end, gets the credential",
        advice: "drop Authorization, cookies and keys when a redirect leads to another origin",
        decision:
            "A request with a credential was redirected to another origin, and within 30 seconds of"
            + " the response a request to exactly that place carried the same credential (RFC 9110"
            + " §15.4, Fetch §4.4).",
        exceptions:
            "From cleartext to TLS on the same host, and cookies between hosts of one service."
            + " Between declared first parties it is low.",
        worst: .critical,
        weaknesses: [200, 522, 601])
}
