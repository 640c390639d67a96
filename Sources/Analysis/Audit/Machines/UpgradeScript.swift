/// A protocol that begins in cleartext, and goes over to TLS when the client asks for it.
package enum UpgradeProtocol: String, Sendable, CaseIterable {
    case smtp
    case imap
    case pop3
    case ftp
    case postgreSQL = "postgresql"
    case mySQL = "mysql"
    case ldap
    case xmpp

    /// What is spoken at a port at first (IANA, Service Name and Transport Protocol Port Number
    /// Registry); `nil` where it is TLS or nothing that is known here.
    package init?(port: UInt16) {
        switch port {
        case 25, 587, 2525: self = .smtp
        case 143: self = .imap
        case 110: self = .pop3
        case 21: self = .ftp
        case 5432: self = .postgreSQL
        case 3306: self = .mySQL
        case 389: self = .ldap
        case 5222, 5269: self = .xmpp
        default: return nil
        }
    }

    /// How its server takes leave within TLS.
    var farewell: ProbeGreeting? {
        switch self {
        case .smtp: .smtp
        case .imap: .imap
        case .pop3: .pop3
        case .ftp: .ftp
        case .postgreSQL, .mySQL, .ldap, .xmpp: nil
        }
    }
}

/// What a server does about the client's wish for TLS.
enum UpgradeMode: Sendable, Equatable {
    /// It grants it.
    case sound
    /// It does not offer it, and refuses it.
    case stripped
    /// It grants it, and says in the same breath what the client must not take for an answer that
    /// came within TLS (CVE-2021-22947).
    case injected
    /// It says that the client is logged in already, when nothing can be granted (RFC 3501 §7.1.4).
    case preauthenticated

    var grants: Bool { self == .sound || self == .injected }
}

/// What a server does about a piece of the client's.
enum UpgradeStep: Sendable, Equatable {
    case say([UInt8])
    /// Goes over to TLS, after it has said this.
    case upgrade([UInt8])
    /// The client says in cleartext what it must say in TLS only.
    case expose(String)
    /// The client takes its leave, and is told this.
    case leave([UInt8])
}

/// The part of a server in cleartext, without a socket.
protocol UpgradeScript: Sendable {
    /// What the server says first.
    var greeting: [UInt8] { get }
    /// Takes the next piece of what the client said off `bytes`.
    ///
    /// - Returns: `nil` if it is not whole yet.
    mutating func next(_ bytes: inout [UInt8]) -> UpgradeStep?
}

extension UpgradeProtocol {
    /// - Returns: `nil` if the mode does not exist in the protocol.
    func script(_ mode: UpgradeMode, host: String) -> (any UpgradeScript)? {
        switch self {
        case .imap: IMAPScript(mode: mode, host: host)
        case _ where mode == .preauthenticated: nil
        case .smtp: SMTPScript(mode: mode, host: host)
        case .pop3: POP3Script(mode: mode, host: host)
        case .ftp: FTPScript(mode: mode, host: host)
        case .postgreSQL: PostgreSQLScript(mode: mode)
        case _ where mode == .injected: nil
        case .mySQL: MySQLScript(mode: mode)
        case .ldap: LDAPScript(mode: mode)
        case .xmpp: XMPPScript(mode: mode, host: host)
        }
    }
}
