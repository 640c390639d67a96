internal import Base

/// What only the whole run shows, with the place that it is told at. As it is kept for long, it has
/// no raw bytes: `Selector` and `RedactedValue` are made when they are seen.
struct LateMatch {
    let rule: RuleID
    var severity: Severity
    var confidence: Confidence
    let sighting: Sighting
    var selector: Selector?
    var value: RedactedValue?
    /// How severe it is at a service that is no first party, `nil` if that makes no difference.
    var thirdPartySeverity: Severity?
    /// Whether it is no finding at a first party.
    var isForThirdParties = false
    var notes: [FindingNote] = []

    init(_ rule: RuleID, _ severity: Severity, _ confidence: Confidence, at sighting: Sighting) {
        self.rule = rule
        self.severity = severity
        self.confidence = confidence
        self.sighting = sighting
    }
}
