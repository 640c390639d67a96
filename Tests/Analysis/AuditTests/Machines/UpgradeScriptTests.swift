import Testing

@testable import Audit

/// What servers in cleartext say, by what their clients said.
struct UpgradeScriptTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: UpgradeProtocol
        var mode = UpgradeMode.sound
        let client: [UInt8]
        /// How it ends; what was said before that is not looked at here.
        let last: String
        var testDescription: String { "\(name) \(mode) \(last)" }

        init(_ name: UpgradeProtocol, _ mode: UpgradeMode, _ client: String, _ last: String) {
            self.init(name, mode, Array(client.utf8), last)
        }

        init(_ name: UpgradeProtocol, _ mode: UpgradeMode, _ client: [UInt8], _ last: String) {
            self.name = name
            self.mode = mode
            self.client = client
            self.last = last
        }
    }

    private static let sslRequest: [UInt8] = [0, 0, 0, 8, 4, 0xD2, 0x16, 0x2F]
    private static let gssRequest: [UInt8] = [0, 0, 0, 8, 4, 0xD2, 0x16, 0x30]
    private static let startup: [UInt8] = [0, 0, 0, 9, 0, 3, 0, 0, 0]
    private static let mySQLRequest: [UInt8] =
        [32, 0, 0, 1, 0x85, 0xAE] + [UInt8](repeating: 0, count: 30)
    private static let mySQLLogin: [UInt8] =
        [40, 0, 0, 1, 0x85, 0xA6] + [UInt8](repeating: 0x61, count: 38)
    private static let ldapRequest: [UInt8] =
        [0x30, 0x1D, 2, 1, 1, 0x77, 0x18, 0x80, 0x16] + Array("1.3.6.1.4.1.1466.20037".utf8)
    private static let ldapRoot: [UInt8] =
        [0x30, 0x25, 2, 1, 1, 0x63, 0x20, 4, 0, 0x0A, 1, 0, 0x0A, 1, 0, 2, 1, 0, 2, 1, 0, 1, 1, 0]
        + [0x87, 0x0B] + Array("objectClass".utf8) + [0x30, 0]
    /// Of all that is below a name.
    private static let ldapSearch: [UInt8] =
        [0x30, 0x0E, 2, 1, 1, 0x63, 9, 4, 1, 0x61, 0x0A, 1, 2, 0x0A, 1, 0]
    private static let ldapBind: [UInt8] = [0x30, 0x0C, 2, 1, 1, 0x60, 7, 2, 1, 3, 4, 0, 0x80, 0]

    static let rows: [Row] = [
        Row(.smtp, .sound, "EHLO a\r\nSTARTTLS\r\n", "upgrade 220 go ahead"),
        Row(.smtp, .stripped, "EHLO a\r\nSTARTTLS\r\nQUIT\r\n", "leave 221 closing"),
        Row(.smtp, .stripped, "EHLO a\r\nAUTH PLAIN AGEAYg==\r\n", "expose"),
        Row(.smtp, .stripped, "EHLO a\r\nMAIL FROM:<a@b.test>\r\n", "expose"),
        Row(.imap, .sound, "a1 CAPABILITY\r\na2 STARTTLS\r\n", "upgrade a2 OK go ahead"),
        Row(.imap, .injected, "A009 STARTTLS\r\n", "upgrade A009 OK go ahead"),
        Row(.imap, .stripped, "a1 LOGIN a b\r\n", "expose"),
        Row(.imap, .preauthenticated, "a1 SELECT INBOX\r\n", "expose"),
        Row(.imap, .preauthenticated, "a1 LOGOUT\r\n", "leave * BYE closing"),
        Row(.pop3, .sound, "CAPA\r\nSTLS\r\n", "upgrade +OK go ahead"),
        Row(.pop3, .stripped, "CAPA\nUSER a\n", "expose"),
        Row(.ftp, .sound, "FEAT\r\nAUTH TLS\r\n", "upgrade 234 go ahead"),
        Row(.ftp, .stripped, "AUTH TLS\r\nUSER a\r\nPASS b\r\n", "expose"),
        Row(.xmpp, .sound, "<stream:stream to='a'><starttls xmlns='b'/>", "upgrade <proceed"),
        Row(.xmpp, .stripped, "<stream:stream to='a'><auth mechanism='PLAIN'>", "expose"),
        Row(.postgreSQL, .sound, gssRequest + sslRequest, "upgrade S"),
        Row(.postgreSQL, .stripped, sslRequest + startup, "expose"),
        Row(.postgreSQL, .stripped, [0, 0, 0, 4, 0, 0, 0, 0], "leave "),
        Row(.mySQL, .sound, mySQLRequest, "upgrade "),
        Row(.mySQL, .stripped, mySQLLogin, "expose"),
        Row(.ldap, .sound, ldapRequest, "upgrade 0"),
        Row(.ldap, .stripped, ldapRequest + ldapBind, "expose"),
        Row(.ldap, .sound, ldapRoot + ldapRequest, "upgrade 0"),
        Row(.ldap, .stripped, ldapRoot + ldapBind, "expose"),
        Row(.ldap, .sound, ldapSearch, "expose"),
        Row(.ldap, .stripped, ldapRequest + [0x30, 5, 2, 1, 2, 0x42, 0], "leave "),
        Row(.ldap, .stripped, [0x30, 0x84], "leave "),
        Row(.ldap, .stripped, [0x30, 2, 2, 9], "leave "),
    ]

    @Test(arguments: rows)
    func theEndIsTheSameHoweverItIsCut(_ row: Row) throws {
        let whole = try #require(play(row, [row.client]).last)
        #expect(describe(whole).hasPrefix(row.last), "\(describe(whole))")
        for cut in 0...row.client.count {
            let pieces = [Array(row.client[..<cut]), Array(row.client[cut...])]
            #expect(play(row, pieces) == play(row, [row.client]), "cut at \(cut)")
            // What has not come to its end asks for more.
            if cut < row.client.count { #expect(play(row, [pieces[0]]).last != whole) }
        }
        #expect(play(row, row.client.map { [$0] }) == play(row, [row.client]))
    }

    @Test(arguments: UpgradeProtocol.allCases)
    func onlyIMAPLogsItsClientsIn(name: UpgradeProtocol) {
        #expect((name.script(.preauthenticated, host: "a.test") != nil) == (name == .imap))
    }

    @Test
    func theForgedAnswerHasTheNextTag() {
        var script = IMAPScript(mode: .injected, host: "a.test")
        var bytes = Array("A099 STARTTLS\r\n".utf8)
        guard case .upgrade(let answer) = script.next(&bytes) else {
            Issue.record("no upgrade")
            return
        }
        #expect(String(decoding: answer, as: UTF8.self).contains("\r\nA100 OK"))
    }

    private func play(_ row: Row, _ pieces: [[UInt8]]) -> [UpgradeStep] {
        guard var script = row.name.script(row.mode, host: "a.test") else { return [] }
        var waiting: [UInt8] = []
        var steps: [UpgradeStep] = []
        for piece in pieces {
            waiting += piece
            while let step = script.next(&waiting) {
                steps.append(step)
                if describe(step).isEmpty { continue }
                return steps
            }
        }
        return steps
    }

    /// Empty for a step after which the dialogue goes on.
    private func describe(_ step: UpgradeStep) -> String {
        switch step {
        case .say: ""
        case .upgrade(let bytes): "upgrade " + String(decoding: bytes, as: UTF8.self)
        case .expose: "expose"
        case .leave(let bytes): "leave " + String(decoding: bytes, as: UTF8.self)
        }
    }
}
