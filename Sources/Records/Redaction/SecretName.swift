internal import Base

/// Judges by a name whether its value is a secret.
///
/// It decides what is not printed by default, so in doubt it says yes.
package enum SecretName {
    /// Whether a parameter of a URL or a form holds a secret by its name.
    package static func isParameter(_ name: ArraySlice<UInt8>) -> Bool {
        let words = Words(name)
        // The session of an upload to Google, which is all that it takes to write to it.
        return isSecret(words) || words.contains(parameterWords)
            || name.elementsEqual("upload_id".utf8)
    }

    package static func isParameter(_ name: String) -> Bool { isParameter(Array(name.utf8)[...]) }

    /// Whether a header field holds a secret by its name, one that is not known as harmless.
    package static func isField(_ name: ArraySlice<UInt8>) -> Bool {
        let words = Words(name)
        return isSecret(words) && !harmlessFields.contains(words.texts.joined(separator: "-"))
    }

    package static func isField(_ name: String) -> Bool { isField(Array(name.utf8)[...]) }

    private static func isSecret(_ words: Words) -> Bool {
        words.contains(secretWords) || secretParts.contains(where: words.contains(part:))
    }

    /// A name in lower case, split at everything that is no letter or digit and where a capital
    /// follows a small letter.
    ///
    /// In bytes, and without hashing: every member of every content is judged.
    private struct Words {
        /// Without what separates the words.
        private var joined: [UInt8] = []
        private var ends: [Int] = []

        init(_ name: ArraySlice<UInt8>) {
            joined.reserveCapacity(min(name.count, lengthLimit))
            var wasSmall = false
            for byte in name.prefix(lengthLimit) {
                let isLetter = byte.isASCIILetter
                let isCapital = isLetter && byte.asciiLowercased != byte
                if !(isLetter || byte.isASCIIDigit) || isCapital && wasSmall { endWord() }
                if isLetter || byte.isASCIIDigit { joined.append(byte.asciiLowercased) }
                wasSmall = isLetter && !isCapital
            }
            endWord()
        }

        private mutating func endWord() {
            if joined.count > ends.last ?? 0 { ends.append(joined.count) }
        }

        var texts: [String] {
            zip([0] + ends, ends).map { joined[$0..<$1].text }
        }

        /// Whether one of the words is one of these.
        func contains(_ words: [[UInt8]]) -> Bool {
            var start = 0
            for end in ends {
                let found = words.contains { $0.count == end - start && isAt(start, $0) }
                if found { return true }
                start = end
            }
            return false
        }

        /// Whether the words, put together, hold this.
        func contains(part: [UInt8]) -> Bool {
            guard part.count <= joined.count else { return false }
            for start in 0...(joined.count - part.count) where isAt(start, part) { return true }
            return false
        }

        private func isAt(_ start: Int, _ text: [UInt8]) -> Bool {
            for index in text.indices where joined[start + index] != text[index] { return false }
            return true
        }
    }

    private static let secretWords = [
        "auth", "authorization", "bearer", "credential", "credentials", "jwt", "key", "otp", "pass",
        "passphrase", "passwd", "pwd", "pw", "sid", "sig", "signature", "totp",
    ].map { [UInt8]($0.utf8) }
    /// Found inside of a name without its separators, such as `accesstoken` and `PHPSESSID`.
    private static let secretParts = [
        "accesskey", "apikey", "assertion", "authkey", "cookie", "credential", "passcode", "passwd",
        "password",
        "privatekey", "secret", "sessid", "session", "signature", "token",
    ].map { [UInt8]($0.utf8) }
    /// Too common in field names to be a sign there.
    private static let parameterWords = [
        "code", "hash", "hmac", "mac", "nonce", "pin", "samlrequest", "samlresponse", "state",
        "ticket",
    ].map { [UInt8]($0.utf8) }
    private static let harmlessFields: Set<String> = [
        "cache-key", "idempotency-key", "sec-web-socket-key", "sec-websocket-key", "surrogate-key",
        "x-cache-key",
    ]
    /// No name of a parameter is longer; a longer one is judged by its start.
    private static let lengthLimit = 256
}
