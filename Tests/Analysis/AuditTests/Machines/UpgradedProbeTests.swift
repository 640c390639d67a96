import Audit
import Catalogue
import Foundation
import Proxy
import TLS
import Testing

/// Probes of protocols that begin in cleartext.
@Suite(.serialized)
struct UpgradedProbeTests {
    private let chains = ProbeChains.shared

    // MARK: Going over to TLS

    struct Upgrade: Sendable, CustomTestStringConvertible {
        let name: String
        let protocolName: UpgradeProtocol
        var behaviour = ProbeBehaviour.serve
        var isSound = true
        let command: String
        let verdict: ConnectionVerdict
        var testDescription: String { name }
    }

    private static let mail = "-m 10 -sS --ssl-reqd --cacert CA -u someone:secret"
    private static let hope = "-m 10 -sS --ssl --cacert CA -u someone:secret"

    /// Who has text in cleartext behind the consent to TLS, and drops it.
    private static func discarding(_ word: String, _ name: UpgradeProtocol) -> Upgrade {
        Upgrade(
            name: "\(word), injected, who discards it", protocolName: name,
            behaviour: .injectAfterStartTLS,
            command: "python3 LAB/upgrade.py \(word) PORT CA discards",
            verdict: .refused(alert: nil))
    }

    private static func keeping(_ word: String, _ name: UpgradeProtocol) -> Upgrade {
        Upgrade(
            name: "\(word), injected, who keeps it", protocolName: name,
            behaviour: .injectAfterStartTLS,
            command: "python3 LAB/upgrade.py \(word) PORT CA keeps", verdict: .accepted)
    }

    static let upgrades: [Upgrade] = [
        Upgrade(
            name: "SMTP, sound", protocolName: .smtp,
            command: "curl \(mail) smtp://localhost:PORT --mail-from a@b.test --mail-rcpt c@d.test"
                + " -T LAB/rsa.pem", verdict: .accepted),
        Upgrade(
            name: "SMTP, self-signed", protocolName: .smtp, isSound: false,
            command: "curl \(mail) smtp://localhost:PORT --mail-from a@b.test --mail-rcpt c@d.test"
                + " -T LAB/rsa.pem", verdict: .refused(alert: 48)),
        Upgrade(
            name: "SMTP, stripped", protocolName: .smtp, behaviour: .stripStartTLS,
            command: "curl \(mail) smtp://localhost:PORT --mail-from a@b.test --mail-rcpt c@d.test"
                + " -T LAB/rsa.pem", verdict: .refused(alert: nil)),
        Upgrade(
            name: "SMTP, stripped, who only hopes for TLS", protocolName: .smtp,
            behaviour: .stripStartTLS,
            command: "curl \(hope) smtp://localhost:PORT --mail-from a@b.test --mail-rcpt c@d.test"
                + " -T LAB/rsa.pem", verdict: .accepted),
        Upgrade(
            name: "SMTP, injected", protocolName: .smtp, behaviour: .injectAfterStartTLS,
            command: "curl \(mail) smtp://localhost:PORT --mail-from a@b.test --mail-rcpt c@d.test"
                + " -T LAB/rsa.pem", verdict: .refused(alert: nil)),
        discarding("smtp", .smtp),
        discarding("imap", .imap),
        discarding("pop3", .pop3),
        discarding("ftp", .ftp),
        discarding("postgresql", .postgreSQL),
        keeping("smtp", .smtp),
        keeping("imap", .imap),
        keeping("pop3", .pop3),
        keeping("ftp", .ftp),
        keeping("postgresql", .postgreSQL),
        Upgrade(
            name: "SMTP, injected, who waits for no answers", protocolName: .smtp,
            behaviour: .injectAfterStartTLS,
            command: "python3 LAB/upgrade.py smtp PORT CA at-once",
            verdict: .inconclusive("the client waits for answers to several commands at once")),
        Upgrade(
            name: "IMAP, sound", protocolName: .imap,
            command: "curl \(mail) imap://localhost:PORT/",
            verdict: .accepted),
        Upgrade(
            name: "IMAP, stripped", protocolName: .imap, behaviour: .stripStartTLS,
            command: "curl \(mail) imap://localhost:PORT/", verdict: .refused(alert: nil)),
        Upgrade(
            name: "IMAP, stripped, who only hopes for TLS", protocolName: .imap,
            behaviour: .stripStartTLS, command: "curl \(hope) imap://localhost:PORT/",
            verdict: .accepted),
        Upgrade(
            name: "IMAP, logged in", protocolName: .imap, behaviour: .preauthenticated,
            command: "curl \(mail) imap://localhost:PORT/", verdict: .refused(alert: nil)),
        Upgrade(
            name: "POP3, sound", protocolName: .pop3,
            command: "curl \(mail) pop3://localhost:PORT/",
            verdict: .accepted),
        Upgrade(
            name: "POP3, stripped", protocolName: .pop3, behaviour: .stripStartTLS,
            command: "curl \(mail) pop3://localhost:PORT/", verdict: .refused(alert: nil)),
        Upgrade(
            name: "FTP, sound", protocolName: .ftp, command: "curl \(mail) ftp://localhost:PORT/",
            verdict: .accepted),
        Upgrade(
            name: "FTP, stripped", protocolName: .ftp, behaviour: .stripStartTLS,
            command: "curl \(mail) ftp://localhost:PORT/", verdict: .refused(alert: nil)),
        Upgrade(
            name: "FTP, stripped, who only hopes for TLS", protocolName: .ftp,
            behaviour: .stripStartTLS, command: "curl \(hope) ftp://localhost:PORT/",
            verdict: .accepted),
        Upgrade(
            name: "LDAP, self-signed", protocolName: .ldap, isSound: false,
            command: "openssl s_client -starttls ldap -connect 127.0.0.1:PORT -CAfile CA"
                + " -verify_return_error", verdict: .refused(alert: 48)),
        Upgrade(
            name: "XMPP, self-signed", protocolName: .xmpp, isSound: false,
            command: "openssl s_client -starttls xmpp -connect 127.0.0.1:PORT -CAfile CA"
                + " -verify_return_error", verdict: .refused(alert: 48)),
        Upgrade(
            name: "PostgreSQL, self-signed", protocolName: .postgreSQL, isSound: false,
            command: "openssl s_client -starttls postgres -connect 127.0.0.1:PORT -CAfile CA"
                + " -verify_return_error", verdict: .refused(alert: 48)),
        Upgrade(
            name: "PostgreSQL, stripped", protocolName: .postgreSQL, behaviour: .stripStartTLS,
            command: "openssl s_client -starttls postgres -connect 127.0.0.1:PORT",
            verdict: .refused(alert: nil)),
        Upgrade(
            name: "MySQL, self-signed", protocolName: .mySQL, isSound: false,
            command: "openssl s_client -starttls mysql -connect 127.0.0.1:PORT -CAfile CA"
                + " -verify_return_error", verdict: .refused(alert: 48)),
    ]

