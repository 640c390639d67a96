package import Base

/// What reports and `explain` tell of a rule.
package struct RuleText: Sendable {
    /// What was found, in a few words.
    package let title: String
    /// Why it matters, in one sentence without its first capital and its full stop.
    package let reason: String
    /// How to fix it, in one line.
    package let advice: String
    /// How the rule decides, with its source.
    package let decision: String
    /// What looks like it and is not reported, and where the rule may be wrong.
    package let exceptions: String
    /// Whose behaviour the rule judges.
    package var party = RuleParty.client
    /// The worst that a finding of it can be, `nil` if it is not told.
    package var worst: Severity?
    /// Numbers of the Common Weakness Enumeration.
    package let weaknesses: [Int]
}
