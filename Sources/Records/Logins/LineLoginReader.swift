internal import Base

/// SMTP, LMTP, POP3, IMAP, FTP, NNTP, ManageSieve and IRC: what logs in, out of what the client says.
///
/// Contents are passed over: mail, articles and literals may say anything.
struct LineLoginReader {
    static func logins(
        _ name: ProtocolName, client: [UInt8], origin: [UInt8]
    ) -> [ClearLogin] {
        var reader = LineLoginReader(cursor: ByteCursor(client[...]), name: name)
        reader.mayRefuseContent = !origin.isEmpty && !asksForContent(origin)
        reader.readAll()
        guard reader.found.count == 1 else { return reader.found }
        reader.found[0].answer = answer(name, origin)
        return reader.found
    }

    private var cursor: ByteCursor
    private let name: ProtocolName
    private var found: [ClearLogin] = []
    private var user: ArraySlice<UInt8>?
    /// Whether what follows a command for content may be commands.
    private var mayRefuseContent = false
    /// Whether it is known that no content ends any more.
    private var hasNoDot = false
    /// The mechanism that an IRC client has named.
    private var mechanism: ArraySlice<UInt8>?

    private init(cursor: ByteCursor, name: ProtocolName) {
        self.cursor = cursor
        self.name = name
    }

    private mutating func readAll() {
        var count = 0
        while found.count < ClearLogin.countLimit, count < Self.lineLimit, let line = cursor.line()
        {
            // TLS has begun.
            if line.starts(with: [0x16, 3]) { return }
            count += 1
            take(line)
            skipContent(behind: line)
        }
    }

    private mutating func take(_ line: ArraySlice<UInt8>) {
        let words = line.split(separator: 0x20, maxSplits: 3, omittingEmptySubsequences: true)
        guard let first = words.first else { return }
        let isTagged = name == .imap
        guard !isTagged || words.count > 1 else { return }
        let verb = (isTagged ? words[1] : first).prefix(16).lowercasedBytes.text
        let rest = Array(words.dropFirst(isTagged ? 2 : 1))
        switch (name, verb) {
        case (.imap, "login"): takeAstrings(behind: verb, of: line)
        case (.imap, "authenticate"), (.sieve, "authenticate"): takeSASL("AUTHENTICATE", rest)
        case (.irc, "authenticate"): takeIRCAnswer(rest.first ?? [])
        case (.smtp, "auth"), (.lmtp, "auth"), (.pop3, "auth"): takeSASL("AUTH", rest)
        case (.nntp, "authinfo"): takeAuthInfo(rest, line)
        case (.ftp, "user"), (.pop3, "user"), (.other, "user"): user = argument(of: line)
        case (.ftp, "pass"), (.pop3, "pass"), (.other, "pass"): takePassword(argument(of: line))
        case (.pop3, "apop"): takeAPOP(rest)
        case (.irc, "pass"):
            add(ClearLogin(.irc, .pass, user: nil, secret: colon(rest.first ?? [])))
        case (.irc, "oper") where rest.count > 1:
            add(ClearLogin(.irc, .operate, user: rest[0], secret: colon(rest[1])))
        case (.irc, "privmsg"), (.irc, "nickserv"), (.irc, "ns"): takeIdentify(line)
        default: break
        }
    }

    private mutating func add(_ login: ClearLogin?) {
        if let login { found.append(login) }
    }

    /// What stands behind the first word, spaces and all.
    private func argument(of line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        line.drop { $0 != 0x20 }.dropFirst()
    }

    private func colon(_ word: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        word.first == 0x3A ? word.dropFirst() : word
    }

    // MARK: Names and passwords

    private mutating func takePassword(_ secret: ArraySlice<UInt8>) {
        defer { user = nil }
        guard var login = ClearLogin(name, .pass, user: user, secret: secret) else { return }
        login.isGuest = name == .ftp && Self.isGuest(user, secret)
        found.append(login)
    }

