internal import Base

/// What the name of a field says of its value.
enum KeyClass: Equatable {
    case password
    /// A secret, a one-time code or a card's check number.
    case secret
    /// A short number that is often something else.
    case pin
    case none

    /// Classifies by whole words, so that `compass` and `passengers` are none.
    init(_ key: [UInt8]) {
        let words = KeyWords.split(key)
        guard !words.isEmpty, KeyWords.unrelated.isDisjoint(with: words) else {
            self = .none
            return
        }
        if words.contains(where: Self.isPassword(_:)) {
            self = .password
        } else if words.contains("pass"), KeyWords.besidePass.isDisjoint(with: words) {
            self = .password
        } else if !KeyWords.secrets.isDisjoint(with: words) {
            self = .secret
        } else {
            self = words.contains("pin") ? .pin : .none
        }
    }

    private static func isPassword(_ word: String) -> Bool {
        KeyWords.passwords.contains(word) || word.hasSuffix("passwd") || word.hasSuffix("password")
    }
}

/// The words of field names.
enum KeyWords {
    static let passwords: Set<String> = [
        "passwd", "password", "passwort", "passphrase", "passcode", "pwd", "kennwort", "mdp",
        "contrasena", "contraseña", "clave", "senha", "wachtwoord", "haslo", "hasło",
    ]
    static let secrets: Set<String> = ["secret", "otp", "totp", "cvv", "cvc"]
    static let unrelated: Set<String> = [
        "hint", "policy", "strength", "reset", "url", "expired", "has", "forgot", "less", "length",
        "min", "max", "required", "type", "changed", "label", "remember", "show", "save",
    ]
    /// `pass` has more meanings than the other words.
    static let besidePass: Set<String> = [
        "boarding", "season", "ski", "day", "first", "second", "multi", "single", "render", "count",
        "rate", "through", "by", "filter", "id", "bus", "guest", "wallet", "fail",
    ]
    static let users: Set<String> = [
        "user", "username", "login", "email", "mail", "account", "userid", "name", "phone",
    ]

    /// Splits at punctuation, at digits and where lower case turns to upper case.
    ///
    /// `userPWDHash2` is `user`, `pwd`, `hash`; bytes that are no ASCII count as letters.
    static func split(_ key: [UInt8]) -> [String] {
        var words: [String] = []
        var word: [UInt8] = []
        let key = key.prefix(128)
        for index in key.indices {
            let byte = key[index]
            let isLetter = byte.isASCIILetter || byte >= 0x80
            if !word.isEmpty, !isLetter || startsWord(at: index, in: key) {
                words.append(word.text)
                word = []
            }
            if isLetter { word.append(byte.asciiLowercased) }
        }
        if !word.isEmpty { words.append(word.text) }
        return words
    }

    private static func startsWord(at index: Int, in key: ArraySlice<UInt8>) -> Bool {
        func isUpper(_ byte: UInt8) -> Bool { byte.isASCIILetter && byte < 0x61 }
        func isLower(_ byte: UInt8) -> Bool { byte.isASCIILetter && byte >= 0x61 }
        guard index > key.startIndex, isUpper(key[index]) else { return false }
        if !isUpper(key[index - 1]) { return true }
        return index + 1 < key.endIndex && isLower(key[index + 1])
    }
}

/// Values that stand for none.
enum Placeholder {
    /// Whether a form or a client put it there for want of a value.
    static func matches(_ value: [UInt8]) -> Bool {
        let text = value.trimmed.lowercasedBytes
        guard let first = text.first, text.count <= 256 else { return true }
        if words.contains(text.text) { return true }
        if first == 0x2A || first == 0x78, text.allSatisfy({ $0 == first }) { return true }
        let isBullets = text.text.unicodeScalars.allSatisfy { $0 == "\u{2022}" || $0 == "\u{25CF}" }
        return isBullets || isTemplate(text)
    }

    private static func isTemplate(_ text: [UInt8]) -> Bool {
        let (first, last) = (text.first ?? 0, text.last ?? 0)
        if text.starts(with: [0x7B, 0x7B]), text.suffix(2).elementsEqual([0x7D, 0x7D]) {
            return true
        }
        if text.starts(with: [0x24, 0x7B]), last == 0x7D { return true }
        return first == 0x5B && last == 0x5D && text.contains(run: Array("redact".utf8))
    }

    private static let words: Set<String> = [
        "null", "undefined", "none", "nil", "nan", "%s", "%@", "true", "false", "on", "off", "yes",
        "no", "0", "1", "[object object]", "<password>", "redacted", "filtered", "[filtered]",
    ]
}
