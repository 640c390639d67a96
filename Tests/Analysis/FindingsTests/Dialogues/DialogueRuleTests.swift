import Base
import LoginRows
import Testing
import Traffic

@testable import Findings
@testable import Logins

@Suite struct DialogueRuleTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let rule: RuleID
        let sample: DialogueSample
        /// `nil` if the rule must be silent.
        let severity: Severity?
        var notes: [String] = []
        var testDescription: String { "\(rule.rawValue): \(name)" }

        static func hit(
            _ name: String, _ rule: RuleID, _ severity: Severity, _ sample: DialogueSample,
            notes: [String] = []
        ) -> Row {
            Row(name: name, rule: rule, sample: sample, severity: severity, notes: notes)
        }

        static func silent(_ name: String, _ rule: RuleID, _ sample: DialogueSample) -> Row {
            Row(name: name, rule: rule, sample: sample, severity: nil)
        }
    }

    static let rows: [DialogueRuleTests.Row] = loginRows + upgradeRows + datagramRows

    @Test(arguments: rows)
    func judges(_ row: Row) {
        let found = row.sample.report().findings.filter { $0.rule == row.rule }
        #expect(found.map(\.severity) == (row.severity.map { [$0] } ?? []))
        for note in row.notes { #expect(found.first?.notes.map(\.text).contains(note) == true) }
    }

    @Test(arguments: [
        (false, "smtp://mail.example:25", "smtp"), (true, "smtp+tls://mail.example:25", "smtp+tls"),
    ])
    func namesPlace(_ isTLS: Bool, _ url: String, _ scheme: String) throws {
        var sample = DialogueSample.noted(
            "smtp", "plaintext-login:the client logged in by AUTH LOGIN without TLS")
        if isTLS {
            sample.isTLS = true
            sample.notes = []
        }
        var record = sample.connection
        record.originTLS = TLSRecord()
        record.originTLS?.verifyError = isTLS ? "certificate has expired" : nil
        var engine = FindingsEngine(FindingsLaboratory.configuration())
        engine.observe(record)
        let report = engine.report()
        let finding = try #require(report.findings.first)
        #expect(finding.urlTemplate.text == url)
        #expect(FindingsJSON.document(report).line.text.contains(#""scheme":"\#(scheme)""#))
        #expect(FindingsText.render(report, color: false).contains("      \(url)\n"))
    }

    @Test func keepsOneFindingForChangingPorts() throws {
        var engine = FindingsEngine(FindingsLaboratory.configuration())
        var fingerprints: [String] = []
        for port: UInt16 in [25, 587] {
            var sample = DialogueSample.noted("smtp", "plaintext-login:x")
            sample.port = port
            engine.observe(sample.connection)
            fingerprints += sample.report().findings.map(\.fingerprint)
        }
        let findings = engine.report().findings
        #expect(findings.map(\.urlTemplate.text) == ["smtp://mail.example"])
        #expect(findings.map(\.occurrences) == [2])
        #expect(Set(fingerprints + findings.map(\.fingerprint)).count == 1)
    }

    @Test func tellsProtocolsApart() {
        var engine = FindingsEngine(FindingsLaboratory.configuration())
        for name in ["smtp", "imap"] {
            engine.observe(DialogueSample.noted(name, "plaintext-login:x").connection)
        }
        #expect(engine.report().findings.count == 2)
    }

    @Test func blamesLoginAtProxyThere() throws {
        let sample = DialogueSample.noted(
            "http/1.1", "proxy-login:the client gave the proxy a password for s3cret-user")
        let report = sample.report()
        let finding = try #require(report.findings.first { $0.rule == .plainLogin })
        #expect(finding.urlTemplate.text == "socks://10.0.0.1:1080")
        #expect(!FindingsJSON.document(report).line.text.contains("s3cret-user"))
    }

    @Test func mindsLoopback() {
        var sample = DialogueSample.noted("smtp", "plaintext-login:x")
        sample.host = "127.0.0.1"
        #expect(sample.report().findings.map(\.severity) == [.info])
        #expect(sample.report(loopbackAsRemote: true).findings.map(\.severity) == [.critical])
    }

    @Test(arguments: plantedRows)
    func findsPlantedValues(
        _ name: String, _ sample: DialogueSample, _ severity: Severity?
    ) throws {
        let profile = try SubjectProfile.parse("password.main = pl4nted-Secret")
        for step in [1, 7, Int.max] {
            let report = sample.report(profile: profile, step: step)
            let found = report.findings.first { $0.rule == .plantSecret }
            #expect(found?.severity == severity)
            #expect(!FindingsJSON.document(report).line.text.contains("pl4nted"))
        }
    }

    @Test func letsOwnersHaveValuesInsideTLS() throws {
        let text = "owner: mail.example\npassword.main = pl4nted-Secret"
        let profile = try SubjectProfile.parse(text)
        var sample = DialogueSample.said("imap", .client("a LOGIN u pl4nted-Secret\r\n"))
        sample.isTLS = true
        #expect(sample.report(profile: profile).findings.isEmpty)
        sample.host = "other.example2"
        #expect(sample.report(profile: profile).findings.map(\.severity) == [.high])
    }

    struct Unread: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var protocolName = "unknown"
        var host = "app.example"
        var client = "gibberish\r\n"
        var isTLS = false
        var outcome = ConnectionRecord.Outcome.passedThrough
        var notes: [String] = []
        let reasons: [InconclusiveReason]
    }

    @Test(arguments: [
        Unread(testDescription: "words of no known protocol", reasons: [.notUnderstood]),
        Unread(testDescription: "on this machine", host: "127.0.0.1", reasons: []),
        Unread(
            testDescription: "of a known protocol", protocolName: "nats",
            client: "CONNECT {}\r\n", reasons: []),
        Unread(
            testDescription: "in a protocol that the origin alone named", protocolName: "nats",
            reasons: [.notUnderstood]),
        Unread(testDescription: "inside of TLS", isTLS: true, reasons: []),
        Unread(
            testDescription: "imported, HTTP that broke off", protocolName: "http/1.1",
            notes: ["imported-packets"], reasons: [.notUnderstood]),
        Unread(
            testDescription: "imported without keys", protocolName: "tls", isTLS: true,
            notes: ["imported-packets"], reasons: [.notDecrypted]),
        Unread(
            testDescription: "imported with gaps", protocolName: "smtp", outcome: .completed,
            notes: ["imported-packets", "packets-missing"], reasons: [.packetsMissing]),
        Unread(
            testDescription: "imported without its secrets", protocolName: "smtp",
            client: "EHLO app.example\r\n", outcome: .completed,
            notes: ["imported-packets", "secrets-masked"], reasons: [.secretsMasked]),
        Unread(
            testDescription: "imported and understood", protocolName: "smtp",
            client: "EHLO app.example\r\n", outcome: .completed, notes: ["imported-packets"],
            reasons: []),
    ])
    func nothingUnreadIsClean(_ row: Unread) {
        var sample = DialogueSample.said(row.protocolName, .client(row.client))
        sample.host = row.host
        sample.isTLS = row.isTLS
        var record = sample.connection
        record.outcome = row.outcome
        record.notes = row.notes.map { ConnectionNote($0, "") }
        var engine = FindingsEngine(FindingsLaboratory.configuration())
        engine.observe(record, messages: sample.gathered(step: 1))
        #expect(engine.report().inconclusive == row.reasons)
    }

    /// Each login is a finding of its kind, with who logged in and how, and shows neither.
    @Test(arguments: LoginVector.all) func findsLogins(_ vector: LoginVector) throws {
        let sample = DialogueSample.said(
            "unknown", .client(hex: vector.client), .origin(hex: vector.origin))
        let report = sample.report()
        let rule: RuleID = vector.isHash ? .hashLogin : .plainLogin
        let finding = try #require(report.findings.first { $0.rule == rule })
        #expect(report.findings.count { [.hashLogin, .plainLogin].contains($0.rule) } == 1)
        #expect(finding.severity >= .medium)
        #expect(finding.notes.contains { if case .loggedIn = $0 { true } else { false } })
        ReportTexts.expect(noneOf: [vector.user, vector.password, "Pr0be-S3cret"], in: report)
    }

    /// The secret, its name and every form of both stay out of all that a report can say.
    @Test(arguments: [
        "*3\r\n$4\r\nAUTH\r\n$10\r\nprobe.user\r\n$13\r\nPr0be-S3cret!\r\n",
        "STOMP\nlogin:probe.user\npasscode:Pr0be-S3cret!\n\n\0",
    ])
    func showsNoSecret(_ text: String) throws {
        var sample = DialogueSample.said("unknown", .client(text))
        sample.host = "Pr0be-S3cret!.example"
        let report = sample.report()
        let finding = try #require(report.findings.first { $0.rule == .plainLogin })
        #expect(finding.value?.kind == .password)
        for text in ReportTexts.all(report) {
            for form in ["S3cret", "s3cret", "probe.user", base64("Pr0be-S3cret!")] {
                #expect(!text.contains(form))
            }
        }
    }

    @Test func countsWhatWasLookedInto() {
        let report = DialogueSample.said("redis", .client("a"), .origin("b")).report()
        #expect(report.coverage.messages == 2)
        #expect(report.coverage.truncatedMessages == 0)
        #expect(FindingsText.render(report, color: false).contains(", 2 messages"))
    }
}

