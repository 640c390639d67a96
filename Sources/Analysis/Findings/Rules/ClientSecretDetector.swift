internal import Base

/// CLIENT-SECRET: a client that shows an OAuth client's secret, which everyone can take out of it.
enum ClientSecretDetector {
    static func examine(_ view: ExchangeView) -> [RuleMatch] {
        guard view.method == Array("POST".utf8), view.bodyFields.count < 64 else { return [] }
        var fields: [String: MessageField] = [:]
        for field in view.bodyFields where field.steps.isEmpty {
            fields[field.key.lettersAndDigits] = field
        }
        guard let grant = fields["granttype"]?.value, fields["codeverifier"] == nil,
            let secret = fields["clientsecret"], !Placeholder.matches(secret.value)
        else { return [] }
        // A machine that logs in as itself has nobody to keep the secret from.
        let isMachine = grant.lowercasedBytes == Array("client_credentials".utf8)
        var result = RuleMatch(
            .clientSecret, isMachine ? .low : .medium, .firm, field: secret)
        result.value = secret.value
        return [result]
    }
}

extension RuleText {
    static let clientSecret = RuleText(
        title: "Client shows its OAuth secret",
        reason: "a secret that is shipped with every copy of a program is none",
        advice: "register the client as a public one, and use the code grant with PKCE",
        decision:
            "A request to a token endpoint has grant_type and client_secret, and no code_verifier"
            + " (RFC 8252 §8.5).",
        exceptions:
            "Programs that run on servers alone may have a secret: suppress the rule for them. With"
            + " client_credentials it is low.",
        worst: .medium,
        weaknesses: [798])
}
