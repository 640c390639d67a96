internal import Base

// What the client says.
extension LineDialogue {
    mutating func takeClientLine(_ facts: inout [UpgradeFact]) -> DialogueEvent {
        if isClientInContent {
            if clientLine.bytes == [0x2E] {
                isClientInContent = false
                expect(.plain)
            }
            return .nothing
        }
        let continues = clientContinues
        clientContinues = false
        if kind == nil { nameByCommand() }
        announceClientLiteral()
        if continues {
            if kind != .imap, kind != .sieve { expect(.plain) }
            return .nothing
        }
        switch kind {
        case .smtp, .lmtp: return takeMailCommand(&facts)
        case .ftp: return takeFTPCommand(&facts)
        case .pop3: return takePOP3Command(&facts)
        case .imap: return takeIMAPCommand(&facts)
        case .nntp: return takeNNTPCommand(&facts)
        case .sieve: return takeSieveCommand(&facts)
        case .irc: return takeIRCCommand(&facts)
        case nil:
            if isMailOrFiles { expect(.plain) }
            return .nothing
        }
    }

    /// A literal that waits for leave begins when the origin gives it.
    private mutating func announceClientLiteral() {
        pendingLiteral = 0
        guard kind == .imap || kind == .sieve, let literal = clientLine.literal else { return }
        if literal.waits, kind == .imap {
            pendingLiteral = literal.length
        } else {
            clientSkip = literal.length
            clientContinues = true
        }
    }

    private mutating func nameByCommand() {
        let verb = clientLine.word(0)
        func isVerb(_ list: [StaticString]) -> Bool {
            list.contains { verb.equalsIgnoringCase($0) }
        }
        // A client that does not wait for the greeting is known by what only mail has.
        if isMailOrFiles || clientSpokeFirst == true {
            if isVerb(["ehlo", "helo"]) { kind = .smtp }
            if isVerb(["lhlo"]) { kind = .lmtp }
        }
        if isMailOrFiles {
            if isVerb(["starttls", "mail", "rcpt"]) { kind = .smtp }
            let isAuth =
                verb.equalsIgnoringCase("auth") && FTPSecurity(clientLine.word(1)) != nil
            let files: [StaticString] = [
                "user", "pass", "acct", "feat", "syst", "opts", "pasv", "epsv", "port", "eprt",
                "pbsz", "prot", "type", "cwd", "pwd", "list", "clnt", "host", "adat", "lang",
            ]
            if isAuth || isVerb(files) { kind = .ftp }
        } else if clientSpokeFirst == true {
            nameByFirstCommand(isVerb)
        }
    }

    private mutating func nameByFirstCommand(_ isVerb: ([StaticString]) -> Bool) {
        if isVerb(["nick"]) || clientLine.starts(with: "cap ls") { kind = .irc }
        let last = clientLine.words.last ?? []
        if last.equalsIgnoringCase("http/1.1") || last.equalsIgnoringCase("http/1.0") {
            otherName = "http"
        }
        if last.equalsIgnoringCase("rtsp/1.0") { otherName = "rtsp" }
        if last.equalsIgnoringCase("sip/2.0") { otherName = "sip" }
        if clientLine.bytes == Array("CONNECT".utf8) || clientLine.bytes == Array("STOMP".utf8) {
            otherName = "stomp"
        }
        if clientLine.bytes.starts(with: Array("SSH-".utf8)) { otherName = "ssh" }
        if isVerb(["set", "add", "replace", "append", "prepend", "cas"]), isStorage {
            otherName = "memcached"
        }
        if clientLine.bytes.first == 0x7B, clientLine.contains("\"method\""),
            clientLine.contains("\"params\"") || clientLine.contains("\"jsonrpc\"")
        {
            otherName = "jsonrpc"
        }
    }

    /// A key, flags, a time and a length, as memcached has them.
    private var isStorage: Bool {
        let words = clientLine.words
        return (5...7).contains(words.count)
            && words[2...4].allSatisfy { decimal($0) != nil }
    }

    private mutating func takeMailCommand(_ facts: inout [UpgradeFact]) -> DialogueEvent {
        let verb = clientLine.word(0)
        if verb.equalsIgnoringCase("starttls") { return ask("STARTTLS", &facts) }
        if verb.equalsIgnoringCase("auth") {
            note(login: "AUTH", mechanism: clientLine.word(1), &facts)
        }
        if verb.equalsIgnoringCase("bdat") {
            clientSkip = number(clientLine.word(1))
        }
        let isHello = verb.equalsIgnoringCase("ehlo") || verb.equalsIgnoringCase("lhlo")
        if isHello {
            expect(.capabilities)
        } else {
            expect(verb.equalsIgnoringCase("data") ? .content : .plain)
        }
        return .nothing
    }

