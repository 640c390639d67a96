internal import Base
internal import Contents

/// PLAIN-HTTP-APIKEY: a request header whose name says that it holds a key or a password.
enum APIKeyDetector {
    static func examine(_ view: ExchangeView) -> [RuleMatch] {
        guard view.isClear else { return [] }
        return view.headerFields.compactMap { field in
            guard var result = judge(field, at: view.service) else { return nil }
            result.notes += view.verdict
            return result
        }
    }

    /// - Parameter field: a header field, named in lower case.
    static func judge(_ field: MessageField, at service: ServiceName) -> RuleMatch? {
        guard field.value.count >= 8, isKeyName(field.name), !Placeholder.matches(field.value)
        else { return nil }
        var result = RuleMatch(
            .plainHTTPAPIKey, .high, .firm, header: field.name, value: field.value)
        if PublicKey.matches(field.value, named: field.name, at: service) { result.makePublic() }
        return result
    }

    private static func isKeyName(_ name: [UInt8]) -> Bool {
        let text = name.text
        return !ownRules.contains(text) && !StandardFields.contains(text)
            && (SecretName.isKeyField(name) || SecretName.reported(name) == .password)
    }

    private static let ownRules: Set<String> = [
        "authorization", "proxy-authorization", "cookie", "sec-websocket-protocol",
    ]
}

extension RuleText {
    static let plainHTTPAPIKey = RuleText(
        title: "API key header over cleartext HTTP",
        reason: "whoever copies the key from the path acts and spends as its owner",
        advice: "use https for this endpoint, and change the credential: it has been exposed",
        decision:
            "A request without TLS has a header that is named like a key, with a value that can be"
            + " one.",
        exceptions: "Placeholders, and keys that their provider means to be public.",
        worst: .high,
        weaknesses: [319, 522])
}
