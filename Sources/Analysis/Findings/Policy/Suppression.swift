internal import Base

/// A finding that a team accepts, and why.
package struct Suppression: Sendable {
    /// Where it stands in the policy.
    package let line: Int
    let target: Target
    package let reason: String
    package let owner: String?
    /// The last day that it holds, such as `2027-03-31`, `nil` for all times.
    package let lastDay: String?
    /// Whether that day is over: it suppresses nothing any more.
    package let isExpired: Bool

    enum Target: Sendable {
        case fingerprint(String)
        case place(Place)
    }

    /// Patterns as `Glob` has them.
    struct Place: Sendable {
        let rule: RuleID
        let service: String
        /// `nil` for every path.
        let path: String?
        /// `nil` for every part of a message, and none.
        let field: String?

        func covers(_ finding: Finding) -> Bool {
            guard finding.rule == rule else { return false }
            let place = finding.urlTemplate
            let host = place.host.text
            let port = place.dialogue?.port ?? place.port
            let names = [finding.party.text, host] + (port.map { ["\(host):\($0)"] } ?? [])
            guard names.contains(where: { Glob.matches($0, service) }) else { return false }
            if let path, !Glob.matches(place.path, path) { return false }
            guard let field else { return true }
            return Glob.matches(finding.selector?.text ?? "", field)
        }
    }

    /// What it is about, for people.
    package var subject: String {
        switch target {
        case .fingerprint(let fingerprint): fingerprint
        case .place(let place):
            [place.rule.rawValue, "at", place.service + (place.path ?? ""), place.field]
                .compactMap(\.self).joined(separator: " ").shownOfPolicy
        }
    }

    /// Why, who answers for it, and until when.
    package var justification: String {
        [reason, owner.map { "owner \($0)" }, lastDay.map { "until \($0)" }].compactMap(\.self)
            .joined(separator: "; ")
    }
}
