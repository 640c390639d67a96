package import Base

/// What a team holds its client to: who is no third party, what fails, what has to be seen before a
/// verdict counts, and what is accepted for a while, and why.
///
/// The file has the form of `SettingLines`:
///
///     first-party = shop.example
///     [gate]
///     fail-on = medium
///     [expect]
///     host = api.shop.example
///     [suppress]
///     rule = URL-TOKEN
///     service = shop.example
///     reason = the old search is switched off in spring
///     expires = 2027-03-31
package struct FindingsPolicy: Sendable {
    /// As messages name it; empty for none.
    package let path: String
    /// Hosts and domains that belong to the client's maker.
    package internal(set) var firstParties: [String] = []
    /// Hosts that may be spoken to without TLS, as long as nothing secret is said.
    package internal(set) var clearHosts: [HostPattern] = []
    /// The file with the values of the test subject, as it was written.
    package internal(set) var profilePath: String?
    package var gate = FindingsGate()
    /// What a run may move; nothing is counted without a limit.
    package internal(set) var budget: [BudgetedAmount: Int64] = [:]
    /// How many users the program has, for how many share a fingerprint; `nil` if it does not say.
    package internal(set) var population: Int?
    package internal(set) var expectations: [Expectation] = []
    package internal(set) var suppressions: [Suppression] = []

    package init(path: String = "") {
        self.path = path
    }

    /// Reads a policy.
    ///
    /// - Parameter now: when the verdict is given, for what expires.
    ///
    /// Errors: `policy-invalid`, with line and column.
    package init(_ bytes: [UInt8], path: String, now: Timestamp) throws(Failure) {
        var reader = PolicyReader(path: path, now: now)
        try reader.read(bytes)
        self = reader.policy
    }

    /// The profile's file, found from the policy's folder; `nil` if none is named.
    package var profileFile: String? {
        guard let profilePath, !profilePath.hasPrefix("/"), let slash = path.lastIndex(of: "/")
        else { return profilePath }
        return path[...slash] + profilePath
    }

    /// What it decides, in a few words.
    package var summary: String {
        var parts = ["it fails on \(gate.standard.text)"]
        if !gate.rules.isEmpty {
            parts.append("has levels for \(Quantity.text(gate.rules.count, "rule"))")
        }
        if !suppressions.isEmpty {
            parts.append("suppresses in \(Quantity.text(suppressions.count, "place"))")
        }
        if !clearHosts.isEmpty {
            parts.append("allows cleartext to \(Quantity.text(clearHosts.count, "host"))")
        }
        if !expectations.isEmpty {
            parts.append("expects \(Quantity.text(expectations.count, "thing"))")
        }
        return parts.joined(separator: ", ")
    }

    /// Refuses expectations that no profile can meet.
    ///
    /// Errors: `policy-invalid`, with line and column.
    package func check(against profile: SubjectProfile?) throws(Failure) {
        let keys = profile?.values.map(\.key) ?? []
        for expectation in expectations {
            guard case .planted(let key) = expectation.subject, !keys.contains(key) else {
                continue
            }
            let nearest = NearestName.find(String(key.prefix(64)), among: keys)
            throw Failure(
                "policy-invalid", party: .tool,
                "\(path):\(expectation.place): no profile has a value '\(key.shownOfPolicy)'",
                hint: nearest.map { "did you mean '\($0)'?" }
                    ?? "name the file that has it: 'profile = FILE', or --profile FILE")
        }
    }
}
