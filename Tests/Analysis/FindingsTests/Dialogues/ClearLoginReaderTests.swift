import Base
import Redaction
import TestConditions
import Testing
import Traffic

@testable import Findings
@testable import Logins

@Suite struct ClearLoginReaderTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let said: [Said]
        /// `protocol form user secret`, a line each.
        let logins: [String]
        var answer: ClearLogin.Answer?
        var isNTLMVersion1: Bool?
        var testDescription: String { name }

        init(
            _ name: String, _ said: Said..., logins: [String] = [],
            answer: ClearLogin.Answer? = nil,
            isNTLMVersion1: Bool? = nil
        ) {
            self.name = name
            self.said = said
            self.logins = logins
            self.answer = answer
            self.isNTLMVersion1 = isNTLMVersion1
        }
    }

    @Test(arguments: loudRows + quietRows + quietStreamRows)
    func readsWhole(_ row: Row) {
        let found = Self.logins(row.said)
        #expect(found.map(Self.text) == row.logins)
        #expect(found.first?.answer == row.answer)
        #expect(found.first?.isNTLMVersion1 == row.isNTLMVersion1)
    }

    @Test(arguments: loudRows + quietRows + quietStreamRows)
    func readsByteByByte(_ row: Row) {
        let gathered = DialogueSample(said: row.said).gathered(step: 1)
        let conversation = gathered.conversation(of: nil)
        let found = ClearLoginReader.logins(
            client: conversation?.client ?? [], origin: conversation?.origin ?? [])
        #expect(found.map(Self.text) == row.logins)
    }

    /// A part of a secret must never be taken for the whole.
    @Test(arguments: loudRows + quietRows + quietStreamRows)
    func staysSilentWhereCut(_ row: Row) {
        for index in row.said.indices {
            for count in row.said[index].bytes.indices {
                var said = row.said
                said[index] = Said(
                    direction: said[index].direction,
                    bytes: Array(said[index].bytes.prefix(count)))
                for login in Self.logins(said) { #expect(row.logins.contains(Self.text(login))) }
            }
        }
    }

    @Test(arguments: loudRows)
    func survivesEveryChangedByte(_ row: Row) {
        for index in row.said.indices {
            for offset in row.said[index].bytes.indices.prefix(160) {
                for value: UInt8 in [0, 0x7F, 0x80, 0xFF] {
                    var said = row.said
                    var bytes = said[index].bytes
                    bytes[offset] = value
                    said[index] = Said(direction: said[index].direction, bytes: bytes)
                    #expect(Self.logins(said).count <= ClearLogin.countLimit + 2)
                }
            }
        }
    }

    /// What is reported of a dialogue is not shown of it, however it is cut into pieces.
    @Test(arguments: loudRows, [1, 7, 100_000])
    func isHiddenWhereShown(_ row: Row, step: Int) {
        let sample = DialogueSample(said: row.said)
        let conversation = sample.gathered(step: step).conversation(of: nil)
        var redaction = MessageRedaction(
            protocolName: "", logins: LoginRanges(sample.gathered(step: step)))
        var shown: [UInt8] = []
        for record in sample.records(step: step) {
            let bytes = redaction.redact(record.bytes, of: record)
            if record.direction == .request { shown += bytes }
        }
        for login in conversation?.logins ?? [] where login.secret.count > 3 {
            #expect(!shown.contains(run: login.secret), "\(shown.text)")
        }
        let again = ClearLoginReader.logins(client: shown, origin: conversation?.origin ?? [])
        #expect(again.allSatisfy { $0.secret.contains(run: Array("***".utf8)) }, "\(shown.text)")
    }

    /// A capture that others made may show less of a part than it says.
    @Test(arguments: lineRows + streamRows, [0, 1, 12])
    func isHiddenInTheStartOfAPart(_ row: Row, count: Int) {
        let sample = DialogueSample(said: row.said)
        var redaction = MessageRedaction(
            protocolName: "", logins: LoginRanges(sample.gathered()))
        let secrets = sample.gathered().conversation(of: nil)?.logins.map(\.secret) ?? []
        for record in sample.records() {
            let shown = redaction.redact(Array(record.bytes.prefix(count)), of: record)
            for secret in secrets where secret.count > 3 { #expect(!shown.contains(run: secret)) }
        }
    }

    private static func logins(_ said: [Said]) -> [ClearLogin] {
        func all(_ direction: Direction) -> [UInt8] {
            said.filter { $0.direction == direction }.flatMap(\.bytes)
        }
        return ClearLoginReader.logins(
            client: all(.request), origin: all(.response))
    }

    private static func text(_ login: ClearLogin) -> String {
        "\(login.protocolName.rawValue) \(login.form.rawValue) \(login.user?.text ?? "-")"
            + " \(login.secret.text)"
    }
}

extension ClearLoginReaderTests {
    @Test(arguments: LoginVector.all) func readsWhatLibrariesSend(_ vector: LoginVector) throws {
        let found = ClearLoginReader.logins(
            client: unhexed(vector.client), origin: unhexed(vector.origin))
        let login = try #require(found.first)
        #expect(found.count == 1)
        #expect(login.isHash == vector.isHash)
        // LDAP's is within a distinguished name.
        let user = login.user?.text ?? vector.user
        #expect(user.contains(vector.user.prefix(5)))
        if vector.isHash {
            #expect(!login.secret.text.contains(vector.password))
        } else {
            #expect(login.secret.text == vector.password)
        }
    }

    /// Each content without an end is looked for once.
    @Test(.processorTime(below: .seconds(20))) func manyContentsWithoutEndAreCheap() {
        let client = Array(("EHLO a\r\n" + String(repeating: "DATA\r\n", count: 150_000)).utf8)
        #expect(
            ClearLoginReader.logins(client: client, origin: Array("220 a\r\n250 b\r\n".utf8))
                .isEmpty)
    }

    /// The greeting was not caught.
    @Test(arguments: LoginVector.all.filter { unhexed($0.origin).first?.isASCIILetter == false })
    func readsWithoutAGreeting(_ vector: LoginVector) {
        let origin = unhexed(vector.origin)
        let rest = origin.drop { $0 != 0x0A }.dropFirst()
        guard !rest.isEmpty else { return }
        let found = ClearLoginReader.logins(client: unhexed(vector.client), origin: Array(rest))
        #expect(found.count == 1)
    }

    /// What one side alone tells of, where its words have one meaning.
    @Test(
        arguments: LoginVector.all.filter { vector in
            !["mysql", "pgsql", "redis-auth-inline"].contains { vector.name.hasPrefix($0) }
        })
    func readsTheClientAlone(_ vector: LoginVector) {
        let found = ClearLoginReader.logins(client: unhexed(vector.client), origin: [])
        #expect(found.count == 1)
        #expect(found.first?.isHash == vector.isHash)
    }
}

