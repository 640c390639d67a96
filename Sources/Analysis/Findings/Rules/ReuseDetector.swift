internal import Base

/// REUSE-CREDENTIAL: the same password at several services.
struct ReuseDetector {
    private var seen = SeenValues()

    mutating func examine(_ view: ExchangeView, _ evidence: RunEvidence) {
        for credential in view.credentials where credential.kind == .password {
            guard credential.value.count >= Self.shortest else { continue }
            seen.add(credential.field, isPassword: true, evidence)
        }
    }

    func finish(_ parties: Parties) -> [LateMatch] {
        seen.shared.flatMap { value, sights in
            sights.compactMap { sight -> LateMatch? in
                let others = sights.filter { !parties.areOneParty($0.service, sight.service) }
                guard !others.isEmpty else { return nil }
                var match = LateMatch(.reuseCredential, .high, .certain, at: sight.sighting)
                match.selector = sight.selector
                match.value = value
                match.notes = others.map { .alsoAt($0.service) }
                return match
            }
        }
    }

    private static let shortest = 6
}

extension RuleText {
    static let reuseCredential = RuleText(
        title: "Same password used at several services",
        reason: "whoever breaks into one of the services can log in at the others",
        advice: "use a password of its own for each service, or let one of them vouch for the user",
        decision:
            "A password of at least 6 characters went to two services, by their registrable"
            + " domains; values are compared by tags under a key of the run.",
        exceptions:
            "Placeholders, and the services that are declared as first parties, which count as one."
            + " An identity provider of the same owner looks like another service until it is"
            + " declared.",
        worst: .high,
        weaknesses: [522, 1391])
}
