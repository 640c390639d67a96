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

    package init(_ standard: Level = Level(.high)) {
        self.standard = standard
    }

    /// Whether a finding is bad and sure enough, whatever else is made of it.
    package func reaches(_ finding: Finding) -> Bool {
        let level = rules[finding.rule] ?? standard
        guard let severity = level.severity else { return false }
        return finding.severity >= severity && finding.confidence >= level.confidence
    }
}
