internal import Base
internal import Contents
internal import Traffic

/// HSTS: hosts that answer over https and do not tell browsers to stay with it.
///
/// Judged at the end: a policy may stand on some of a host's responses only, or on its parent.
struct TransportSecurityDetector {
    fileprivate struct Policy {
        var isSeen = false
        var coversSubdomains = false
        var flaws: [HygieneFlaw] = []
        let sighting: Sighting
    }

    private var policies: [HostName: Policy] = [:]

    mutating func examine(_ view: ExchangeView, _ evidence: RunEvidence) {
        // Addresses and this machine have no policies (RFC 6797 §8.1.1).
        guard !view.isClear, view.hasOriginResponse, !view.host.isAddress, !view.host.isLoopback,
            view.host.bytes.contains(0x2E)
        else { return }
        if policies[view.host] == nil {
            guard policies.count < Self.countLimit else { return }
            policies[view.host] = Policy(sighting: evidence.sighting.ofService)
        }
        let fields = view.responseFacts.transportSecurity
        guard let first = fields.first else { return }
        policies[view.host]?.read(first, isRepeated: fields.count > 1)
    }

    func finish() -> [LateMatch] {
        policies.sorted { ($0.value.sighting.exchange ?? 0) < ($1.value.sighting.exchange ?? 0) }
            .compactMap { host, policy in
                let flaws = policy.isSeen ? policy.flaws : [.policyMissing]
                guard !flaws.isEmpty, policy.isSeen || !isCovered(host) else { return nil }
                var match = LateMatch(.transportSecurity, .low, .certain, at: policy.sighting)
                match.notes = flaws.map { .hygiene($0) }
                return match
            }
    }

    /// Whether the policy of a parent, which was seen too, includes the host.
    private func isCovered(_ host: HostName) -> Bool {
        var rest = host.bytes[...]
        while let dot = rest.firstIndex(of: 0x2E) {
            rest = rest[(dot + 1)...]
            if policies[HostName(authority: Array(rest))]?.coversSubdomains == true { return true }
        }
        return false
    }

    private static let countLimit = 1024
}

extension TransportSecurityDetector.Policy {
    /// The last response of a host counts, as it does for browsers (RFC 6797 §8.1).
    fileprivate mutating func read(_ field: [UInt8], isRepeated: Bool) {
        isSeen = true
        coversSubdomains = false
        flaws = isRepeated ? [.policyRepeated] : []
        var lifetime: Int?
        for directive in field.split(separator: 0x3B).prefix(16) {
            let name = directive.prefix { $0 != 0x3D }
            let value = Array(directive[name.endIndex...].dropFirst()).trimmed.filter { $0 != 0x22 }
            switch Array(name).trimmed.lowercasedBytes.text {
            case "max-age" where value.contains(where: \.isASCIIDigit):
                lifetime = lifetime ?? CacheDirectives.seconds(value)
            case "includesubdomains": coversSubdomains = true
            default: break
            }
        }
        guard let lifetime else { return flaws.append(.policyUnreadable) }
        if lifetime == 0 {
            flaws.append(.policySwitchedOff)
        } else if lifetime < Self.leastSeconds {
            flaws.append(.policyTooShort)
        }
        coversSubdomains = coversSubdomains && lifetime > 0
    }

    private static let leastSeconds = 15_552_000
}

extension RuleText {
    static let transportSecurity = RuleText(
        title: "Host does not tell browsers to stay with https",
        reason: "a browser's first request to it may go over http, where it is read and led astray",
        advice: "send Strict-Transport-Security: max-age=31536000; includeSubDomains over https",
        decision:
            "No https response of a host had Strict-Transport-Security, or it had none that lasts"
            + " 180 days (RFC 6797 §6.1).",
        exceptions:
            "Hosts below one whose policy was seen to include them, addresses and names without a"
            + " dot. Lists that browsers bring along are not known here; programs that are no"
            + " browsers do not read the field.",
        party: .origin, worst: .low,
        weaknesses: [319])
}
