internal import Base

/// How a policy and a baseline take a finding.
package enum FindingState: Sendable, Hashable {
    /// It counts.
    case open
    /// It was there before.
    case known
    /// It is accepted; the index of the policy's suppression.
    case suppressed(by: Int)
}

/// What a policy and a baseline made of the findings of a run.
package struct PolicyOutcome: Sendable {
    /// The policy's file, empty for none.
    package let path: String
    /// Whom the policy names as first parties.
    let firstParties: [String]
    let suppressions: [Suppression]
    /// Suppressions that ended: they suppress nothing any more.
    package let expired: [Suppression]
    /// Suppressions that nothing was found for.
    package let unused: [Suppression]
    package let baseline: BaselineOutcome?
    /// What had to be seen and was not, a line each.
    package let unmet: [String]

    package struct BaselineOutcome: Sendable {
        package let path: String
        /// How many findings were there before.
        package let knownCount: Int
        /// What was there before and was not seen this time.
        package let unseen: [Baseline.Entry]
    }

    /// The one that accepts a finding.
    package func suppression(of finding: Finding) -> Suppression? {
        guard case .suppressed(let index) = finding.state, suppressions.indices.contains(index)
        else { return nil }
        return suppressions[index]
    }
}

/// Takes findings as a policy and a baseline want it.
struct PolicyRule {
    private let policy: FindingsPolicy
    private let baseline: Baseline?
    /// Suppressions of places that have not ended, by their rule.
    private let places: [RuleID: [(index: Int, place: Suppression.Place)]]
    private let fingerprints: [String: Int]

    init(_ policy: FindingsPolicy, baseline: Baseline?) {
        self.policy = policy
        self.baseline = baseline
        var places: [RuleID: [(index: Int, place: Suppression.Place)]] = [:]
        var fingerprints: [String: Int] = [:]
        for (index, suppression) in policy.suppressions.enumerated() where !suppression.isExpired {
            switch suppression.target {
            case .fingerprint(let text): fingerprints[text] = index
            case .place(let place): places[place.rule, default: []].append((index, place))
            }
        }
        self.places = places
        self.fingerprints = fingerprints
    }

    /// Takes a finding before it is put together with others: many places of which some are
    /// accepted must not become one that is not.
    func taken(_ finding: Finding) -> Finding {
        var finding = finding
        if finding.rule.isAboutTransport, !policy.clearHosts.isEmpty,
            case let host = HostName(finding.urlTemplate.host.text),
            policy.clearHosts.contains(where: { $0.matches(host) })
        {
            finding.severity = .info
            finding.notes.append(.allowedInClear)
        }
        if let match = places[finding.rule]?.first(where: { $0.place.covers(finding) }) {
            finding.state = .suppressed(by: match.index)
        }
        return finding
    }

    /// Takes findings that have their fingerprints.
    ///
    /// - Parameters:
    ///   - isPartial: whether only a part was looked at, so that nothing is told of what was not
    ///     seen.
    ///   - wideFingerprint: that of a finding if its places were not kept apart.
    func outcome(
        of findings: inout [Finding], isPartial: Bool, unmet: [String],
        wideFingerprint: (Finding) -> String
    ) -> PolicyOutcome {
        let known = Set(baseline?.entries.map(\.fingerprint) ?? [])
        var seen: Set<String> = []
        for index in findings.indices where findings[index].state == .open {
            let finding = findings[index]
            let prints = [finding.fingerprint, wideFingerprint(finding)]
            if let accepted = prints.lazy.compactMap({ fingerprints[$0] }).first {
                findings[index].state = .suppressed(by: accepted)
            } else if !known.isDisjoint(with: prints) {
                findings[index].state = .known
            }
            seen.formUnion(prints)
        }
        let used = Set(findings.map(\.state))
        let unused = policy.suppressions.enumerated().filter { index, suppression in
            !isPartial && !suppression.isExpired && !used.contains(.suppressed(by: index))
        }
        return PolicyOutcome(
            path: policy.path, firstParties: policy.firstParties,
            suppressions: policy.suppressions,
            expired: policy.suppressions.filter(\.isExpired), unused: unused.map(\.element),
            baseline: baseline.map { baseline in
                .init(
                    path: baseline.path, knownCount: findings.count { $0.state == .known },
                    unseen: isPartial ? [] : unseen(in: baseline, findings, seen))
            }, unmet: unmet)
    }

    /// A finding that now stands for many places may hold one that was told apart before.
    private func unseen(
        in baseline: Baseline, _ findings: [Finding], _ seen: Set<String>
    ) -> [Baseline.Entry] {
        let wide = Set(findings.filter(\.isRolledUp).map(\.rule.rawValue))
        return baseline.entries.filter {
            !seen.contains($0.fingerprint) && !wide.contains($0.rule)
        }
    }
}
