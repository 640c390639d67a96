internal import Base
internal import Logins
internal import Traffic

/// UNSAFE-PROTO: a protocol without encryption, in which no login was seen.
enum UnsafeProtocolDetector {
    /// - Parameter hasSpoken: whether the client said something that was recorded.
    static func examine(_ connection: ConnectionRecord, hasSpoken: Bool) -> [RuleMatch] {
        guard connection.clientTLS == nil, connection.upgrade == nil, hasSpoken,
            !connection.has(.otherEncryption),
            let name = ProtocolName(rawValue: connection.protocolName), judged.contains(name)
        else { return [] }
        var result = RuleMatch(.unsafeProtocol, .low, .certain)
        result.protocolName = name
        return [result]
    }

    /// Those whose content anybody on the path reads and changes. HTTP has a rule of its own, and
    /// the protocols of networks themselves are no program's choice.
    private static let judged: Set<ProtocolName> = [
        .smtp, .lmtp, .imap, .pop3, .ftp, .nntp, .sieve, .irc, .xmpp, .ldap, .postgresql, .mysql,
        .redis, .memcached, .mongodb, .mqtt, .amqp, .stomp, .nats, .telnet, .rlogin, .rsh, .rexec,
        .tds, .vnc, .rtsp, .sip, .jsonRPC, .snmp, .syslog,
    ]
}

extension RuleText {
    static let unsafeProtocol = RuleText(
        title: "Protocol without encryption",
        reason: "anyone on the path reads and changes what is said, although no login was seen",
        advice: "use the protocol inside of TLS, or one that encrypts",
        decision:
            "What was said without TLS is of a known protocol without encryption of its own, and"
            + " none of the rules about logins and the switch to TLS has said so already.",
        exceptions:
            "HTTP, which is CLEAR-HTTP. Messages may be encrypted by themselves (OpenPGP, OTR),"
            + " which is not looked at.",
        worst: .low,
        weaknesses: [319])
}