private typealias Row = DialogueRuleTests.Row

private let loginRows: [Row] = [
    .hit(
        "a guest", .plainLogin, .info,
        .said(
            "ftp", .origin("220 files\r\n"), .client("USER anonymous\r\nPASS a@b.example\r\n"),
            .origin("331 ?\r\n230 in\r\n")),
        notes: ["a guest's name and password", "the origin accepted it"]),
    .hit(
        "a guest's name with a password", .plainLogin, .critical,
        .said(
            "ftp", .origin("220 files\r\n"), .client("USER anonymous\r\nPASS s3cret\r\n"),
            .origin("331 ?\r\n230 in\r\n"))),
    .hit(
        "a miner without a password", .plainLogin, .info,
        .said(
            "jsonrpc",
            .client("{\"method\":\"mining.authorize\",\"params\":[\"nora.1\",\"d=512\"]}\n")),
        notes: ["logged in by a call", "a guest's name and password"]),
    .hit(
        "a wallet's short password", .plainLogin, .critical,
        .said(
            "jsonrpc",
            .client("{\"method\":\"walletpassphrase\",\"params\":[\"p=q\",60]}\n"))),
    .hit(
        "APOP", .hashLogin, .high,
        .said(
            "pop3", .origin("+OK <1@a>\r\n"),
            .client("APOP nora c4c9334bac560ecc979e58001b3e22fb\r\n")),
        notes: ["logged in by APOP"]),
    .hit(
        "SCRAM", .hashLogin, .low,
        .said(
            "smtp", .origin("220 a\r\n"),
            .client(
                "EHLO a\r\nAUTH SCRAM-SHA-256\r\n\(base64("n,,n=nora,r=abc"))\r\n"
                    + "\(base64("c=biws,r=abcdef,p=cHJvb2Y="))\r\n")),
        notes: ["logged in by SCRAM"]),
    .hit(
        "noted in mail", .plainLogin, .critical,
        .noted("smtp", "plaintext-login:the client logged in by AUTH PLAIN without TLS"),
        notes: ["logged in by AUTH PLAIN"]),
    .hit(
        "noted although TLS is offered", .plainLogin, .critical,
        .noted(
            "imap", "upgrade-offered:x",
            "plaintext-login:the client logged in by LOGIN although the origin offers TLS"),
        notes: ["logged in by LOGIN", "the origin offers TLS"]),
    .hit(
        "read in Redis", .plainLogin, .critical,
        .said("redis", .client("*2\r\n$4\r\nAUTH\r\n$2\r\npw\r\n"), .origin("+OK\r\n")),
        notes: ["logged in by AUTH", "the origin accepted it"]),
    .hit(
        "noted and read is one", .plainLogin, .critical,
        DialogueSample(
            protocolName: "ldap",
            notes: [.init("plaintext-login", "the client logged in by simple bind without TLS")],
            said: [
                .client(
                    hex: "30260201016021020103040d636e3d70726f62652c64633d78800d"
                        + "50723062652d53336372657421")
            ])),
    .silent(
        "an upgraded dialogue", .plainLogin, .noted("smtp", upgrade: "STARTTLS", "upgrade-asked:x")),
    .silent(
        "Redis inside of TLS", .plainLogin,
        DialogueSample(
            protocolName: "redis", isTLS: true,
            said: [.client("*2\r\n$4\r\nAUTH\r\n$2\r\npw\r\n")])),
    .silent(
        "Redis behind the switch", .plainLogin,
        DialogueSample(
            protocolName: "redis", upgrade: "ClientHello",
            said: [.client("*2\r\n$4\r\nAUTH\r\n$2\r\npw\r\n")])),
    .silent(
        "a server's words", .plainLogin,
        .said("ftp", .origin("530 Login incorrect.\r\n*2\r\n$4\r\nAUTH\r\n$2\r\npw\r\n"))),
    .silent("another note", .plainLogin, .noted("http/1.1", "http3-advertisement-removed:x")),
]

