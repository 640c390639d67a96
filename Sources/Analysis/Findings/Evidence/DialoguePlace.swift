/// Where something was seen that is no HTTP.
package struct DialoguePlace: Sendable, Hashable {
    package let protocolName: ProtocolName
    /// `nil` if it was seen at several.
    package internal(set) var port: UInt16?
    /// Whether TLS was around it, from the start or since it was switched on.
    package let isSecured: Bool

    /// What stands for the scheme of a URL, such as `smtp`, or `imap+tls` inside of TLS.
    package var scheme: String { protocolName.rawValue + (isSecured ? "+tls" : "") }
}

/// The protocols besides HTTP that a finding may name; the raw values are a contract.
package enum ProtocolName: String, Sendable, CaseIterable {
    case smtp
    case lmtp
    case imap
    case pop3
    case ftp
    case nntp
    case sieve
    case irc
    case xmpp
    case ldap
    case postgresql
    case mysql
    case redis
    case memcached
    case mqtt
    case amqp
    case stomp
    case nats
    case telnet
    case rdp
    case tds
    case vnc
    case ssh
    case rtsp
    case sip
    case socks
    case smb
    case dceRPC = "dcerpc"
    case kerberos
    /// Every other.
    case other = "tcp"

    init(_ name: String) { self = ProtocolName(rawValue: name) ?? .other }

    /// Whether the origin offers TLS unasked, or in an answer that clients always ask for.
    var offersVisibly: Bool {
        switch self {
        case .smtp, .lmtp, .sieve, .xmpp: true
        default: false
        }
    }
}