    /// A guest's name with what guests give for a password; another password is one.
    private static func isGuest(_ user: ArraySlice<UInt8>?, _ secret: ArraySlice<UInt8>) -> Bool {
        let names: Set = ["anonymous", "ftp", "ftpuser", "guest"]
        guard let user, names.contains(user.lowercasedBytes.text) else { return false }
        return secret.contains(0x40) || names.contains(secret.lowercasedBytes.text)
    }

    private mutating func takeAPOP(_ words: [ArraySlice<UInt8>]) {
        guard words.count == 2, words[1].count == 32,
            words[1].allSatisfy({ $0.hexDigitValue != nil })
        else { return }
        add(ClearLogin(.pop3, .apop, user: words[0], hash: words[1]))
    }

    private mutating func takeAuthInfo(_ words: [ArraySlice<UInt8>], _ line: ArraySlice<UInt8>) {
        guard let kind = words.first?.lowercasedBytes.text else { return }
        let value = argument(of: argument(of: line))
        switch kind {
        case "user": user = value
        case "pass": add(ClearLogin(.nntp, .authInfo, user: user, secret: value))
        case "sasl": takeSASL("AUTHINFO SASL", Array(words.dropFirst()))
        default: break
        }
    }

    /// `IDENTIFY [nick] password`, as it is said to services.
    private mutating func takeIdentify(_ line: ArraySlice<UInt8>) {
        let words = line.split(separator: 0x20, maxSplits: 5).map { colon($0) }
        guard
            let index = words.firstIndex(where: { $0.lowercasedBytes.text == "identify" }),
            index <= 2, let secret = words.dropFirst(index + 1).last, words.count <= index + 3
        else { return }
        if index == 2, words[1].lowercasedBytes.text != "nickserv" { return }
        let nick = words.count == index + 3 ? words[index + 1] : nil
        add(ClearLogin(.irc, .identify, user: nick, secret: secret))
    }

    // MARK: IMAP's strings

    /// Two strings: atoms, quoted ones or literals (RFC 9051 §4.3).
    private mutating func takeAstrings(behind verb: String, of line: ArraySlice<UInt8>) {
        var rest = argument(of: argument(of: line))
        guard let user = takeAstring(&rest), rest.first == 0x20 else { return }
        rest = rest.dropFirst()
        guard let secret = takeAstring(&rest), rest.isEmpty else { return }
        add(ClearLogin(.imap, .login, user: user[...], secret: secret[...]))
    }

    private mutating func takeAstring(_ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        if let literal = Self.literal(endOf: rest), rest.first == 0x7B {
            guard let bytes = cursor.bytes(literal), let line = cursor.line() else { return nil }
            rest = line
            return Array(bytes)
        }
        guard rest.first == 0x22 else {
            let atom = rest.prefix { $0 != 0x20 }
            rest = rest.dropFirst(atom.count)
            return atom.isEmpty ? nil : Array(atom)
        }
        var text: [UInt8] = []
        var index = rest.startIndex + 1
        while index < rest.endIndex, rest[index] != 0x22 {
            if rest[index] == 0x5C { index += 1 }
            guard index < rest.endIndex else { return nil }
            text.append(rest[index])
            index += 1
        }
        guard index < rest.endIndex else { return nil }
        rest = rest[(index + 1)...]
        return text
    }

    /// How long the literal is that a line announces at its end.
    private static func literal(endOf line: ArraySlice<UInt8>) -> Int? {
        guard line.last == 0x7D, let open = line.lastIndex(of: 0x7B) else { return nil }
        var digits = line[(open + 1)..<(line.endIndex - 1)]
        if digits.last == 0x2B { digits = digits.dropLast() }
        return decimal(digits).flatMap { Int(exactly: $0) }
    }

    // MARK: SASL

    private mutating func takeSASL(_ verb: String, _ words: [ArraySlice<UInt8>]) {
        guard let word = words.first.map(unquoted), let answers = SASLAnswers(mechanism: word)
        else { return }
        var said: [[UInt8]] = []
        if words.count > 1 {
            guard let first = answer(words[1]) else { return }
            said.append(first)
        }
        while said.count < answers.count {
            // What is no answer is the next command.
            let place = cursor
            guard let line = cursor.line(), let next = answer(line) else {
                cursor = place
                return
            }
            // An empty line asks for the first challenge.
            if !next.isEmpty || !said.isEmpty { said.append(next) }
            if next.isEmpty, said.isEmpty { continue }
        }
        let form = LoginForm(rawValue: "\(verb) \(word.text.uppercased())") ?? .other
        add(answers.login(name, form, said))
    }

