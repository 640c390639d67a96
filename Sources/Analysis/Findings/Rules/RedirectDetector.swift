internal import Base
internal import Contents
internal import Traffic

/// LEAK-REDIRECT-AUTH: a credential that went along with a redirect to another origin.
///
/// It remembers hashes of what was sent before a redirect, and where the redirect led.
struct RedirectDetector {
    private struct Pending {
        let target: Target
        let from: HostName
        let service: ServiceName
        let isSecure: Bool
        let time: Timestamp
        let hashes: Set<UInt64>
    }

    private struct Target: Hashable {
        let isSecure: Bool
        let host: HostName
        let port: UInt16
        let path: [UInt8]

        init(_ view: ExchangeView) {
            isSecure = !view.isClear
            host = view.host
            port = view.port == 0 ? (view.isClear ? 80 : 443) : view.port
            path = Array(view.target.target.prefix(RedirectDetector.pathLimit))
        }

        /// Where a response leads, `nil` if that is the same origin.
        init?(_ location: [UInt8], from view: ExchangeView) {
            let url = RecordedURL(location)
            let scheme = url.scheme.lowercasedBytes
            guard !url.authority.isEmpty, scheme.starts(with: Array("http".utf8)) else {
                return nil
            }
            isSecure = scheme.count == 5
            host = HostName(authority: Array(url.authority))
            let named = HostPort(url.authority.text)?.port ?? 0
            port = named == 0 ? (isSecure ? 443 : 80) : named
            let target = url.target.prefix(RedirectDetector.pathLimit)
            path = target.isEmpty ? [0x2F] : Array(target)
            let origin = Target(view)
            let isSame = origin.host == host && (origin.port == port || isSecure && view.isClear)
            guard !isSame || origin.isSecure && !isSecure else { return nil }
        }
    }

    private var pending: [Pending] = []

    mutating func examine(
        _ view: ExchangeView, _ evidence: RunEvidence
    ) -> [RuleMatch] {
        guard !view.credentials.isEmpty else { return [] }
        let found = follow(view, evidence)
        guard view.hasOriginResponse, [301, 302, 303, 307, 308].contains(view.exchange.status),
            let location = view.response.texts("location").first,
            let target = Target(location, from: view)
        else { return found }
        if pending.count >= Self.limit { pending.removeFirst() }
        pending.append(
            Pending(
                target: target, from: view.host, service: view.service, isSecure: !view.isClear,
                time: view.exchange.startedAt,
                hashes: Set(view.credentials.map { evidence.redaction.hash(of: $0.value) })))
        return found
    }

    private mutating func follow(
        _ view: ExchangeView, _ evidence: RunEvidence
    ) -> [RuleMatch] {
        guard !pending.isEmpty else { return [] }
        let now = view.exchange.startedAt
        pending.removeAll { now.microseconds - $0.time.microseconds > Self.longestMicroseconds }
        let target = Target(view)
        guard let index = pending.firstIndex(where: { $0.target == target }) else { return [] }
        let redirect = pending.remove(at: index)
        return view.credentials.compactMap { credential in
            guard redirect.hashes.contains(evidence.redaction.hash(of: credential.value)),
                let severity = severity(of: credential, redirect, view, evidence.parties)
            else { return nil }
            var match = RuleMatch(.leakRedirect, severity, .certain, field: credential.field)
            match.value = credential.value
            match.isPassword = credential.kind == .password
            match.notes = [.redirectedFrom(redirect.service)]
            return match
        }
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
    private static let pathLimit = 2048
}

extension RuleText {
    static let leakRedirect = RuleText(
        title: "Credential follows a redirect to another origin",
        reason: "whoever can answer with a redirect, or is at its end, gets the credential",
        advice: "drop Authorization, cookies and keys when a redirect leads to another origin",
        decision:
            "A request with a credential was redirected to another origin, and within 30 seconds a"
            + " request to exactly that place carried the same credential (RFC 9110 §15.4, Fetch"
            + " §4.4).",
        exceptions:
            "From cleartext to TLS on the same host, and cookies between hosts of one service."
            + " Between declared first parties it is low.",
        worst: .critical,
        weaknesses: [200, 522, 601])
}
