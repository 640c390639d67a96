import Foundation
import Testing

/// How a client comes to the proxy.
enum Way: String, Sendable, CaseIterable {
    case socks
    case reverse
}

/// A client for mail or files, and what is to be found of it.
struct MailClient: Sendable, CustomTestStringConvertible {
    let name: String
    let peer: Peer
    /// Of the server: `smtp`, or `smtps` for TLS from the start.
    let scheme: String
    /// The command that begins TLS; `nil` for TLS from the start, or for none.
    let upgrade: String?
    /// A line of the login as it is sent.
    let secret: String
    /// - Parameters: proxy, address of the server or of the proxy in front of it, CA, folder.
    let arguments: @Sendable (ProxyProcess, String, String, Folder) throws -> [String]

    var testDescription: String { name }
    var protocolName: String { scheme.hasSuffix("s") ? String(scheme.dropLast()) : scheme }

    static let secured =
        Way.allCases.flatMap { way in
            upgrades.map { curl($0.scheme, way, upgrade: $0.command) }
                + upgrades.map { curl($0.scheme + "s", way, upgrade: nil) }
        } + [smtplib]

    static let plain = upgrades.map { curl($0.scheme, .reverse, upgrade: nil, isPlain: true) }

    private static let upgrades = [
        (scheme: "smtp", command: "STARTTLS"), (scheme: "imap", command: "STARTTLS"),
        (scheme: "pop3", command: "STLS"), (scheme: "ftp", command: "AUTH SSL"),
    ]

    private static let smtplib = MailClient(
        name: "Python smtplib, reverse", peer: .python, scheme: "smtp", upgrade: "STARTTLS",
        secret: "AUTH PLAIN \(Login.plain)"
    ) { _, address, authority, _ in
        let port = address.split(separator: ":").last.map(String.init) ?? ""
        return [Peer.script("with-smtplib.py"), port, authority, Login.user, Login.password]
    }

    /// - Parameter isPlain: whether it does without TLS.
    private static func curl(
        _ scheme: String, _ way: Way, upgrade: String?, isPlain: Bool = false
    ) -> MailClient {
        let isFiles = scheme.hasPrefix("ftp")
        return MailClient(
            name: "curl \(scheme), \(way)\(isPlain ? ", plain" : "")", peer: .curl, scheme: scheme,
            upgrade: upgrade, secret: isFiles ? "PASS \(Login.password)" : Login.plain
        ) { proxy, address, authority, folder in
            let paths = ["smtp": "/a", "imap": "/INBOX;MAILINDEX=1", "pop3": "/1", "ftp": "/a.bin"]
            let path = paths.first { scheme.hasPrefix($0.key) }?.value ?? ""
            var arguments = [
                "-sS", "--max-time", "30", "--cacert", authority, "-u",
                "\(Login.user):\(Login.password)", "-o", folder.path("fetched"),
                "\(scheme)://\(address)\(path)",
            ]
            // What goes past the proxy is not signed by it, so that files go in plain.
            let isPartial = isFiles && way == .reverse && !isPlain
            if isPartial { arguments.append("--ftp-ssl-control") }
            if upgrade != nil, !isPartial { arguments.append("--ssl-reqd") }
            if way == .socks { arguments += ["--socks5-hostname", proxy.address] }
            if scheme.hasPrefix("smtp") {
                let mail = try folder.write("mail", "Subject: greetings\r\n\r\nHello.\r\n")
                arguments += [
                    "--mail-from", "a@example.org", "--mail-rcpt", "b@example.org", "-T", mail,
                ]
            }
            return arguments
        }
    }

    var way: Way { name.contains("reverse") ? .reverse : .socks }

    /// Starts it with a proxy of its own.
    ///
    /// - Parameter trusts: whether it trusts the proxy's CA, and not the origin's.
    func start(
        _ server: MailServer, in folder: Folder, trusts: Bool = true
    ) async throws -> (ProxyProcess, Program) {
        let target = server.address(scheme)
        let origin = way == .reverse ? "tcp://\(target)" : nil
        let proxy = try await ProxyProcess(trusting: server.authority, reverse: origin, in: folder)
        let port = proxy.address.split(separator: ":").last ?? ""
        let address = way == .reverse ? "localhost:\(port)" : target
        let authority = trusts ? proxy.authorityPath : server.authority.certificatePath
        let client = try Program(
            peer, arguments(proxy, address, authority, folder), in: folder)
        return (proxy, client)
    }
}
