internal import Base
internal import Logins

/// Whether a client has spoken the protocol that its connection is named for.
///
/// The origin's first words and a client's first bytes give a name, which leads the relay. They
/// must not decide that nobody looks into what the client says behind them.
enum SpokenProtocol {
    /// - Parameter client: the start of what the client said; nothing says nothing else.
    static func isSpoken(_ name: String, by client: [UInt8]) -> Bool {
        guard !client.isEmpty else { return true }
        switch name {
        case "", "unknown": return false
        case "tls": return client.count >= 3 && isTLS(client)
        default: break
        }
        guard let known = ProtocolName(rawValue: name) else { return true }
        if let verbs = verbs[known] {
            return hasLine(client) { words in words.first.map(verbs.contains) == true }
        }
        switch known {
        case .imap:
            return hasLine(client) {
                $0.count > 1 && $0[0].count <= 64 && imapVerbs.contains($0[1])
            }
        case .telnet: return hasNegotiated(client)
        case .ssh: return isSSH(client)
        case .vnc: return client.starts(with: "RFB 0".utf8)
        case .xmpp: return Array(client.prefix(windowLimit)).contains(run: streamMark)
        case .redis: return hasLine(client) { $0.count == 1 && $0[0].hasPrefix("$") }
        case .amqp: return client.count > 4 && client[4] <= 3
        default: return isPacket(client, of: known)
        }
    }

    /// The first packets of protocols that have packets.
    private static func isPacket(_ client: [UInt8], of name: ProtocolName) -> Bool {
        switch name {
        // TPKT around a connection request (RFC 1006 §6, X.224 §13.3).
        case .rdp: client.count > 5 && client[2] <= 2 && client[5] == 0xE0
        // PRELOGIN ([MS-TDS] §2.2.6.5): window 0, and the version is its first option.
        case .tds: client.count > 8 && client[2] <= 16 && client[7] == 0 && client[8] == 0
        // The answer to the greeting has the number 1.
        case .mysql: client.count > 4 && client[2] == 0 && client[3] == 1
        default: true
        }
    }

    /// Whether one of the first lines passes, given its first words in lower case.
    private static func hasLine(_ client: [UInt8], _ passes: ([String]) -> Bool) -> Bool {
        client.prefix(windowLimit).split(separator: 0x0A).prefix(lineLimit).contains { line in
            let words = line.split { $0 == 0x20 || $0 == 0x0D }.prefix(2)
            return passes(words.map { $0.prefix(80).lowercasedBytes.text })
        }
    }

    /// A record of TLS.
    static func isTLS(_ stream: [UInt8]) -> Bool {
        (0x14...0x17).contains(stream[0]) && stream[1] == 3 && stream[2] <= 4
    }

    /// The version, and behind its line nothing or SSH_MSG_KEXINIT (RFC 4253 §4.2, §7.1).
    static func isSSH(_ client: [UInt8]) -> Bool {
        guard client.starts(with: "SSH-".utf8) else { return false }
        guard let end = client.prefix(255).firstIndex(of: 0x0A) else { return client.count < 255 }
        let packet = client[(end + 1)...].prefix(6)
        return packet.count < 6 || packet.first == 0 && packet.last == 20
    }

    /// IAC with an option or a subnegotiation (RFC 854).
    private static func hasNegotiated(_ client: [UInt8]) -> Bool {
        let window = client.prefix(windowLimit)
        return zip(window, window.dropFirst()).contains { first, second in
            first == 0xFF && (0xFA...0xFE).contains(second)
        }
    }

    /// In bytes.
    private static let windowLimit = 4096
    private static let lineLimit = 8
    private static let streamMark = Array("stream:stream".utf8)
    private static let mailVerbs: Set<String> = [
        "ehlo", "helo", "lhlo", "mail", "rcpt", "starttls", "auth", "noop", "quit", "rset", "help",
    ]
    private static let imapVerbs: Set<String> = [
        "capability", "noop", "logout", "starttls", "authenticate", "login", "id", "select",
        "examine", "enable", "list", "status", "namespace",
    ]
    private static let verbs: [ProtocolName: Set<String>] = [
        .smtp: mailVerbs, .lmtp: mailVerbs,
        .ftp: [
            "user", "pass", "acct", "feat", "syst", "opts", "auth", "pasv", "epsv", "quit", "host",
            "clnt", "lang", "noop", "help", "pbsz", "adat",
        ],
        .pop3: [
            "user", "pass", "apop", "auth", "capa", "stls", "quit", "stat", "list", "noop", "utf8",
            "lang",
        ],
        .nntp: [
            "capabilities", "mode", "authinfo", "starttls", "group", "list", "article", "head",
            "body", "stat", "post", "ihave", "date", "quit", "help", "newgroups", "over", "xover",
            "check", "takethis",
        ],
        .sieve: [
            "authenticate", "starttls", "logout", "capability", "havespace", "putscript",
            "listscripts", "noop",
        ],
        .irc: [
            "nick", "user", "pass", "cap", "join", "starttls", "server", "oper", "authenticate",
            "quit", "service", "webirc", "ping", "pong",
        ],
        .nats: ["connect", "ping", "pong", "pub", "hpub", "sub", "unsub"],
    ]
}
