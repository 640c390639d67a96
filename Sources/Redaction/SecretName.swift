internal import Base

/// Judges by a name whether its value is a secret.
///
/// It decides what is not printed by default, so in doubt it says yes.
enum SecretName {
    /// Whether a parameter of a URL or a form holds a secret by its name.
    static func isParameter(_ name: some Collection<UInt8>) -> Bool {
        let words = words(of: name)
        return isSecret(words) || words.contains { parameterWords.contains($0) }
    }

    /// Whether a header field holds a secret by its name, one that is not known as harmless.
    static func isField(_ name: some Collection<UInt8>) -> Bool {
        let words = words(of: name)
        return isSecret(words) && !harmlessFields.contains(words.joined(separator: "-"))
    }

    private static func isSecret(_ words: [String]) -> Bool {
        let joined = words.joined()
        return words.contains { secretWords.contains($0) }
            || secretParts.contains { joined.contains($0) }
    }

    /// Splits at everything that is no letter or digit and where a capital follows a small letter.
    private static func words(of name: some Collection<UInt8>) -> [String] {
        var words: [String] = []
        var word: [UInt8] = []
        var wasSmall = false
        for byte in name.prefix(lengthLimit) {
            let isLetter = byte.isASCIILetter
            let isCapital = isLetter && byte.asciiLowercased != byte
            if !(isLetter || byte.isASCIIDigit) || isCapital && wasSmall {
                if !word.isEmpty { words.append(word.text) }
                word = []
            }
            if isLetter || byte.isASCIIDigit { word.append(byte.asciiLowercased) }
            wasSmall = isLetter && !isCapital
        }
        if !word.isEmpty { words.append(word.text) }
        return words
    }

    private static let secretWords: Set<String> = [
        "auth", "authorization", "bearer", "credential", "credentials", "jwt", "key", "otp", "pass",
        "passphrase", "passwd", "pwd", "pw", "sid", "sig", "signature", "totp",
    ]
    /// Found inside of a name without its separators, such as `accesstoken` and `PHPSESSID`.
    private static let secretParts = [
        "apikey", "assertion", "authkey", "cookie", "credential", "passcode", "passwd", "password",
        "secret", "sessid", "session", "signature", "token",
    ]
    /// Too common in field names to be a sign there.
    private static let parameterWords: Set<String> = [
        "code", "hash", "hmac", "mac", "nonce", "pin", "samlrequest", "samlresponse", "state",
        "ticket",
    ]
    private static let harmlessFields: Set<String> = [
        "cache-key", "idempotency-key", "sec-web-socket-key", "sec-websocket-key", "surrogate-key",
        "x-cache-key",
    ]
    /// No name of a parameter is longer; a longer one is judged by its start.
    private static let lengthLimit = 256
}