private typealias Row = ClearLoginReaderTests.Row

private func resp(_ words: String...) -> String {
    "*\(words.count)\r\n" + words.map { "$\($0.utf8.count)\r\n\($0)\r\n" }.joined()
}

private let loudRows = redisRows + packetRows + hashRows + lineRows + streamRows

private let redisRows: [Row] = [
    Row(
        "redis-py, two commands behind it",
        .client(
            resp("AUTH", "probe.user", "Pr0be-S3cret!") + resp("CLIENT", "SETINFO", "LIB-NAME")),
        .origin("+OK\r\n+OK\r\n"), logins: ["redis AUTH probe.user Pr0be-S3cret!"],
        answer: .accepted),
    Row(
        "password alone, refused", .client(resp("auth", "Pr0be-S3cret!")),
        .origin("-WRONGPASS no\r\n"), logins: ["redis AUTH - Pr0be-S3cret!"],
        answer: .rejected),
    Row(
        "HELLO with AUTH", .client(resp("HELLO", "3", "AUTH", "probe.user", "Pr0be-S3cret!")),
        .origin("%1\r\n+server\r\n"), logins: ["redis HELLO probe.user Pr0be-S3cret!"],
        answer: .accepted),
    Row(
        "later in a pipeline",
        .client(
            resp("PING") + resp("AUTH", "a b\r\nc") + resp("CONFIG", "SET", "masterauth", "m1")),
        .origin("+PONG\r\n"), logins: ["redis AUTH - a b\r\nc", "redis CONFIG SET - m1"]),
    Row(
        "other commands with passwords",
        .client(
            resp("ACL", "SETUSER", "bo", "on", ">s1") + resp("config", "set", "requirepass", "s2")
                + resp("MIGRATE", "h", "1", "", "0", "9", "AUTH2", "bo", "s3")
                + resp("MIGRATE", "h", "1", "k", "0", "9", "AUTH", "s4")),
        logins: [
            "redis ACL SETUSER bo s1", "redis CONFIG SET - s2", "redis MIGRATE bo s3",
            "redis MIGRATE - s4",
        ]),
    Row(
        "typed", .client("AUTH Pr0be-S3cret!\r\n"), .origin("+OK\r\n"),
        logins: ["redis AUTH - Pr0be-S3cret!"], answer: .accepted),
]