    /// A client that asks for TLS, and reads on in what came in cleartext, or not: Python's own modules
    /// discard it.
    private static let script = """
        import ftplib, imaplib, poplib, smtplib, socket, ssl, sys
        what, port, ca, how = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
        context = ssl.create_default_context(cafile=ca)
        begin = {
            "smtp": [b"", b"EHLO a\\r\\n", b"STARTTLS\\r\\n"], "imap": [b"", b"A1 STARTTLS\\r\\n"],
            "pop3": [b"", b"STLS\\r\\n"], "ftp": [b"", b"AUTH TLS\\r\\n"],
            "postgresql": [b"\\0\\0\\0\\x08\\x04\\xd2\\x16\\x2f"],
        }[what]
        inside = {
            "smtp": [b"EHLO a\\r\\n", b"AUTH PLAIN AGEAYg==\\r\\n"],
            "imap": [b"A2 CAPABILITY\\r\\n", b"A3 LOGIN a b\\r\\n"],
            "pop3": [b"CAPA\\r\\n", b"USER a\\r\\n"], "ftp": [b"USER a\\r\\n", b"PASS b\\r\\n"],
            "postgresql": [b"\\0\\0\\0\\x09\\0\\x03\\0\\0\\0", b"Q\\0\\0\\0\\x0bselect\\0"],
        }[what]
        if what == "smtp" and how == "discards":
            client = smtplib.SMTP("localhost", port, timeout=10)
            client.starttls(context=context)
            client.login("a", "b")
        elif what == "imap" and how == "discards":
            client = imaplib.IMAP4("localhost", port, timeout=10)
            client.starttls(context)
            client.login("a", "b")
        elif what == "pop3" and how == "discards":
            client = poplib.POP3("localhost", port, timeout=10)
            client.stls(context)
            client.user("a")
        elif what == "ftp" and how == "discards":
            client = ftplib.FTP_TLS(context=context, timeout=10)
            client.connect("localhost", port)
            client.login("a", "b")
        else:
            plain = socket.create_connection(("localhost", port), timeout=10)
            for words in begin:
                plain.sendall(words)
                heard = plain.recv(4096)
            rest = heard[1:] if what == "postgresql" else heard.split(b"\\n", 1)[1]
            tls = context.wrap_socket(plain, server_hostname="localhost")
            if how == "at-once":
                tls.sendall(b"".join(inside))
                tls.recv(4096)
            for words in inside:
                tls.sendall(words)
                if how == "discards" or not rest: rest = tls.recv(4096)
                if not rest: sys.exit(1)
        """

