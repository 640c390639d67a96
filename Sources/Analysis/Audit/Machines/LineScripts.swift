internal import Base

/// A server of a protocol of lines: a command, perhaps with a word, and an answer.
protocol LineScript: UpgradeScript {
    func answer(_ words: [String]) -> UpgradeStep
}

extension LineScript {
    mutating func next(_ bytes: inout [UInt8]) -> UpgradeStep? {
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        let line = bytes[..<end].text.filter { !$0.isNewline }
        bytes.removeFirst(end + 1)
        return answer(line.split(separator: " ").map(String.init))
    }

    func say(_ lines: String...) -> UpgradeStep { .say(text(lines)) }

    func text(_ lines: [String]) -> [UInt8] {
        Array(lines.map { $0 + "\r\n" }.joined().utf8)
    }
}

/// RFC 5321, RFC 3207.
struct SMTPScript: LineScript {
    let mode: UpgradeMode
    let host: String

    var greeting: [UInt8] { text(["220 \(host) ESMTP"]) }

    func answer(_ words: [String]) -> UpgradeStep {
        switch words.first?.uppercased() {
        case "EHLO":
            mode.grants
                ? say("250-\(host)", "250-STARTTLS", "250 AUTH PLAIN LOGIN")
                : say("250-\(host)", "250 AUTH PLAIN LOGIN")
        case "HELO": say("250 \(host)")
        case "STARTTLS":
            switch mode {
            case .sound: .upgrade(text(["220 go ahead"]))
            case .injected:
                .upgrade(text(["220 go ahead", "250-\(host)", "250 AUTH PLAIN LOGIN"]))
            case .stripped, .preauthenticated: say("454 4.7.0 TLS not available")
            }
        case "AUTH": .expose("the client logged in to SMTP in cleartext")
        case "MAIL": .expose("the client sent mail in cleartext")
        case "QUIT": .leave(text(["221 closing"]))
        default: say("250 ok")
        }
    }
}

/// RFC 9051 §6.2.1.
struct IMAPScript: LineScript {
    let mode: UpgradeMode
    let host: String

    private var capability: String {
        "CAPABILITY IMAP4rev1\(mode.grants ? " STARTTLS" : "") AUTH=PLAIN"
    }

    var greeting: [UInt8] {
        let status = mode == .preauthenticated ? "PREAUTH" : "OK"
        return text(["* \(status) [\(capability)] \(host) ready"])
    }

    func answer(_ words: [String]) -> UpgradeStep {
        let tag = words.first ?? "*"
        switch words.dropFirst().first?.uppercased() {
        case "CAPABILITY": return say("* \(capability)", "\(tag) OK done")
        case "NOOP", "ID", "ENABLE": return say("\(tag) OK done")
        case "STARTTLS":
            guard mode.grants else { return say("\(tag) BAD no TLS here") }
            let forged = [
                "* CAPABILITY IMAP4rev1 AUTH=PLAIN", "\(Self.successor(of: tag)) OK done",
            ]
            return .upgrade(text(["\(tag) OK go ahead"] + (mode == .injected ? forged : [])))
        case "LOGIN", "AUTHENTICATE": return .expose("the client logged in to IMAP in cleartext")
        case "LOGOUT": return .leave(text(["* BYE closing", "\(tag) OK done"]))
        default:
            guard mode == .preauthenticated else { return say("\(tag) BAD log in first") }
            return .expose("the client used in cleartext an IMAP session that it was logged in to")
        }
    }

    /// The tag that a client counts to next, such as `A003` after `A002`.
    private static func successor(of tag: String) -> String {
        let digits = String(tag.reversed().prefix { $0.isASCII && $0.isNumber }.reversed())
        guard let number = Int(digits), number < .max else { return tag }
        let next = String(number + 1)
        let filling = String(repeating: "0", count: max(0, digits.utf8.count - next.utf8.count))
        return tag.dropLast(digits.count) + filling + next
    }
}

/// RFC 1939, RFC 2595 §4.
struct POP3Script: LineScript {
    let mode: UpgradeMode
    let host: String

    var greeting: [UInt8] { text(["+OK \(host) ready"]) }

    func answer(_ words: [String]) -> UpgradeStep {
        let sound = ["+OK", "STLS", "USER", "SASL PLAIN", "."]
        let less = sound.filter { $0 != "STLS" }
        switch words.first?.uppercased() {
        case "CAPA": return .say(text(mode.grants ? sound : less))
        case "STLS":
            guard mode.grants else { return say("-ERR no TLS here") }
            return .upgrade(text(["+OK go ahead"] + (mode == .injected ? less : [])))
        case "USER", "PASS", "APOP", "AUTH":
            return .expose("the client logged in to POP3 in cleartext")
        case "QUIT": return .leave(text(["+OK closing"]))
        default: return say("-ERR log in first")
        }
    }
}

/// RFC 959, RFC 4217 §4.
struct FTPScript: LineScript {
    let mode: UpgradeMode
    let host: String

    var greeting: [UInt8] { text(["220 \(host) ready"]) }

    func answer(_ words: [String]) -> UpgradeStep {
        switch words.first?.uppercased() {
        case "FEAT":
            mode.grants ? say("211-Features:", " AUTH TLS", "211 End") : say("211 none")
        case "AUTH":
            switch mode {
            case .sound: .upgrade(text(["234 go ahead"]))
            case .injected: .upgrade(text(["234 go ahead", "331 password, please"]))
            case .stripped, .preauthenticated: say("502 no TLS here")
            }
        case "USER": say("331 password, please")
        case "PASS": .expose("the client logged in to FTP in cleartext")
        case "QUIT": .leave(text(["221 closing"]))
        default: say("530 log in first")
        }
    }
}

/// RFC 6120 §5.
struct XMPPScript: UpgradeScript {
    let mode: UpgradeMode
    let host: String
    let greeting: [UInt8] = []

    mutating func next(_ bytes: inout [UInt8]) -> UpgradeStep? {
        guard let end = bytes.firstIndex(of: UInt8(ascii: ">")) else { return nil }
        let tag = bytes[..<end].text
        bytes.removeFirst(end + 1)
        if tag.contains("<stream:stream") { return .say(Array(features.utf8)) }
        if tag.contains("<starttls") {
            let space = "urn:ietf:params:xml:ns:xmpp-tls"
            return mode.grants
                ? .upgrade(Array("<proceed xmlns='\(space)'/>".utf8))
                : .say(Array("<failure xmlns='\(space)'/></stream:stream>".utf8))
        }
        if tag.contains("<auth") { return .expose("the client logged in to XMPP in cleartext") }
        if tag.contains("</stream") { return .leave(Array("</stream:stream>".utf8)) }
        return .say([])
    }

    private var features: String {
        let offer =
            mode.grants
            ? "<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'><required/></starttls>"
            : "<mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>"
                + "<mechanism>PLAIN</mechanism></mechanisms>"
        return "<?xml version='1.0'?><stream:stream xmlns='jabber:client' id='1' version='1.0'"
            + " xmlns:stream='http://etherx.jabber.org/streams' from='\(host)'>"
            + "<stream:features>\(offer)</stream:features>"
    }
}