private let packetRows: [Row] = [
    Row(
        "MQTT 3.1 with a will",
        .client(
            hex: "103800064d514973647003ce001e00056369642d310003772f740003627965"
                + "000a70726f62652e75736572000d50723062652d53336372657421e000"),
        .origin(hex: "20020000"), logins: ["mqtt CONNECT probe.user Pr0be-S3cret!"],
        answer: .accepted),
    Row(
        "MQTT 3.1.1 with a will, refused",
        .client(
            hex: "103600044d51545404ce001e00056369642d310003772f740003627965"
                + "000a70726f62652e75736572000d50723062652d53336372657421e000"),
        .origin(hex: "20020005"), logins: ["mqtt CONNECT probe.user Pr0be-S3cret!"],
        answer: .rejected),
    Row(
        "MQTT 5 with a will and properties",
        .client(
            hex: "103800044d51545405ce001e0000056369642d31000003772f740003627965"
                + "000a70726f62652e75736572000d50723062652d53336372657421e000"),
        logins: ["mqtt CONNECT probe.user Pr0be-S3cret!"]),
    Row(
        "LDAP simple bind",
        .client(
            hex: "30260201016021020103040d636e3d70726f62652c64633d78800d"
                + "50723062652d53336372657421"),
        logins: ["ldap simple bind cn=probe,dc=x Pr0be-S3cret!"]),
    Row(
        "LDAP simple bind, long lengths, behind a search",
        .client(
            hex: "30050201016300" + "30840000002a020102" + "608400000021020103"
                + "040d636e3d70726f62652c64633d78800d50723062652d53336372657421"),
        logins: ["ldap simple bind cn=probe,dc=x Pr0be-S3cret!"]),
    Row(
        "LDAP, SASL PLAIN",
        .client(
            hex: "302e02010260290201030400a3220405504c41494e0419"
                + "0070726f62652e757365720050723062652d53336372657421"),
        logins: ["ldap SASL bind PLAIN probe.user Pr0be-S3cret!"]),
    Row(
        "AMQP 0-9-1, PLAIN",
        .client(
            hex: "414d515000000901" + "0100000000" + "0031" + "000a000b" + "00000000"
                + "05504c41494e" + "00000019" + "0070726f62652e757365720050723062652d53336372657421"
                + "05656e5f5553" + "ce"),
        logins: ["amqp Start-Ok PLAIN probe.user Pr0be-S3cret!"]),
    Row(
        "memcached, list of mechanisms first",
        .client(
            hex: "802000000000000000000000000000000000000000000000"
                + "80210005000000000000001e000000000000000000000000"
                + "504c41494e0070726f62652e757365720050723062652d53336372657421"),
        logins: ["memcached SASL PLAIN probe.user Pr0be-S3cret!"]),
    Row(
        "STOMP",
        .client("STOMP\naccept-version:1.1\nlogin:probe.user\npasscode:Pr0be-S3cret!\n\n\0"),
        logins: ["stomp CONNECT probe.user Pr0be-S3cret!"]),
    Row(
        "MySQL, switched to a password in cleartext",
        .origin(
            hex: "0b0000000a382e302e302d70726f62" + "16000002fe"
                + "6d7973716c5f636c6561725f70617373776f726400"),
        .client(
            hex: "2c00000105a23a00ffffff002d" + "00000000000000000000000000000000000000000000"
                + "00"
                + "70726f62652e7573657200" + "00" + "0e00000350723062652d5333637265742100"),
        logins: ["mysql mysql_clear_password probe.user Pr0be-S3cret!"]),
]

