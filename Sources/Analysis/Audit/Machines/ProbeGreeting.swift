/// How a server speaks first once TLS is up, without which its clients stay silent.
package enum ProbeGreeting: String, Sendable, CaseIterable {
    case smtp
    case imap
    case pop3
    case ftp
    case nntp

    /// The greeting that the clients of a port wait for, which has TLS from its first byte on; `nil`
    /// where they speak first (IANA, Service Name and Transport Protocol Port Number Registry).
    package init?(port: UInt16) {
        switch port {
        case 465: self = .smtp
        case 563: self = .nntp
        case 990: self = .ftp
        case 993: self = .imap
        case 995: self = .pop3
        default: return nil
        }
    }

    func text(host: String) -> [UInt8] {
        switch self {
        case .smtp: line("220 \(host) ESMTP")
        case .imap: line("* OK [CAPABILITY IMAP4rev1 AUTH=PLAIN] \(host) ready")
        case .pop3: line("+OK \(host) ready")
        case .ftp: line("220 \(host) ready")
        case .nntp: line("200 \(host) ready")
        }
    }

    /// What ends the connection in order.
    var farewell: [UInt8] {
        switch self {
        case .smtp: line("421 4.3.2 closing")
        case .imap: line("* BYE closing")
        case .pop3: line("-ERR closing")
        case .ftp: line("421 closing")
        case .nntp: line("400 closing")
        }
    }

    private func line(_ text: String) -> [UInt8] { Array("\(text)\r\n".utf8) }
}