    private mutating func takeFTPCommand(_ facts: inout [UpgradeFact]) -> DialogueEvent {
        let verb = clientLine.word(0)
        let argument = clientLine.word(1)
        if verb.equalsIgnoringCase("auth"), let security = FTPSecurity(argument) {
            return ask(security.command, &facts)
        }
        if verb.equalsIgnoringCase("user") {
            let guests: [StaticString] = ["anonymous", "ftp", "ftpuser", "guest"]
            isGuest = guests.contains { argument.equalsIgnoringCase($0) }
        }
        if verb.equalsIgnoringCase("pass") {
            note(login: "PASS", exposesSecret: !isGuest, &facts)
        }
        expect(verb.equalsIgnoringCase("feat") ? .capabilities : .plain)
        return .nothing
    }

    private mutating func takePOP3Command(_ facts: inout [UpgradeFact]) -> DialogueEvent {
        let verb = clientLine.word(0)
        let hasArgument = !clientLine.word(1).isEmpty
        func isVerb(_ text: StaticString) -> Bool { verb.equalsIgnoringCase(text) }
        if isVerb("stls") { return ask("STLS", &facts) }
        if isVerb("pass") { note(login: "PASS", exposesSecret: true, &facts) }
        if isVerb("apop") { note(login: "APOP", exposesSecret: false, &facts) }
        if isVerb("auth"), hasArgument {
            note(login: "AUTH", mechanism: clientLine.word(1), &facts)
        }
        if isVerb("capa") {
            expect(.capabilities)
        } else if isVerb("retr") || isVerb("top") {
            expect(.listing)
        } else if isVerb("list") || isVerb("uidl") || isVerb("auth") {
            expect(hasArgument ? .plain : .listing)
        } else {
            expect(.plain)
        }
        return .nothing
    }

    private mutating func takeIMAPCommand(_ facts: inout [UpgradeFact]) -> DialogueEvent {
        let words = clientLine.words
        guard words.count >= 2, words[0].count <= 64 else { return .nothing }
        let verb = words[1]
        if verb.equalsIgnoringCase("starttls") {
            awaitedTag = Array(words[0])
            return ask("STARTTLS", &facts)
        }
        if verb.equalsIgnoringCase("login") { note(login: "LOGIN", exposesSecret: true, &facts) }
        if verb.equalsIgnoringCase("authenticate") {
            note(login: "AUTHENTICATE", mechanism: clientLine.word(2), &facts)
        }
        return .nothing
    }

    private mutating func takeNNTPCommand(_ facts: inout [UpgradeFact]) -> DialogueEvent {
        let verb = clientLine.word(0)
        func isVerb(_ text: StaticString) -> Bool { verb.equalsIgnoringCase(text) }
        if isVerb("starttls") { return ask("STARTTLS", &facts) }
        if isVerb("authinfo") {
            let kind = clientLine.word(1)
            if kind.equalsIgnoringCase("pass") {
                note(login: "AUTHINFO PASS", exposesSecret: true, &facts)
            }
            if kind.equalsIgnoringCase("sasl") {
                note(login: "AUTHINFO SASL", mechanism: clientLine.word(2), &facts)
            }
        }
        if isVerb("takethis") {
            isClientInContent = true
        } else if isVerb("post") || isVerb("ihave") {
            expect(.content)
        } else if isVerb("capabilities") {
            expect(.capabilities)
        } else {
            expect(isVerb("listgroup") ? .listing : .plain)
        }
        return .nothing
    }

    private mutating func takeSieveCommand(_ facts: inout [UpgradeFact]) -> DialogueEvent {
        let verb = clientLine.word(0)
        // The answer to a challenge is a string.
        guard let first = verb.first, first.isASCIILetter else { return .nothing }
        if verb.equalsIgnoringCase("starttls") { return ask("STARTTLS", &facts) }
        if verb.equalsIgnoringCase("authenticate") {
            note(login: "AUTHENTICATE", mechanism: clientLine.word(1), &facts)
        }
        expect(.plain)
        return .nothing
    }

    private mutating func takeIRCCommand(_ facts: inout [UpgradeFact]) -> DialogueEvent {
        let verb = clientLine.word(0)
        if verb.equalsIgnoringCase("starttls") { return ask("STARTTLS", &facts) }
        if verb.equalsIgnoringCase("pass") { note(login: "PASS", exposesSecret: true, &facts) }
        if verb.equalsIgnoringCase("oper") { note(login: "OPER", exposesSecret: true, &facts) }
        if verb.equalsIgnoringCase("authenticate"),
            SASLMechanism(clientLine.word(1)) != nil
        {
            note(login: "AUTHENTICATE", mechanism: clientLine.word(1), &facts)
        }
        return .nothing
    }

    /// A decimal number; 0 for anything else, clamped to 1 TiB.
    private func number(_ word: ArraySlice<UInt8>) -> Int {
        guard word.allSatisfy(\.isASCIIDigit) else { return 0 }
        return word.reduce(0) { min($0 * 10 + Int($1 &- 0x30), 1 << 40) }
    }
}

/// The arguments of FTP's AUTH that mean TLS (RFC 4217 §4, and older drafts).
struct FTPSecurity {
    let command: String

    init?(_ argument: ArraySlice<UInt8>) {
        let known: [StaticString] = ["tls", "ssl", "tls-c", "tls-p"]
        guard let match = known.first(where: { argument.equalsIgnoringCase($0) }) else {
            return nil
        }
        command = "AUTH \(match.description.uppercased())"
    }
}
