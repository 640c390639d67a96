internal import Base

/// What one exchange or connection showed: at most so much for each rule, and of that the worst.
///
/// Who answers a request chooses how much some rules see. That must crowd out neither what another
/// rule sees nor what fails.
struct BoundedMatches {
    private(set) var all: [RuleMatch] = []
    /// How many were left out that might have failed.
    private(set) var leftOutCount = 0
    private var leftOutSecrets: [[UInt8]] = []
    private let gate: FindingsGate

    init(_ matches: [RuleMatch] = [], _ gate: FindingsGate) {
        self.gate = gate
        add(matches)
    }

    /// What no name may show.
    var secrets: [[UInt8]] { Self.secrets(of: all) + leftOutSecrets }

    mutating func add(_ matches: [RuleMatch]) {
        for match in matches { add(match) }
    }

    private mutating func add(_ match: RuleMatch) {
        guard all.count >= Self.ruleLimit else { return all.append(match) }
        let same = all.indices.filter { all[$0].rule == match.rule }
        guard same.count >= Self.ruleLimit,
            let mildest = same.min(by: { weight(all[$0]) < weight(all[$1]) })
        else { return all.append(match) }
        guard weight(all[mildest]) < weight(match) else { return leaveOut(match) }
        let milder = all.remove(at: mildest)
        all.append(match)
        leaveOut(milder)
    }

    private mutating func leaveOut(_ match: RuleMatch) {
        if leftOutSecrets.count < Self.secretLimit { leftOutSecrets += Self.secrets(of: [match]) }
        // The same place would be the same finding.
        guard mayFail(match), !all.contains(where: match.isToldWith) else { return }
        leftOutCount += 1
    }

    private func weight(_ match: RuleMatch) -> (Int, Severity, Confidence) {
        (mayFail(match) ? 1 : 0, match.worstSeverity, match.confidence)
    }

    private func mayFail(_ match: RuleMatch) -> Bool {
        gate.reaches(match.rule, match.worstSeverity, match.confidence)
    }

    private static func secrets(of matches: [RuleMatch]) -> [[UInt8]] {
        matches.flatMap { [$0.value, $0.user].compactMap(\.self) }
    }

    /// As many places as the report tells apart.
    private static let ruleLimit = FindingStore.entryLimit
    private static let secretLimit = 256
}

extension RuleMatch {
    /// How severe it is wherever it was seen.
    fileprivate var worstSeverity: Severity { max(severity, thirdPartySeverity ?? severity) }

    fileprivate func isToldWith(_ other: RuleMatch) -> Bool {
        rule == other.rule && container == other.container && name == other.name
            && pointer == other.pointer && planted?.key == other.planted?.key
            && protocolName == other.protocolName
    }
}