private let quietRows: [Row] = [
    Row("Redis without a login", .client(resp("SET", "auth", "x")), .origin("+OK\r\n")),
    Row("Redis, an empty password", .client(resp("AUTH", ""))),
    Row("Redis, AUTH as a value", .client(resp("SET", "HELLO", "3", "AUTH", "u", "p"))),
    Row("Redis, a count that cannot be", .client("*99999999999\r\n$4\r\nAUTH\r\n")),
    Row("typed, but the answer is no Redis", .client("AUTH x\r\n"), .origin("250 ok\r\n")),
    Row("the origin speaks first", .origin("+OK ready\r\n"), .client("AUTH secret\r\n")),
    Row("MQTT without a password", .client(hex: "101100044d5154540402001e00056369642d31")),
    Row(
        "MQTT, a name alone",
        .client(hex: "101d00044d51545404820 01e00056369642d31000a70726f62652e75736572")),
    Row("MQTT, level 9", .client(hex: "103600044d51545409ce001e00056369642d31")),
    Row("LDAP, anonymous", .client(hex: "300c020101600702010304008000")),
    Row(
        "LDAP, StartTLS before the bind",
        .client(
            hex: "301d02010177188016312e332e362e312e342e312e313436362e3230303337"
                + "30260201016021020103040d636e3d70726f62652c64633d78800d"
                + "50723062652d53336372657421")),
    Row(
        "LDAP, SASL by another mechanism",
        .client(hex: "301602010160110201030400a30a040845585445524e414c")),
    Row("STOMP without a passcode", .client("CONNECT\nlogin:x\n\n\0")),
    Row("an HTTP request", .client("CONNECT a:1 HTTP/1.1\r\n\r\n")),
    Row("nothing", .client([])),
    Row(
        "MySQL's own scramble",
        .origin(hex: "0b0000000a382e302e302d70726f62" + "0700000200000002000000"),
        .client(
            hex: "2c00000105a23a00ffffff002d" + "00000000000000000000000000000000000000000000"
                + "00"
                + "70726f62652e7573657200" + "00" + "0e00000350723062652d5333637265742100")),
]

