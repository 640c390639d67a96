package import Base

/// From where on findings fail a run.
package struct FindingsGate: Sendable, Equatable {
    /// How bad and how sure a finding has to be.
    package struct Level: Sendable, Equatable {
        /// `nil` if none is bad enough.
        package let severity: Severity?
        package let confidence: Confidence

        package init(_ severity: Severity?, _ confidence: Confidence = .firm) {
            self.severity = severity
            self.confidence = confidence
        }

        /// Such as `high`, `low tentative` or `never`.
        package var text: String {
            guard let severity else { return "never" }
            let isStandard = confidence == .firm
            return severity.rawValue + (isStandard ? "" : " \(confidence.rawValue)")
        }
    }

    package var standard = Level(.high)
    /// Rules that have a level of their own.
    package internal(set) var rules: [RuleID: Level] = [:]
    /// Whether it passes what some of was not looked into (`partly-read`).
    var waivesPartlyRead = false
    /// Where a policy says so.
    var lines: [RuleID: Int] = [:]

    package init(_ standard: Level = Level(.high)) {
        self.standard = standard
    }

    /// Whether a finding is bad and sure enough, whatever else is made of it.
    package func reaches(_ finding: Finding) -> Bool {
        reaches(finding.rule, finding.severity, finding.confidence)
            || finding.alsoSeen.contains { reaches(finding.rule, $0.value, $0.key) }
    }

    func reaches(_ rule: RuleID, _ severity: Severity, _ confidence: Confidence) -> Bool {
        let level = rules[rule] ?? standard
        guard let least = level.severity else { return false }
        return severity >= least && confidence >= level.confidence
    }
}
