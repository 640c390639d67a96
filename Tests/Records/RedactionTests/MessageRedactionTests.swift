import Base
import Logins
import Testing
import Traffic

@testable import Redaction

struct MessageRedactionTests {
    struct DialogueRow: Sendable, CustomTestStringConvertible {
        let name: String
        /// Pieces of the client begin with `>`, those of the server with `<`; each is a segment.
        let said: [String]
        let shown: [String]
        var testDescription: String { name }
    }

    static let dialogueRows = [
        DialogueRow(
            name: "SMTP, initial response",
            said: [
                ">EHLO me\r\n", "<250 AUTH PLAIN\r\n", ">AUTH PLAIN s3cret\r\n", "<235 ok\r\n",
                ">MAIL FROM:<a@b>\r\n",
            ],
            shown: [
                "EHLO me\r\n", "250 AUTH PLAIN\r\n", "AUTH PLAIN ***\r\n", "235 ok\r\n",
                "MAIL FROM:<a@b>\r\n",
            ]),
        DialogueRow(
            name: "SMTP, answers",
            said: [
                ">auth login\r\n", "<334 VXNlcm5hbWU6\r\n", ">s3cret\r\n", "<334 UGFzc3dvcmQ6\r\n",
                ">s3cret\r\n", "<535 no\r\n", ">QUIT\r\n",
            ],
            shown: [
                "auth login\r\n", "334 VXNlcm5hbWU6\r\n", "***\r\n", "334 UGFzc3dvcmQ6\r\n",
                "***\r\n", "535 no\r\n", "QUIT\r\n",
            ]),
        DialogueRow(
            name: "POP3",
            said: [
                "<+OK hi\r\n", ">USER nora\r\n", "<+OK\r\n", ">PASS s3cret s3cret\r\n", "<+OK\r\n",
                ">RETR 1\r\n", ">APOP nora s3cret\r\n", ">AUTH SCRAM-SHA-256\r\n", "<+ \r\n",
                ">s3cret\r\n", "<+OK\r\n", ">LIST\r\n",
            ],
            shown: [
                "+OK hi\r\n", "USER nora\r\n", "+OK\r\n", "PASS ***\r\n", "+OK\r\n", "RETR 1\r\n",
                "APOP ***\r\n", "AUTH SCRAM-SHA-256\r\n", "+ \r\n", "***\r\n", "+OK\r\n",
                "LIST\r\n",
            ]),
        DialogueRow(
            name: "IMAP",
            said: [
                ">a1 LOGIN nora s3cret\r\na2 NOOP\r\n", "<a1 OK\r\na2 OK\r\n",
                ">a3 login {4}\r\n", "<+ go\r\n", ">s3cret {6}\r\n", "<+ go\r\n", ">s3cret\r\n",
                "<* CAPABILITY\r\na3 OK\r\n", ">a4 AUTHENTICATE XOAUTH2 s3cret\r\n", "<+ e30=\r\n",
                ">s3cret\r\n", "<a4 NO\r\n", ">a5 LOGOUT\r\n",
            ],
            shown: [
                "a1 LOGIN ***\r\na2 NOOP\r\n", "a1 OK\r\na2 OK\r\n", "a3 login ***\r\n", "+ go\r\n",
                "***\r\n", "+ go\r\n", "***\r\n", "* CAPABILITY\r\na3 OK\r\n",
                "a4 AUTHENTICATE XOAUTH2 ***\r\n", "+ e30=\r\n", "***\r\n", "a4 NO\r\n",
                "a5 LOGOUT\r\n",
            ]),
        DialogueRow(
            name: "FTP",
            said: [
                ">AUTH TLS\r\n", "<234 ok\r\n", ">USER nora\r\n", "<331 word\r\n",
                ">PASS s3cret\r\n", ">ACCT s3cret\r\n", ">LIST\r\n",
            ],
            shown: [
                "AUTH TLS\r\n", "234 ok\r\n", "USER nora\r\n", "331 word\r\n", "PASS ***\r\n",
                "ACCT ***\r\n", "LIST\r\n",
            ]),
        DialogueRow(
            name: "NNTP and a bare password",
            said: [
                ">AUTHINFO USER nora\n", "<381 more\n", ">AUTHINFO PASS s3cret\n", "<281 ok\n",
                ">AUTH s3cret\n", "<+OK\n", ">GET a\n",
            ],
            shown: [
                "AUTHINFO USER nora\n", "381 more\n", "AUTHINFO PASS ***\n", "281 ok\n",
                "AUTH ***\n", "+OK\n", "GET a\n",
            ]),
        DialogueRow(
            name: "a command in pieces",
            said: [">PA", ">SS s3", ">cret\r", ">\nLIST\r\n"],
            shown: ["PA", "SS ***", "***\r", "\nLIST\r\n"]),
        DialogueRow(
            name: "given up", said: [">AUTH PLAIN\r\n", "<334 \r\n", ">*\r\n", "<501 no\r\n"],
            shown: ["AUTH PLAIN\r\n", "334 \r\n", "*\r\n", "501 no\r\n"]),
    ]