private let lineRows: [Row] = [
    Row(
        "FTP with spaces, refused", .origin("220 files\r\n"), .client("USER nora\r\n"),
        .origin("331 ?\r\n"), .client("PASS a b \r\n"), .origin("530 no\r\n"),
        logins: ["ftp PASS nora a b "], answer: .rejected),
    Row(
        "FTP, a guest's name with a password", .origin("220 files\r\n"),
        .client("user ftp\r\npass s3cret\r\n"), .origin("331 ?\r\n230 in\r\n"),
        logins: ["ftp PASS ftp s3cret"], answer: .accepted),
    Row(
        "POP3, two tries", .origin("+OK\r\n"),
        .client("USER nora\r\nPASS one\r\nUSER nora\r\nPASS two\r\n"),
        .origin("+OK\r\n-ERR\r\n+OK\r\n+OK\r\n"),
        logins: ["pop3 PASS nora one", "pop3 PASS nora two"]),
    Row(
        "SMTP, a token", .origin("220 mx\r\n"),
        .client(
            "EHLO a\r\nAUTH XOAUTH2 dXNlcj1ub3JhAWF1dGg9QmVhcmVyIHRvay4xMjMBAQ==\r\n"),
        .origin("250 mx\r\n235 ok\r\n"), logins: ["smtp AUTH XOAUTH2 nora tok.123"],
        answer: .accepted),
    Row(
        "SMTP, a mail that tells of logins", .origin("220 mx\r\n"),
        .client(
            "EHLO a\r\nMAIL FROM:<a@b>\r\nRCPT TO:<c@d>\r\nDATA\r\nAUTH PLAIN AG4AcA==\r\n.\r\n"
                + "QUIT\r\n"), .origin("250 a\r\n250 b\r\n250 c\r\n354 go\r\n250 d\r\n")),
    Row(
        "SMTP, a login that is cancelled", .origin("220 mx\r\n"),
        .client("EHLO a\r\nAUTH LOGIN\r\nbm9yYQ==\r\n*\r\nQUIT\r\n"),
        .origin("250 a\r\n334 x\r\n334 y\r\n501 ok\r\n")),
    Row(
        "IMAP, literals", .origin("* OK\r\n"),
        .client("a1 LOGIN {4}\r\nnora {6+}\r\ns3\r\n x\r\na2 NOOP\r\n"),
        .origin("+ go\r\na1 OK\r\n"), logins: ["imap LOGIN nora s3\r\n x"]),
    Row(
        "IMAP, a mail that tells of logins", .origin("* OK\r\n"),
        .client("a1 APPEND in {17}\r\na2 LOGIN nora s3\r\n\r\na3 LOGOUT\r\n")),
    Row(
        "NNTP", .origin("200 news\r\n"),
        .client("AUTHINFO USER nora\r\nAUTHINFO PASS s3 cret\r\n"),
        .origin("381 ?\r\n281 in\r\n"), logins: ["nntp AUTHINFO PASS nora s3 cret"],
        answer: .accepted),
    Row(
        "ManageSieve", .origin("\"IMPLEMENTATION\" \"x\"\r\nOK\r\n"),
        .client("AUTHENTICATE \"PLAIN\" \"AG5vcmEAczNjcmV0\"\r\n"),
        logins: ["sieve AUTHENTICATE PLAIN nora s3cret"]),
    Row(
        "IRC", .origin(":irc 001 nora :hi\r\n"),
        .client(
            "CAP LS\r\nPASS :s3cret\r\nNICK nora\r\nUSER n 0 * :Nora\r\n"
                + "PRIVMSG NickServ :IDENTIFY nora s3\r\nNS IDENTIFY s4\r\nOPER bo s5\r\n"),
        logins: [
            "irc PASS - s3cret", "irc IDENTIFY nora s3", "irc IDENTIFY - s4", "irc OPER bo s5",
        ]),
    Row(
        "IRC, SASL", .client("NICK nora\r\nUSER n 0 * :N\r\nAUTHENTICATE PLAIN\r\n"),
        .origin(":irc NOTICE * :x\r\nAUTHENTICATE +\r\n"),
        .client("AUTHENTICATE AG5vcmEAczNjcmV0\r\n"),
        logins: ["irc AUTHENTICATE PLAIN nora s3cret"]),
    Row(
        "telnet, letter by letter",
        .origin("\r\nhost login: nora\r\nPassword: \r\nLast login: never\r\n"),
        .client([0xFF, 0xFB, 0x18] + Array("noz\u{7F}ra\r\0s3 cret\r\n".utf8)),
        logins: ["telnet a prompt nora s3 cret"]),
    Row(
        "RTSP",
        .client(
            "DESCRIBE rtsp://cam/1 RTSP/1.0\r\nCSeq: 2\r\nAuthorization: Basic bm9yYTpzMw==\r\n\r\n"
        ),
        .origin("RTSP/1.0 200 OK\r\n\r\n"), logins: ["rtsp Basic nora s3"]),
    Row(
        "XMPP, the older way",
        .client(
            "<stream:stream to='a'><iq type='set'><query xmlns='jabber:iq:auth'><username>nora"
                + "</username><password>s3</password></query></iq>"),
        logins: ["xmpp jabber:iq:auth nora s3"]),
    Row(
        "a mail that tells of SIP hides no login", .origin("220 mx\r\n"),
        .client(
            "EHLO a\r\nAUTH PLAIN AG5vcmEAczM=\r\nDATA\r\nREGISTER sip:x SIP/2.0\r\n"
                + "Authorization: Digest username=\"u\", response=\"1\"\r\n.\r\n"),
        .origin("250 a\r\n235 b\r\n354 c\r\n250 d\r\n"), logins: ["smtp AUTH PLAIN nora s3"],
        answer: .accepted),
    Row(
        "an answer in another protocol's words", .client(resp("AUTH", "s3cret")),
        .origin("RFB 003.008\n"), logins: ["redis AUTH - s3cret"]),
    Row(
        "an answer that begins as telnet's", .client("NICK n\r\nUSER n 0 * :N\r\nPASS s3\r\n"),
        .origin([0xFF, 0xF1]), logins: ["irc PASS - s3"]),
    Row(
        "a greeting in other protocols' words", .origin("220-* OK\r\n530 no\r\n220 in\r\n"),
        .client("USER nora\r\nPASS s3\r\n"), .origin("331 a\r\n230 b\r\n"),
        logins: ["ftp PASS nora s3"], answer: .accepted),
    Row(
        "POP3, whose greeting Redis would send", .origin("+OK\r\n"),
        .client("AUTH PLAIN\r\nAG5vcmEAczM=\r\n"), .origin("+ \r\n+OK\r\n"),
        logins: ["pop3 AUTH PLAIN nora s3"]),
    Row(
        "a server's words are nobody's login", .origin("220 a\r\n"), .client("FEAT\r\n"),
        .origin("230 Login successful.\r\n530 Login incorrect.\r\n")),
]