/// A question for what a device is called, in version 2c.
private func asked(_ community: String) -> [UInt8] {
    let content =
        [2, 1, 1, 4, UInt8(community.utf8.count)] + [UInt8](community.utf8)
        + [0xA0, 11, 2, 1, 7, 2, 1, 0, 2, 1, 0, 0x30, 0]
    return [0x30, UInt8(content.count)] + content
}

private let datagramRows: [Row] = [
    .hit(
        "SNMP", .plainLogin, .high,
        .datagrams("snmp", .client(asked("s3cret-c")), .client(asked("s3cret-c"))),
        notes: ["logged in by community"]),
    .hit(
        "SNMP with what devices begin with", .plainLogin, .low,
        .datagrams("snmp", .client(asked("public")), .client(asked(""))),
        notes: ["the community that devices begin with"]),
    .silent(
        "SNMP, version 3", .plainLogin,
        .datagrams(
            "snmp",
            .client(hex: "301f020103300d02010102020501040104020103040530030201000404303004000"))),
    .silent("what an agent answers", .plainLogin, .datagrams("snmp", .origin(asked("s3cret-c")))),
    .silent(
        "the start of a name server's message", .plainLogin,
        .datagrams("dns", .client(hex: "0501000100000000000001610474657374000001000100"))),
    .hit(
        "SIP", .plainLogin, .critical,
        .datagrams(
            "sip",
            .client("REGISTER sip:a SIP/2.0\r\nAuthorization: Basic \(base64("n:pw"))\r\n\r\n"))),
    .hit(
        "SIP, Digest", .hashLogin, .medium,
        .datagrams(
            "sip",
            .client("REGISTER sip:a SIP/2.0\r\nVia: x\r\n\r\n"),
            .client(
                "REGISTER sip:a SIP/2.0\r\nAuthorization: Digest username=\"n\", response=\"0a\"\r\n\r\n"
            ))),
]

