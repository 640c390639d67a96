internal import Base

/// What a name says of a value that looks like a token: by where it stands, more or fewer names do.
package enum TokenClass: Sendable {
    /// Names of tokens and keys alone, wherever they stand.
    case token
    /// Names of sessions in URLs and cookies; in a content they have other meanings.
    case session
    /// Names of what signs a URL.
    case signature
}

extension SecretName {
    /// What a value is by its name without punctuation, if it looks like a token.
    ///
    /// - Parameter key: in lower case.
    package static func token(_ key: String) -> TokenClass? {
        if let known = tokens[key] { return known }
        guard key.hasSuffix("token") else { return nil }
        let stem = key.dropLast(5)
        return tokenStems.contains { stem.hasSuffix($0) } ? .session : nil
    }

    /// Whether a header field holds a key by its name.
    ///
    /// - Parameter name: in lower case.
    package static func isKeyField(_ name: [UInt8]) -> Bool {
        if keyFields.contains(name.text) { return true }
        let inOrder = NameWords(name[...])
        let words = Set(inOrder.texts)
        guard passingWords.isDisjoint(with: words), !isAboutSecret(inOrder),
            inOrder.texts.last != "id"
        else { return false }
        return keyWords.contains { $0.isSubset(of: words) }
    }

    /// Every name of a token or a key that findings know, for who must hide them all.
    package static var knownTokens: [String] {
        Array(tokens.keys) + Array(keyFields) + keyWords.map { $0.sorted().joined(separator: "-") }
    }

    private static let tokens: [String: TokenClass] = [
        "token": .token, "accesstoken": .token, "idtoken": .token, "refreshtoken": .token,
        "authtoken": .token, "sessiontoken": .token, "sessionid": .token, "apikey": .token,
        "xapikey": .token, "authorization": .token, "bearer": .token, "jwt": .token,
        "apitoken": .token, "authkey": .token, "bearertoken": .token,
        "session": .session, "sid": .session, "jsessionid": .session, "phpsessid": .session,
        "auth": .session, "sig": .signature,
    ]
    private static let keyFields: Set<String> = [
        "private-token", "job-token", "ocp-apim-subscription-key", "x-amz-security-token",
        "x-vault-token",
    ]
    private static let keyWords: [Set<String>] = [
        ["api", "key"], ["apikey"], ["auth", "token"], ["authtoken"], ["access", "token"],
        ["accesstoken"], ["secret"], ["user", "token"], ["session", "token"], ["refresh", "token"],
    ]
    /// What a token is for that opens something; most others tell of a place in a list, or of a visit.
    private static let tokenStems = [
        "activation", "confirmation", "download", "impersonation", "invitation", "invite", "login",
        "magic", "plex", "private", "reset", "sas", "security", "share", "signin", "sso",
    ]
    /// Of values that protect one request.
    private static let passingWords: Set<String> = [
        "csrf", "xsrf", "csrftoken", "xsrftoken", "idempotency", "idempotent",
    ]
}
