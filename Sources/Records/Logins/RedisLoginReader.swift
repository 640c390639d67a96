internal import Base

/// Redis: AUTH, HELLO with AUTH, and the commands that carry passwords as arguments.
enum RedisLoginReader {
    /// Arrays of bulk strings, as every client library sends them.
    static func logins(client: [UInt8], origin: [UInt8]) -> [ClearLogin] {
        var cursor = ByteCursor(client[...])
        var found: [ClearLogin] = []
        var isFirst = true
        while found.count < ClearLogin.countLimit, let words = command(&cursor) {
            if var login = login(words) {
                if isFirst { login.answer = answer(origin) }
                found.append(login)
            }
            isFirst = false
        }
        return found
    }

    /// A line that a person or a script typed; told from other protocols by the answer.
    static func inlineLogins(client: [UInt8], origin: [UInt8]) -> [ClearLogin] {
        let answers = ["+OK\r\n", "-WRONGPASS", "-NOAUTH"]
        guard answers.contains(where: { origin.starts(with: $0.utf8) }) else { return [] }
        var cursor = ByteCursor(client[...])
        guard let line = cursor.line() else { return [] }
        let words = line.split(separator: 0x20, maxSplits: 3)
        // A mechanism is named to POP3, which answers in the same words.
        guard words.count < 4, words.count > 1, SASLAnswers(mechanism: words[1]) == nil,
            var login = login(words)
        else { return [] }
        login.answer = answer(origin)
        return [login]
    }

    private static func command(_ cursor: inout ByteCursor) -> [ArraySlice<UInt8>]? {
        guard let count = count(0x2A, &cursor) else { return nil }
        var words: [ArraySlice<UInt8>] = []
        var left = count
        while left > 0 {
            guard let size = self.count(0x24, &cursor), let word = cursor.bytes(size),
                cursor.bytes(2)?.elementsEqual([0x0D, 0x0A]) == true
            else { return nil }
            if words.count < wordLimit { words.append(word) }
            left -= 1
        }
        return words
    }

    /// A line of one mark and a number.
    private static func count(_ mark: UInt8, _ cursor: inout ByteCursor) -> Int? {
        guard let line = cursor.line(), line.first == mark, (2...10).contains(line.count),
            line.dropFirst().allSatisfy(\.isASCIIDigit)
        else { return nil }
        return line.dropFirst().reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    private static func login(_ words: [ArraySlice<UInt8>]) -> ClearLogin? {
        guard let verb = words.first?.prefix(16).lowercasedBytes.text else { return nil }
        switch verb {
        case "auth" where words.count == 2:
            return ClearLogin(.redis, .auth, user: nil, secret: words[1])
        case "auth" where words.count == 3:
            return ClearLogin(.redis, .auth, user: words[1], secret: words[2])
        case "hello":
            return option("auth", 2, of: words, .hello)
        case "migrate":
            return option("auth2", 2, of: words, .migrate) ?? option("auth", 1, of: words, .migrate)
        case "config" where words.count >= 4 && isWord(words[1], "set"):
            return option("requirepass", 1, of: words, .configSet)
                ?? option("masterauth", 1, of: words, .configSet)
        case "acl" where words.count >= 4 && isWord(words[1], "setuser"):
            let secret = words.dropFirst(3).first { $0.first == 0x3E }
            return secret.flatMap {
                ClearLogin(.redis, .setUser, user: words[2], secret: $0.dropFirst())
            }
        default: return nil
        }
    }

    /// The name, where there are two arguments, and the password behind an option's word.
    private static func option(
        _ name: String, _ arguments: Int, of words: [ArraySlice<UInt8>], _ form: LoginForm
    ) -> ClearLogin? {
        guard let index = words.dropFirst().firstIndex(where: { isWord($0, name) }),
            index + arguments < words.count
        else { return nil }
        let user = arguments == 2 ? words[index + 1] : nil
        return ClearLogin(.redis, form, user: user, secret: words[index + arguments])
    }

    private static func isWord(_ word: ArraySlice<UInt8>, _ text: String) -> Bool {
        word.count == text.utf8.count && word.lowercasedBytes.text == text
    }

    private static func answer(_ origin: [UInt8]) -> ClearLogin.Answer? {
        switch origin.first {
        case 0x2B, 0x25, 0x2A: .accepted
        case 0x2D: .rejected
        default: nil
        }
    }

    /// How many words of a command are kept; options stand at its start.
    private static let wordLimit = 64
}
