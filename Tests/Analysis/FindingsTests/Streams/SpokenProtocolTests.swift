import Base
import LoginRows
import Testing
import Traffic

@testable import Findings

/// A name counts once the client has spoken what it stands for.
@Suite struct SpokenProtocolTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let client: [UInt8]
        var testDescription: String { "\(name): \(client.prefix(12).text)" }
    }

    private static let secret =
        #"{"user":"nora","password":"Tr0ub4dor&3xyz","note":"some more text here"}"# + "\n"

    /// What the origin's greeting or the first bytes of the client alone have named.
    @Test(
        arguments: [
            "ssh", "smtp", "lmtp", "ftp", "imap", "pop3", "nntp", "sieve", "irc", "vnc", "nats",
            "telnet", "mysql", "tls",
        ].map { Row(name: $0, client: Array(secret.utf8)) } + beginnings)
    func looksIntoWhatIsNotSpoken(_ row: Row) {
        let report = DialogueSample.said(row.name, .client(row.client)).report()
        #expect(report.findings.contains { $0.rule == .streamPlaintext && $0.severity == .high })
        #expect(report.inconclusive == [.notUnderstood])
        #expect(report.isFailed)
    }

    @Test(arguments: spoken) func leavesAloneWhatIsSpoken(_ row: Row) {
        let report = DialogueSample.said(row.name, .client(row.client)).report()
        #expect(!report.findings.contains { $0.rule.rawValue.hasPrefix("BIN-") })
        #expect(report.inconclusive.isEmpty)
    }

    /// A guest may say anything else as well.
    @Test func looksBehindGuests() {
        let report = DialogueSample.said(
            "unknown", .origin("220 FTP\r\n331 go on\r\n230 in\r\n"),
            .client("USER anonymous\r\nPASS a@b.example\r\n" + Self.secret)
        ).report()
        #expect(report.findings.contains { $0.rule == .streamPlaintext })
        #expect(report.inconclusive == [.notUnderstood])
    }

    private static let beginnings: [Row] = [
        ("rdp", [0x03, 0x00]), ("tds", [0x12, 0x01, 0x00]), ("redis", Array("*1".utf8)),
        ("xmpp", Array("<".utf8)), ("amqp", Array("AMQP".utf8)), ("tls", [0x16]),
    ].map { Row(name: $0.0, client: $0.1 + Array(secret.utf8)) }

    private static let spoken: [Row] =
        [
            ("smtp", "EHLO app.example\r\nMAIL FROM:<nora@app.example>\r\n"),
            ("lmtp", "LHLO app.example\r\n"), ("ftp", "FEAT\r\n"), ("imap", "a1 CAPABILITY\r\n"),
            ("pop3", "CAPA\r\n"), ("nntp", "MODE READER\r\n"), ("sieve", "LOGOUT\r\n"),
            ("irc", "NICK nora\r\n"), ("vnc", "RFB 003.008\n\u{01}\u{01}"),
            ("nats", "CONNECT {}\r\n"),
            ("redis", "*1\r\n$4\r\nPING\r\n"), ("ssh", "SSH-2.0-OpenSSH_9.9\r\n"),
            ("xmpp", "<?xml version='1.0'?><stream:stream to='app.example' version='1.0'>"),
        ].map { Row(name: $0.0, client: Array($0.1.utf8)) } + [
            Row(
                name: "telnet",
                client: unhexed("FFFD01") + Array("ls -l /home/nora/letters\r\n".utf8)),
            Row(
                name: "ssh",
                client: Array("SSH-2.0-x\r\n".utf8) + unhexed("0000002c0614")
                    + Array("curve25519-sha256,ecdh-sha2-nistp256".utf8)),
            Row(name: "rdp", client: unhexed("030000130ee000000000000100080003000000")),
            Row(name: "tds", client: unhexed("12010020000000000000150006010000")),
            Row(name: "mysql", client: unhexed("2000000185a23f00")),
            Row(name: "tls", client: unhexed("1603010200010001fc0303")),
            Row(name: "amqp", client: Array("AMQP".utf8) + [0, 0, 9, 1]),
        ]
}
