internal import Base
internal import Logins
internal import Traffic

/// Keeps one finding for each rule, service, port, path and selector, within bounds.
///
/// A service with more places than `templateLimit` for one rule is rolled up to one finding.
struct FindingStore {
    private struct GroupKey: Hashable {
        let rule: RuleID
        let service: ServiceName
        let port: UInt16?
        /// What is accepted is not put together with what is not.
        let state: FindingState

        init(_ finding: Finding) {
            rule = finding.rule
            service = finding.party
            port = finding.urlTemplate.chosenPort
            state = finding.state
        }
    }

    fileprivate struct EntryKey: Hashable {
        let scheme: ExchangeRecord.Scheme
        let path: String
        let selector: Selector?
        /// The planted key, so that two of them in one place stay two findings.
        let planted: SafeName?
        let protocolName: ProtocolName?
    }

    fileprivate struct Group {
        var entries: [EntryKey: Finding] = [:]
        var paths = Set<String>()
        var whole: Finding?
    }

    private var groups: [GroupKey: Group] = [:]
    /// Whether a bound was met, so that services are no longer told apart.
    private(set) var isTruncated = false

    mutating func add(_ finding: Finding) {
        var finding = finding
        var key = GroupKey(finding)
        if groups[key] == nil, groups.count >= Self.groupLimit {
            isTruncated = true
            finding = Self.rolledUp(finding, to: .others)
            finding.urlTemplate.port = nil
            key = GroupKey(finding)
        }
        groups[key, default: Group()].add(finding)
    }

    /// What is kept, the worst first, with fingerprints.
    func findings(digests: DigestFunctions, firstParties: FirstParties) -> [Finding] {
        var all = groups.values.flatMap { group in
            group.whole.map { [$0] } ?? Array(group.entries.values)
        }.compactMap(firstParties.weighed)
        for index in all.indices {
            let finding = all[index]
            all[index].fingerprint =
                finding.isRolledUp
                ? Self.wideFingerprint(of: finding, digests)
                : Self.fingerprint(of: finding, digests)
        }
        return all.sorted(by: Self.worseFirst)
    }

    private static func worseFirst(_ left: Finding, _ right: Finding) -> Bool {
        if left.severity != right.severity { return left.severity > right.severity }
        if left.rule != right.rule { return left.rule.order < right.rule.order }
        if left.party != right.party { return left.party.text < right.party.text }
        if left.urlTemplate.path != right.urlTemplate.path {
            return left.urlTemplate.path < right.urlTemplate.path
        }
        return left.fingerprint < right.fingerprint
    }

    /// Excludes position, time and the secret; the same in another run.
    private static func fingerprint(of finding: Finding, _ digests: DigestFunctions) -> String {
        var parts = [
            "fp/1", finding.rule.rawValue, finding.party.text,
            finding.scheme == .http ? "plain" : "tls", finding.method?.rawValue ?? "",
            finding.urlTemplate.path, finding.selector?.text ?? "",
            finding.rule.text.party.rawValue,
        ]
        if let planted = finding.plantedName { parts.append(planted.text) }
        if let dialogue = finding.urlTemplate.dialogue {
            parts.append(dialogue.protocolName.rawValue)
        }
        if let port = finding.urlTemplate.chosenPort { parts.append("\(port)") }
        return digests.sha256(Array(parts.joined(separator: "|").utf8)).prefix(16).hex
    }

    /// The fingerprint of a finding if its places were not kept apart: what they have in common
    /// hangs on how many were seen.
    static func wideFingerprint(of finding: Finding, _ digests: DigestFunctions) -> String {
        var parts = [
            "fp/1", finding.rule.rawValue, finding.party.text, "", "", URLTemplate.wholeService, "",
            finding.rule.text.party.rawValue,
        ]
        if let port = finding.urlTemplate.chosenPort { parts.append("\(port)") }
        return digests.sha256(Array(parts.joined(separator: "|").utf8)).prefix(16).hex
    }

    fileprivate static func rolledUp(_ finding: Finding, to service: ServiceName) -> Finding {
        var result = finding
        result.party = service
        result.urlTemplate = finding.urlTemplate.rolledUp(to: service)
        result.isRolledUp = true
        return result
    }

    /// How many pairs of a rule and a service are told apart.
    private static let groupLimit = 4096
    fileprivate static let templateLimit = 5
    static let entryLimit = 32
}

extension FindingStore.Group {
    fileprivate mutating func add(_ finding: Finding) {
        if whole != nil {
            whole?.merge(FindingStore.rolledUp(finding, to: finding.party))
            return
        }
        let key = FindingStore.EntryKey(
            scheme: finding.scheme, path: finding.urlTemplate.path, selector: finding.selector,
            planted: finding.plantedName,
            protocolName: finding.urlTemplate.dialogue?.protocolName)
        if entries[key] != nil {
            entries[key]?.merge(finding)
            return
        }
        entries[key] = finding
        paths.insert(finding.urlTemplate.path)
        if paths.count > FindingStore.templateLimit || entries.count > FindingStore.entryLimit {
            rollUp()
        }
    }

    private mutating func rollUp() {
        // By the time they were first seen, so that the result does not hang on hashing.
        let all = entries.values.sorted {
            ($0.firstSeen, $0.exchanges.first ?? 0, $0.selector?.text ?? "")
                < ($1.firstSeen, $1.exchanges.first ?? 0, $1.selector?.text ?? "")
        }
        for finding in all {
            let wide = FindingStore.rolledUp(finding, to: finding.party)
            if whole == nil { whole = wide } else { whole?.merge(wide) }
        }
        entries = [:]
        paths = []
    }
}

extension Finding {
    /// The key of the profile that was found.
    fileprivate var plantedName: SafeName? {
        for case .planted(let name, _) in notes { return name }
        return nil
    }
}