    /// What it says without TLS is no judgement on what it was shown in TLS.
    @Test(
        .enabled(if: ClientRun.isThere("psql")),
        arguments: [
            (ProbeBehaviour.gotoFail, ConnectionVerdict.refused(alert: 51)),
            (.anonymous, .notOffered), (.serve, .accepted),
        ])
    func aClientFallsBackToClear(behaviour: ProbeBehaviour, inTLS: ConnectionVerdict) async throws {
        let run = try await ProbeTrial(
            behaviour, chains.rsa, upgrade: .postgreSQL, patience: 700,
            connections: behaviour == .serve ? 1 : 2,
            "psql postgresql://user@localhost:PORT/data?sslmode=prefer -c select")
        let verdicts = run.seen.map { ConnectionRule.judge($0, speaksFirst: true) }
        let expected = behaviour == .serve ? [inTLS] : [inTLS, .inClear]
        #expect(verdicts == expected, "\(run.seen) \(run.client)")
    }

    /// A server that greets has said by that whether it knows TLS.
    @Test(arguments: UpgradeProtocol.allCases, [ProbeBehaviour.serve, .stripStartTLS])
    func whoLeavesWithoutAWordHasHeardTheGreeting(
        name: UpgradeProtocol, behaviour: ProbeBehaviour
    ) throws {
        var description = ProbeDescription(identifier: "test", family: .plaintext)
        description.behaviour = behaviour
        var configuration = ProbeTrial.configuration()
        configuration.upgrade = name
        let machine = try ProbeMachines.makeMachine(description, chains.ec, configuration)
        let greeting = machine.takeOutgoing()
        machine.noteEnd(.closed)
        let verdict = ConnectionRule.judge(machine.observation, speaksFirst: true)
        let isRefusal = behaviour == .stripStartTLS && !greeting.isEmpty
        #expect((verdict == .refused(alert: nil)) == isRefusal, "\(verdict)")
    }

    /// OpenLDAP's client refuses in this way; one that went on would have sent what is secret.
    @Test(arguments: [
        ([0x30, 5, 2, 1, 2, 0x42, 0], ConnectionVerdict.refused(alert: nil)),
        ([0x30, 0x0C, 2, 1, 2, 0x60, 7, 2, 1, 3, 4, 0, 0x80, 0], .inClear),
        ([0x30, 5, 2, 1, 2, 0x42], .refused(alert: nil)),
    ])
    func whoTearsTLSDownIsBackInClear(bytes: [UInt8], verdict: ConnectionVerdict) throws {
        var description = ProbeDescription(identifier: "test", family: .trust)
        description.behaviour = .serve
        var configuration = ProbeTrial.configuration()
        configuration.upgrade = .ldap
        for version in [TLSVersion.tls12, .tls13] {
            for isShaken in [true, false] {
                let machine = try ProbeMachines.makeMachine(
                    description, chains.selfSigned, configuration)
                machine.receive(Self.ldapRequest.span)
                _ = machine.takeOutgoing()
                if isShaken {
                    let context = TLSClientContext(
                        versions: TLSVersions(version, version), trustsSystem: false)
                    #expect(MemoryClient(machine, in: context).handshake() == .done)
                } else {
                    machine.receive(MemoryClient.hello(TLSVersions(version, version)).span)
                }
                machine.receive(bytes.span)
                machine.noteEnd(.closed)
                let seen = machine.observation
                #expect(
                    ConnectionRule.judge(seen, speaksFirst: true) == verdict,
                    "\(version) \(isShaken) \(seen)")
            }
        }
    }

    private static let ldapRequest: [UInt8] =
        [0x30, 0x1D, 2, 1, 1, 0x77, 0x18, 0x80, 0x16] + Array("1.3.6.1.4.1.1466.20037".utf8)

    @Test(arguments: upgrades)
    func aClientGoesOverToTLS(_ row: Upgrade) async throws {
        try Data(Self.script.utf8).write(to: chains.folder.appendingPathComponent("upgrade.py"))
        let run = try await ProbeTrial(
            row.behaviour, row.isSound ? chains.ec : chains.selfSigned, upgrade: row.protocolName,
            patience: 700, row.command)
        #expect(run.verdict() == row.verdict, "\(run.seen) \(run.client)")
    }
}