private let upgradeRows: [Row] = [
    .hit(
        "offered, and logged in without it", .upgradeUnused, .high,
        .noted("smtp", "upgrade-offered:x", "plaintext-login:x"),
        notes: ["the origin offers TLS", "the client logged in all the same"]),
    .hit(
        "offered, and mail handed over", .upgradeUnused, .medium,
        DialogueSample(
            protocolName: "smtp", notes: [.init("upgrade-offered", "x")],
            said: [
                .origin("220 x\r\n"), .client("EHLO a\r\nmail from:<a@b>\r\n"),
                .origin("250 x\r\n"),
            ]), notes: ["mail was handed over in plain"]),
    .hit(
        "offered, and nothing happened", .upgradeUnused, .low,
        .noted("smtp", "upgrade-offered:x"), notes: ["no login was seen"]),
    .hit(
        "refused, and logged in", .upgradeUnused, .high,
        .noted("imap", "upgrade-asked:x", "upgrade-refused:x", "plaintext-login:x"),
        notes: ["the client asked for TLS, and the origin refused"]),
    .hit(
        "asked without an offer", .upgradeUnused, .high,
        .noted("smtp", "upgrade-asked:x", "upgrade-refused:x", "plaintext-login:x"),
        notes: ["no offer of TLS arrived: it may have been taken out on the way"]),
    .hit(
        "refused, and the client went away", .upgradeUnused, .low,
        .noted("postgresql", "upgrade-asked:x", "upgrade-refused:x")),
    .silent(
        "used", .upgradeUnused,
        .noted("smtp", upgrade: "STARTTLS", "upgrade-offered:x", "upgrade-asked:x")),
    .silent(
        "asked, and no answer came", .upgradeUnused,
        .noted("smtp", "upgrade-offered:x", "upgrade-asked:x")),
    .silent("none offered", .upgradeUnused, .noted("smtp", "plaintext-login:x")),
    .silent(
        "another encryption", .upgradeUnused,
        .noted("postgresql", "upgrade-refused:x", "other-encryption:x")),
    .hit(
        "plain bytes behind the switch", .upgradeInjection, .high,
        .noted("smtp", upgrade: "STARTTLS", "upgrade-injection:client sent 9 plain bytes"),
        notes: ["sent from the client's side"]),
    .hit(
        "by the origin", .upgradeInjection, .high,
        .noted("imap", upgrade: "STARTTLS", "upgrade-injection:origin sent 9 plain bytes"),
        notes: ["sent from the origin's side"]),
    .silent(
        "a clean switch", .upgradeInjection, .noted("smtp", upgrade: "STARTTLS", "upgrade-asked:x")),
]

private let plantedRows: [(String, DialogueSample, Severity?)] = [
    (
        "in cleartext", DialogueSample.said("unknown", .client("x=pl4nted-Secret\n")),
        Severity.critical
    ),
    (
        "across segments, Base64",
        .said(
            "smtp", .origin("220 x\r\n"), .client("AUTH PLAIN \(base64("\0u\0pl4"))"),
            .client("")), nil
    ),
    (
        "Base64 of the whole",
        .said(
            "smtp", .origin("220 x\r\n"), .client("AUTH PLAIN \(base64("\0u\0pl4nted-Secret"))")
        ),
        .critical
    ),
    ("another value", .said("unknown", .client("x=other-Secret\n")), nil),
]
