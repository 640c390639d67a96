internal import Base
internal import Contents
internal import Redaction

/// Takes the secrets out of a command line, as far as they look like some.
///
/// It decides what is recorded, so in doubt it takes a word out.
package enum CommandLineRedaction {
    package static func redact(_ words: some Collection<String>) -> [String] {
        var result: [String] = []
        var nextIsSecret = false
        // Its -w, -p and -a are no passwords.
        let isCurl = words.first.map { $0 == "curl" || $0.hasSuffix("/curl") } ?? false
        for word in words {
            let isHarmless = isCurl && harmlessOptions.contains(word)
            let takesNext = !isHarmless && isSecretOption(word[...])
            // An option that is followed by another has no value.
            if nextIsSecret, !(word.hasPrefix("--") && word.utf8.count > 2) {
                result.append(mark)
            } else {
                result.append(redact(word: word))
            }
            nextIsSecret = takesNext
        }
        return result
    }

    /// A content may be a word (`-d '{"password":…}'`), and a URL may have a token in its path; they
    /// are looked through as in messages.
    private static func redact(word: String) -> String {
        let isContent = word.first == "{" || word.first == "["
        if !isContent, isScript(word) {
            let words = word.split(separator: " ", omittingEmptySubsequences: false)
            return redact(words.map(String.init)).joined(separator: " ")
        }
        let known = redact(knownForm: word)
        if known.contains("://"), !isContent { return URLRedaction.redact(known) }
        return MessageRedaction.redact(content: [UInt8](known.utf8), isWhole: true).text
    }

    /// Whether a word is made of words, as what shells are given: no option, no header, and no
    /// variable, whose spaces are the value's own.
    private static func isScript(_ word: String) -> Bool {
        guard word.contains(" "), !word.hasPrefix("-"), redact(header: word) == nil else {
            return false
        }
        return word.prefix { $0 != "=" }.contains(" ")
    }

    private static func redact(knownForm word: String) -> String {
        if let header = redact(header: word) { return header }
        if word.hasPrefix("-"), !word.hasPrefix("--"), let letter = word.dropFirst().first {
            let rest = word.dropFirst(2)
            // curl's user and password, mysql's password, without a space before them.
            let isUser = (letter == "u" || letter == "U") && rest.contains(":")
            let isPassword =
                letter == "p" && !rest.allSatisfy { $0.isNumber || $0 == ":" || $0 == "." }
            if isUser || isPassword { return "-\(letter)\(mark)" }
        }
        if let equals = word.firstIndex(of: "="), !word[..<equals].contains("/") {
            let value = word[word.index(after: equals)...]
            let masked =
                SecretName.isParameter(String(word[..<equals])) && !value.isEmpty
                ? mark : text(value)
            return "\(word[...equals])\(masked)"
        }
        return text(word[...])
    }

    /// A word that may be a URL, a token or a pair of user and password.
    private static func text(_ word: Substring) -> String {
        if isToken(word) { return mark }
        return redactedURL(word)
    }

    /// Masks userinfo, and parameters whose names are those of secrets.
    private static func redactedURL(_ word: Substring) -> String {
        guard let scheme = word.firstRange(of: "://") else { return redactedParameters(word) }
        let rest = word[scheme.upperBound...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let at = authority.lastIndex(of: "@") else { return redactedParameters(word) }
        return "\(word[..<scheme.upperBound])\(mark)\(redactedParameters(word[at...]))"
    }

    private static func redactedParameters(_ text: Substring) -> String {
        var result = ""
        for piece in text.split(
            omittingEmptySubsequences: false, whereSeparator: { separators.contains($0) })
        {
            if piece.startIndex > text.startIndex {
                result.append(text[text.index(before: piece.startIndex)])
            }
            if let equals = piece.firstIndex(of: "="),
                SecretName.isParameter(String(piece[..<equals]))
            {
                result += "\(piece[...equals])\(mark)"
            } else {
                result += piece
            }
        }
        return result
    }

    /// `Authorization: Bearer …` and its like, as one word; `nil` for anything else.
    private static func redact(header word: String) -> String? {
        guard let colon = word.firstIndex(of: ":"), SecretName.isParameter(String(word[..<colon])),
            word[..<colon].allSatisfy({ $0.isLetter || $0 == "-" || $0 == "_" || $0.isNumber })
        else {
            let lower = word.lowercased()
            return schemes.contains { lower.hasPrefix($0) }
                ? "\(word.prefix { $0 != " " }) \(mark)" : nil
        }
        return "\(word[...colon]) \(mark)"
    }

    private static func isSecretOption(_ word: Substring) -> Bool {
        guard word.hasPrefix("-"), !word.contains("=") else { return false }
        return word.hasPrefix("--")
            ? SecretName.isParameter(String(word)) || longOptions.contains(String(word))
            : shortOptions.contains(String(word))
    }

    /// A JSON Web Token, or a key of a form that is published.
    private static func isToken(_ word: Substring) -> Bool {
        if word.hasPrefix("eyJ"), word.contains(".") { return true }
        return word.utf8.count >= 16
            && (word.hasPrefix("sk-")
                || PublishedPrefix.allCases.contains { word.hasPrefix($0.rawValue) })
    }

    private static let mark = "***"
    private static let separators: Set<Character> = ["?", "&", ";", "#"]
    private static let schemes = ["bearer ", "basic ", "token ", "digest ", "negotiate "]
    private static let longOptions: Set<String> = ["--user", "--proxy-user", "--oauth2-bearer"]
    private static let harmlessOptions: Set<String> = ["-w", "-p", "-a"]
    private static let shortOptions: Set<String> = ["-p", "-u", "-U", "-w", "-a"]
}
