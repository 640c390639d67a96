internal import Base

/// Which protocol of lines is spoken, by what both sides say, from the middle and from one side too.
enum LineProtocol {
    /// - Returns: `nil` if it is none, `other` for a login that several have.
    static func name(client: [UInt8], origin: [UInt8]) -> ProtocolName? {
        let said = lines(client)
        let verbs = said.map { word($0, 0) }
        func says(_ words: Set<String>) -> Bool { verbs.contains { words.contains($0) } }
        if let name = named(by: lines(origin), says) { return name }
        if says(["ehlo", "helo"]) { return .smtp }
        if says(["lhlo"]) { return .lmtp }
        if says(["authinfo"]) { return .nntp }
        if says(["nick"]), says(["user"]) { return .irc }
        if said.contains(where: { isTagged($0) }) { return .imap }
        guard says(["user"]), says(["pass"]) else { return says(["apop"]) ? .pop3 : nil }
        if says(fileVerbs) { return .ftp }
        return says(["stat", "retr", "uidl", "capa", "top", "dele"]) ? .pop3 : .other
    }

    private static func named(
        by answers: [ArraySlice<UInt8>], _ says: (Set<String>) -> Bool
    ) -> ProtocolName? {
        var codes: Set<String> = []
        for answer in answers {
            let first = word(answer, 0)
            // Whoever answers in numbers means no other words.
            switch codes.isEmpty ? first : "" {
            case "*":
                if ["ok", "preauth", "bye", "capability"].contains(word(answer, 1)) {
                    return .imap
                }
            case "+ok", "-err": return says(["user", "pass", "apop", "auth", "capa"]) ? .pop3 : nil
            case "\"implementation\"", "\"sasl\"", "\"sieve\"": return .sieve
            default: break
            }
            if codes.isEmpty, answer.first == 0x3A,
                isCode(word(answer, 1)) || word(answer, 1) == "notice"
            {
                return .irc
            }
            if isCode(String(first.prefix(3))) { codes.insert(String(first.prefix(3))) }
        }
        guard !codes.isEmpty else { return nil }
        if says(["lhlo"]) { return .lmtp }
        if says(["ehlo", "helo", "mail"]) { return .smtp }
        if says(["authinfo"]) { return .nntp }
        if says(["user"]) || says(fileVerbs) { return .ftp }
        return !codes.isDisjoint(with: ["334", "235"]) ? .smtp : nil
    }

    /// The first whole lines.
    private static func lines(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        var cursor = ByteCursor(bytes[...])
        var lines: [ArraySlice<UInt8>] = []
        while lines.count < lineLimit, let line = cursor.line() { lines.append(line) }
        return lines
    }

    private static func word(_ line: ArraySlice<UInt8>, _ index: Int) -> String {
        let words = line.prefix(wordLimit).split(separator: 0x20, maxSplits: index + 1)
        return index < words.count ? words[index].lowercasedBytes.text : ""
    }

    private static func isCode(_ word: String) -> Bool {
        word.utf8.count == 3 && word.utf8.allSatisfy(\.isASCIIDigit)
    }

    /// A tag, and a command of IMAP that logs in.
    private static func isTagged(_ line: ArraySlice<UInt8>) -> Bool {
        let words = line.split(separator: 0x20, maxSplits: 3)
        guard words.count >= 3, words[0].count <= 16 else { return false }
        let verb = word(line, 1)
        return verb == "authenticate" || verb == "login" && words.count == 4
    }

    private static let fileVerbs: Set = [
        "pasv", "epsv", "port", "eprt", "type", "cwd", "pwd", "syst", "feat", "stor", "nlst",
    ]
    private static let lineLimit = 64
    /// In bytes.
    private static let wordLimit = 128
}