    private func unquoted(_ word: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        word.count > 1 && word.first == 0x22 && word.last == 0x22
            ? word.dropFirst().dropLast() : word
    }

    /// An answer without its Base64; `nil` for what is none, a cancellation too.
    private mutating func answer(_ word: ArraySlice<UInt8>) -> [UInt8]? {
        if name == .sieve, word.first == 0x7B, let count = Self.literal(endOf: word) {
            guard let bytes = cursor.bytes(count), cursor.line() != nil else { return nil }
            return Base64.decode(bytes)
        }
        let word = unquoted(word)
        return word.elementsEqual([0x3D]) ? [] : Base64.decode(word)
    }

    /// A mechanism, and then what it wants, each in a command of its own.
    private mutating func takeIRCAnswer(_ word: ArraySlice<UInt8>) {
        guard let named = mechanism else {
            mechanism = word
            return
        }
        mechanism = nil
        guard let answers = SASLAnswers(mechanism: named), answers.count == 1,
            let said = Base64.decode(word)
        else { return }
        let form = LoginForm(rawValue: "AUTHENTICATE \(named.text.uppercased())") ?? .other
        add(answers.login(.irc, form, [said]))
    }

    // MARK: Contents

    private mutating func skipContent(behind line: ArraySlice<UInt8>) {
        let verb = line.prefix { $0 != 0x20 }.prefix(16).lowercasedBytes.text
        switch (name, verb) {
        case (.smtp, "data"), (.lmtp, "data"), (.nntp, "post"), (.nntp, "ihave"),
            (.nntp, "takethis"):
            skipToDot()
        case (.smtp, "bdat"), (.lmtp, "bdat"):
            let size = decimal(argument(of: line).prefix { $0 != 0x20 }).flatMap {
                Int(exactly: $0)
            }
            _ = size.flatMap { cursor.bytes($0) }
        case (.imap, _), (.sieve, _):
            if let size = Self.literal(endOf: line) { _ = cursor.bytes(size) }
        default: break
        }
    }

    /// Where it was refused, commands follow in the place of the content, up to no dot.
    private mutating func skipToDot() {
        if hasNoDot { return }
        let place = cursor
        while let line = cursor.line() {
            if line.elementsEqual([0x2E]) { return }
        }
        hasNoDot = true
        cursor = mayRefuseContent ? place : ByteCursor([])
    }

    private static func asksForContent(_ origin: [UInt8]) -> Bool {
        ["354 ", "340 ", "335 "].contains { origin.contains(run: Array("\n\($0)".utf8)) }
    }

    // MARK: The answer

    private static func answer(_ name: ProtocolName, _ origin: [UInt8]) -> ClearLogin.Answer? {
        guard let codes = codes[name] else { return nil }
        var cursor = ByteCursor(origin[...])
        var open: ArraySlice<UInt8>?
        for number in 0..<lineLimit {
            guard let line = cursor.line() else { break }
            let code = line.prefix(3)
            // Lines within a reply, and the greeting, say nothing of a login.
            if let waited = open {
                if code.elementsEqual(waited), line.dropFirst(3).first != 0x2D { open = nil }
                continue
            }
            if line.dropFirst(3).first == 0x2D {
                open = code
            } else if number > 0 {
                if code.elementsEqual(codes.accepted.utf8) { return .accepted }
                if code.elementsEqual(codes.rejected.utf8) { return .rejected }
            }
        }
        return nil
    }

    private static let codes: [ProtocolName: (accepted: String, rejected: String)] = [
        .ftp: ("230", "530"), .smtp: ("235", "535"), .lmtp: ("235", "535"), .nntp: ("281", "481"),
    ]
    /// More than any dialogue has before it has logged in.
    private static let lineLimit = 4096
}
