package import Base
package import Catalogue

/// Which probes an audit shows, and in what order.
package enum AuditSelection {
    /// The sound server comes first; then family by family, those that cost an attacker least first.
    ///
    /// - Parameter names: identifiers, with a `*` at the end for all that begin so; they are chosen
    ///   in place of the profile.
    ///
    /// Errors: `unknown-probe`.
    package static func probes(
        of catalogue: Catalogue, profile: AuditProfile, named names: [String]
    ) throws(Failure) -> [ProbeDescription] {
        for name in names where !catalogue.entries.contains(where: { matches($0, name) }) {
            throw Failure(
                "unknown-probe", party: .tool, "no probe is called '\(name)'",
                hint: "sallyport audit --list --profile full tells them; name-* stands for a"
                    + " family")
        }
        let chosen = catalogue.entries.filter { probe in
            if probe.identifier == AuditLedger.control { return true }
            guard names.isEmpty else { return names.contains { matches(probe, $0) } }
            return probe.profile <= profile
        }
        return chosen.sorted { rank($0) < rank($1) }
    }

    private static func matches(_ probe: ProbeDescription, _ name: String) -> Bool {
        name.hasSuffix("*")
            ? probe.identifier.hasPrefix(name.dropLast()) : probe.identifier == name
    }

    private static func rank(_ probe: ProbeDescription) -> (Int, Int, Int, String) {
        let isControl = probe.identifier == AuditLedger.control
        return (
            isControl ? -1 : ProbeFamily.allCases.firstIndex(of: probe.family) ?? 0,
            AuditProfile.allCases.firstIndex(of: probe.profile) ?? 0,
            -(Severity.allCases.firstIndex(of: probe.severity) ?? 0), probe.identifier
        )
    }
}