    @Test(arguments: dialogueRows)
    func masksLogins(_ row: DialogueRow) {
        var redaction = MessageRedaction(protocolName: "unknown")
        let shown = row.said.map { redaction.redact(Array($0.utf8.dropFirst()), of: part($0)).text }
        #expect(shown == row.shown)
    }

    /// However the bytes fall into segments, no secret shows, and the server's words do.
    @Test(arguments: dialogueRows, [1, 2, 3, 5, 7, 11])
    func masksLoginsInAnyPieces(_ row: DialogueRow, _ size: Int) {
        var redaction = MessageRedaction(protocolName: "unknown")
        var text = ""
        for said in row.said {
            let bytes = Array(said.utf8.dropFirst())
            for start in stride(from: 0, to: bytes.count, by: size) {
                let piece = Array(bytes[start..<min(start + size, bytes.count)])
                let shown = redaction.redact(piece, of: part(said)).text
                if said.hasPrefix("<") { #expect(shown == piece.text) }
                text += shown
            }
        }
        for piece in ["s3", "3c", "cr", "et"] { #expect(!text.contains(piece), "\(text)") }
    }

    @Test func aTextMessageIsALine() {
        var redaction = MessageRedaction(protocolName: "websocket")
        let shown = ["PASS oauth:s3cret", "NICK nora", "a1 LOGIN b s3cret", "JOIN #c"].map {
            redaction.redact([UInt8]($0.utf8), of: part(">", kind: .text)).text
        }
        #expect(shown == ["PASS ***", "NICK nora", "a1 LOGIN ***", "JOIN #c"])
    }

    /// A listing has the start of a datagram alone.
    @Test func masksCommunity() {
        let whole =
            [0x30, 24, 2, 1, 1, 4, 6] + [UInt8]("s3cret".utf8)
            + [0xA0, 11, 2, 1, 7, 2, 1, 0, 2, 1, 0, 0x30, 0]
        for end in whole.indices.dropFirst(8) {
            var redaction = MessageRedaction(protocolName: "snmp")
            let shown = redaction.redact([UInt8](whole[..<end]), of: part(">", kind: .datagram))
            #expect(shown == whole[..<7] + [UInt8]("***".utf8) + whole[..<end].dropFirst(13))
        }
    }

    @Test func aDatagramIsReadByItself() {
        var redaction = MessageRedaction(protocolName: "udp")
        let shown = ["PASS s3cret", "LIST"].map {
            redaction.redact([UInt8]($0.utf8), of: part(">", kind: .datagram)).text
        }
        #expect(shown == ["PASS ***", "LIST"])
    }

    // MARK: Packets

    static let startup: [UInt8] = [0, 0, 0, 15, 0, 3, 0, 0] + [UInt8]("user\0n\0".utf8)
    static let password: [UInt8] = [0x70, 0, 0, 0, 11] + [UInt8]("s3cret\0".utf8)
    static let query: [UInt8] = [0x51, 0, 0, 0, 13] + [UInt8]("SELECT 1\0".utf8)
    static let encryption: [UInt8] = [0, 0, 0, 8, 0x04, 0xD2, 0x16, 0x2F]
    static let cancel: [UInt8] = [0, 0, 0, 16, 0x04, 0xD2, 0x16, 0x2E] + [UInt8]("s3crets3".utf8)

    @Test(arguments: [1, 2, 3, 4, 5, 7, 100], ["postgresql", "unknown"])
    func masksPostgreSQL(_ size: Int, _ name: String) {
        // A name that is not known is found out by the first eight bytes.
        if name == "unknown", size < 8 { return }
        for first in [[], Self.encryption] {
            let sent = first + Self.startup + Self.password + Self.query
            var redaction = MessageRedaction(protocolName: name)
            var shown: [UInt8] = []
            for start in stride(from: 0, to: sent.count, by: size) {
                let piece = Array(sent[start..<min(start + size, sent.count)])
                shown += redaction.redact(piece, of: part(">"))
            }
            #expect(!shown.text.contains("s3") && !shown.text.contains("cret"))
            #expect(shown.starts(with: first + Self.startup + [0x70]))
            #expect(shown.suffix(Self.query.count) == Self.query[...])
        }
    }

    @Test(arguments: [
        cancel, startup + [0x70, 0, 0, 0, 1] + password, [UInt8](repeating: 0xFF, count: 40),
    ])
    func masksWhatPostgreSQLDoesNotFrame(_ sent: [UInt8]) {
        var redaction = PostgreSQLRedaction()
        let shown = redaction.redact(sent)
        #expect(!shown.text.contains("s3cret"))
        #expect(shown.suffix(3) == redactionMark[...])
    }

    @Test func masksMySQLUntilItAccepts() {
        var redaction = MessageRedaction(protocolName: "unknown")
        let greeting: [UInt8] = [6, 0, 0, 0, 10, 0x38, 0x2E, 0x30, 0, 0]
        let login: [UInt8] = [6, 0, 0, 1] + [UInt8]("s3cret".utf8)
        let change: [UInt8] = [7, 0, 0, 0, 0x11] + [UInt8]("s3cret".utf8)
        let query: [UInt8] = [9, 0, 0, 0, 3] + [UInt8]("SELECT 1".utf8)
        let accepts: [UInt8] = [3, 0, 0, 2, 0, 0, 0]
        let more: [UInt8] = [2, 0, 0, 2, 1, 4]
        let said: [(String, [UInt8], [UInt8])] = [
            ("<", greeting, greeting), (">", login, redactionMark), ("<", more, more),
            (">", login, redactionMark), ("<", Array(accepts[..<3]), Array(accepts[..<3])),
            ("<", Array(accepts[3...]), Array(accepts[3...])), (">", query, query),
            (">", Array(query[..<2]), Array(query[..<2])),
            (">", Array(query[2...]), Array(query[2...])), (">", change, redactionMark),
            ("<", accepts, accepts), (">", query, query),
        ]
        for (side, sent, shown) in said {
            #expect(redaction.redact(sent, of: part(side)) == shown)
        }
    }

    // MARK: Contents

    @Test(
        arguments: [
            (#"{"password":"s3cret","a":1}"#, #"{"password":"***","a":1}"#),
            (#"42["login",{"password":"s3cret"}]"#, #"42["login",{"password":"***"}]"#),
            (
                "event: a\ndata: {\"token\":\"s3cret\"}\nid: 7\n",
                "event: a\ndata: {\"token\":\"***\"}\nid: 7\n"
            ),
            ("CONNECT\nlogin:nora\npasscode:s3cret\n\n", "CONNECT\nlogin:nora\npasscode:***\n\n"),
            (
                "GET /?token=s3cret HTTP/1.1\r\nA: b\r\n\r\n",
                "GET /?token=*** HTTP/1.1\r\nA: b\r\n\r\n"
            ),
            ("Authorization: Bearer s3cret", "Authorization: Bearer ***"),
            ("password: s3cret\nuser: nora", "password: ***\nuser: nora"),
            ("see\nhttps://a/?key=s3cret now", "see\nhttps://a/?key=*** now"),
            ("user=nora&password=s3cret", "user=nora&password=***"),
            ("just words [of] a {person}", "just words [of] a {person}"),
            ("\u{0}\u{1}", "\u{0}\u{1}"), ("", ""),
        ])
    func masksContents(_ content: String, _ shown: String) {
        #expect(
            MessageRedaction.redact(content: [UInt8](content.utf8), isWhole: true).text == shown)
    }

    private func part(_ said: String, kind: MessageRecord.Kind = .segment) -> MessageRecord {
        MessageRecord(
            connection: 1, exchange: nil, number: 1, at: Timestamp(microseconds: 0),
            direction: said.hasPrefix(">") ? .request : .response, kind: kind)
    }
}

extension MessageRedaction {
    /// Of messages without logins that can be read.
    fileprivate init(protocolName: String) {
        self.init(protocolName: protocolName, logins: LoginRanges(GatheredMessages()))
    }
}
