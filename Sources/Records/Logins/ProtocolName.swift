internal import Base

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
    case mongodb
    case mqtt
    case amqp
    case stomp
    case nats
    case telnet
    case rlogin
    /// What runs a command on another machine for who is believed.
    case rsh
    case rexec
    case rdp
    case tds
    case vnc
    case ssh
    case rtsp
    case sip
    case socks
    case jsonRPC = "jsonrpc"
    case smb
    case dceRPC = "dcerpc"
    case kerberos
    case dns
    case mdns
    case llmnr
    case nbns
    case netbios
    case ssdp
    case wsd
    case snmp
    case syslog
    case ntp
    case dhcp
    case stun
    /// Every other over UDP.
    case udp
    /// Every other.
    case other = "tcp"

    package init(_ name: String) { self = ProtocolName(rawValue: name) ?? .other }

    /// Whether the origin offers TLS unasked, or in an answer that clients always ask for.
    package var offersVisibly: Bool {
        switch self {
        case .smtp, .lmtp, .sieve, .xmpp: true
        default: false
        }
    }
}
