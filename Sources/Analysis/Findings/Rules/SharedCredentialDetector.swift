internal import Base

/// REUSE-CREDENTIAL and LEAK-3P-SECRET: the same password at several services, and what opens a
/// first party's service in the hands of another.
struct SharedCredentialDetector {
    private var passwords = SeenValues()
    private var tokens = SeenValues()

    mutating func examine(_ view: ExchangeView, _ evidence: RunEvidence) {
        for credential in view.credentials {
            let isLong = credential.value.count >= Self.shortest
            if credential.kind == .password {
                if isLong { passwords.add(credential.field, isPassword: true, evidence) }
            } else {
                tokens.add(credential.field, isPassword: false, evidence)
                if let issuer = JSONWebToken(credential.value)?.issuer {
                    tokens.note(
                        issuer: evidence.service(of: issuer), namedIn: credential.value, evidence)
                }
            }
        }
        for field in view.urlFields + view.bodyFields + view.tellingHeaderFields
        where Self.isTelling(field.value) {
            passwords.follow(field, isPassword: true, evidence)
            tokens.follow(field, isPassword: false, evidence)
        }
        for field in view.structuredResponseFields
        where MessageTokenDetector.token(in: field) != nil {
            tokens.note(sender: view.service, of: field.value, evidence)
        }
    }

    /// Whether the same bytes elsewhere are no accident, as a word or a number would be.
    private static func isTelling(_ value: [UInt8]) -> Bool {
        value.count >= 8 && !value.allSatisfy(\.isASCIIDigit)
            && !value.allSatisfy(\.isASCIILetter)
    }

    /// How many values are no longer compared.
    var forgottenCount: Int { passwords.forgottenCount + tokens.forgottenCount }

    func finish(_ parties: Parties) -> [LateMatch] {
        let reused = passwords.shared.flatMap { value, sights in
            let known = sights.filter(\.isFirstHand)
            return Self.matches(.reuseCredential, value, known) { one, other in
                !parties.areOneParty(one.service, other.service)
            }
        }
        let own = parties.firstParties.services
        let leaked = (passwords.shared + tokens.shared).flatMap { value, sights in
            // What another service has issued is no first party's.
            let isOwn = sights.contains { $0.isFirstHand && own.contains($0.service) }
            let others = sights.filter { !own.contains($0.service) && !$0.isIssuer }
            let isPassword = value.kind == .password
            let wrong = isOwn ? others.filter { !isPassword || !$0.isFirstHand } : []
            return wrong.map { sight -> LateMatch in
                var match = LateMatch(.leakThirdParty, .medium, .certain, at: sight.sighting)
                match.thirdPartySeverity = sight.isTracker ? .critical : .high
                match.isForThirdParties = true
                match.selector = sight.selector
                match.value = value
                match.notes = sights.filter { own.contains($0.service) }.prefix(1).map {
                    .alsoAt($0.service)
                }
                return match
            }
        }
        return reused + leaked
    }

    private static func matches(
        _ rule: RuleID, _ value: RedactedValue, _ sights: [SeenValues.Sight],
        _ areApart: (SeenValues.Sight, SeenValues.Sight) -> Bool
    ) -> [LateMatch] {
        sights.compactMap { sight in
            let others = sights.filter { areApart($0, sight) }
            guard !others.isEmpty else { return nil }
            var match = LateMatch(rule, .high, .certain, at: sight.sighting)
            match.selector = sight.selector
            match.value = value
            match.notes = others.map { .alsoAt($0.service) }
            return match
        }
    }

    /// In bytes.
    private static let shortest = 6
}

extension RuleText {
    static let reuseCredential = RuleText(
        title: "Same password used at several services",
        reason: "whoever breaks into one of the services can log in at the others",
        advice: "use a password of its own for each service, or let one of them vouch for the user",
        decision:
            "A password of at least 6 characters went to two services, by their registrable"
            + " domains; values are compared by hashes under a key of the run.",
        exceptions:
            "Placeholders, and the services that are declared as first parties, which count as one."
            + " An identity provider of the same owner looks like another service until it is"
            + " declared.",
        worst: .high,
        weaknesses: [522, 1391])

    static let leakThirdParty = RuleText(
        title: "First party's credential sent to a third party",
        reason: "the other service can act as the user, and so can whoever reads its logs",
        advice: "leave credentials out of what is sent to others: URLs, analytics, crash reports",
        decision:
            "A password, a token or a session's cookie of a first party was seen at another"
            + " service, in whatever field; values are compared by hashes under a key of the run.",
        exceptions:
            "The service that issued the token, by the token's iss or a response before any other"
            + " service had it, and keys that their provider means to be public. With guessed first"
            + " parties it is medium.",
        worst: .critical,
        weaknesses: [201, 522])
}
