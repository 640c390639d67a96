internal import Base

/// What a name says that its value is.
package enum SecretClass: Sendable {
    case password
    /// A secret, a one-time code or a card's check number.
    case secret
    /// A short number that is often something else.
    case pin
    /// A token, a key, a session or a signature.
    case session
}

/// Judges by a name whether its value is a secret, for what hides values and for what reports them.
///
/// Hiding decides what is not printed by default, so in doubt it says yes. Every name that is
/// reported is hidden, wherever it stands.
package enum SecretName {
    /// Whether a parameter of a URL or a form is hidden.
    package static func isParameter(_ name: ArraySlice<UInt8>) -> Bool {
        holds(name) { hidden($0) != nil || $0.contains(parameterWords) }
            // The session of an upload to Google, which is all that it takes to write to it.
            || name.elementsEqual("upload_id".utf8)
    }

    package static func isParameter(_ name: String) -> Bool { isParameter(Array(name.utf8)[...]) }

    /// Whether a header field or an element is hidden: its name is not one known as harmless.
    package static func isField(_ name: ArraySlice<UInt8>) -> Bool {
        holds(name) { hidden($0) != nil }
            && !harmlessFields.contains(NameWords(name).texts.joined(separator: "-"))
    }

    /// Judges the words of a name, also where letters of another alphabet stand beside them.
    private static func holds(_ name: ArraySlice<UInt8>, _ judge: (NameWords) -> Bool) -> Bool {
        if judge(NameWords(name)) { return true }
        guard name.contains(where: { $0 >= 0x80 }) else { return false }
        return judge(NameWords(name, onlyASCII: true))
    }

    package static func isField(_ name: String) -> Bool { isField(Array(name.utf8)[...]) }

    /// What a finding may say of a value by its name, `nil` for nothing.
    ///
    /// Judges by whole words, so that `compass` and `passengers` are none, and leaves out names that
    /// say something about a password, such as `password_hint`.
    package static func reported(_ name: [UInt8]) -> SecretClass? {
        let words = NameWords(name[...])
        guard let found = reported(words), !isAboutSecret(words) else { return nil }
        // Which of the passwords in a store; a secret's, as `secret_id`, is the secret itself.
        return found == .password && words.texts.last == "id" ? nil : found
    }

    /// Whether a name says something about a secret, and what it names is none.
    static func isAboutSecret(_ words: NameWords) -> Bool {
        words.contains(unrelatedWords) || words.texts.last.map(aboutWords.contains) ?? false
    }

    /// Whether a value is a password by its name if a user's name stands beside it.
    package static func isPasswordBesideUser(_ name: [UInt8]) -> Bool {
        let words = NameWords(name[...])
        return words.contains(wordsBesideUser) && !isAboutSecret(words)
    }

    private static func reported(_ words: NameWords) -> SecretClass? {
        if words.contains(passwordWords) || words.contains(suffixIn: passwordParts)
            || words.contains(partIn: passwordPhrases)
        {
            return .password
        }
        if words.contains(passWords), !words.contains(wordsBesidePass) { return .password }
        if words.contains(secretWords) { return .secret }
        return words.contains(pinWords) ? .pin : nil
    }

    private static func hidden(_ words: NameWords) -> SecretClass? {
        if words.contains(passwordWords) || words.contains(passWords)
            || words.contains(wordsBesideUser) || words.contains(partIn: passwordParts)
        {
            return .password
        }
        if words.contains(secretWords) { return .secret }
        if words.contains(sessionWords) || words.contains(partIn: sessionParts) { return .session }
        return words.contains(pinWords) ? .pin : nil
    }

    private static let passwordWords = WordList([
        "adgangskode", "clave", "contrasena", "contraseña", "contraseÑa", "haslo", "hasło", "hasŁo",
        "jelszo", "jelszó", "jelszÓ", "losenord", "lozinka", "lösenord", "lÖsenord", "mdp",
        "passord", "pwd", "salasana", "senha", "sifre",
    ])
    /// Passwords where a user is named beside them, and something else elsewhere: a width, a word.
    private static let wordsBesideUser = WordList(["heslo", "parola", "pw"])
    /// Found inside of a name without its separators by what hides, at the end of a word by what
    /// reports.
    private static let passwordParts = WordList([
        "kennwort", "motdepasse", "passcode", "passphrase", "passwd", "password", "passwort",
        "wachtwoord",
    ])
    /// Of several words, which may be written apart.
    private static let passwordPhrases = WordList(["motdepasse"])
    private static let passWords = WordList(["pass"])
    private static let secretWords = WordList(["cvc", "cvv", "otp", "secret", "totp"])
    private static let pinWords = WordList(["pin"])
    /// Hidden only: what reports tokens asks how they look as well.
    private static let sessionWords = WordList([
        "auth", "authorization", "bearer", "credential", "credentials", "jwt", "key", "sid",
        "sig", "signature",
    ])
    private static let sessionParts = WordList([
        "accesskey", "apikey", "assertion", "authkey", "cookie", "credential", "privatekey",
        "secret", "sessid", "session", "signature", "token",
    ])
    /// Hidden in parameters; too common elsewhere to be a sign there.
    private static let parameterWords = WordList([
        "code", "hash", "hmac", "mac", "nonce", "samlrequest", "samlresponse", "state", "ticket",
    ])
    private static let unrelatedWords = WordList([
        "hint", "policy", "strength", "reset", "url", "expired", "has", "forgot", "less", "length",
        "min", "max", "required", "type", "changed", "label", "remember", "show", "save", "invalid",
    ])
    /// The last word of names that tell of a secret's time, state, kind or looks.
    private static let aboutWords: Set<String> = [
        "after", "age", "algorithm", "arn", "at", "attempts", "authentication", "before", "channel",
        "count", "created", "date", "days", "disabled", "enabled", "error", "errors", "expires",
        "expiry", "format", "help", "history", "in", "manager", "message", "method", "ms", "name",
        "page", "pattern", "placeholder", "protected", "question", "ref", "result", "rotation",
        "rule", "rules", "salt", "santa", "scheme", "score", "set", "source", "state", "status",
        "time", "title", "tries", "updated", "valid", "version",
    ]
    /// `pass` has more meanings than the other words.
    private static let wordsBesidePass = WordList([
        "boarding", "season", "ski", "day", "first", "second", "multi", "single", "render", "count",
        "rate", "through", "by", "filter", "id", "bus", "guest", "wallet", "fail",
    ])
    private static let harmlessFields: Set<String> = [
        "cache-key", "idempotency-key", "sec-web-socket-key", "sec-websocket-key", "surrogate-key",
        "x-cache-key",
    ]
}
