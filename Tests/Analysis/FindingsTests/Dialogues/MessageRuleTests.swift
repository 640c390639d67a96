import Base
import LoginRows
import Testing
import Traffic

@testable import Findings

@Suite struct MessageRuleTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let rule: RuleID
        let sample: WebSocketSample
        let severity: Severity?
        var selector: String?
        var testDescription: String { "\(rule.rawValue): \(name)" }

        init(
            _ name: String, _ rule: RuleID, _ severity: Severity?, _ sample: WebSocketSample,
            selector: String? = nil
        ) {
            self.name = name
            self.rule = rule
            self.sample = sample
            self.severity = severity
            self.selector = selector
        }
    }

    @Test(arguments: [
        Row(
            "JSON", .plainHTTPForm, .critical,
            .clear(.client(#"{"type":"login","user":"u","password":"tototo"}"#)),
            selector: "message /password"),
        Row(
            "Socket.IO", .plainHTTPForm, .critical,
            .clear(.client(#"42["login",{"pwd":"tototo"}]"#)), selector: "message /*/pwd"),
        Row("binary JSON", .plainHTTPForm, .critical, .binary(.client(#"{"passwd":"tototo"}"#))),
        Row("a form", .plainHTTPForm, .critical, .clear(.client("user=u&password=tototo"))),
        Row("from the origin", .plainHTTPForm, nil, .clear(.origin(#"{"password":"tototo"}"#))),
        Row("inside of TLS", .plainHTTPForm, nil, .secure(.client(#"{"password":"tototo"}"#))),
        Row("a placeholder", .plainHTTPForm, nil, .clear(.client(#"{"password":"***"}"#))),
        Row("passengers", .plainHTTPForm, nil, .clear(.client(#"{"passengers":"tototo"}"#))),
        Row("digits alone", .plainHTTPForm, nil, .clear(.client("12345678"))),
        Row(
            "a token", .plainHTTPBearer, .high,
            .clear(.client(#"{"type":"auth","token":"\#(exampleToken)"}"#)),
            selector: "message /token"),
        Row(
            "connection_init", .plainHTTPBearer, .high,
            .clear(
                .client(
                    #"{"type":"connection_init","payload":{"Authorization":"Bearer Zk3vQ9xW2pLr7Ty1"}}"#
                ))),
        Row("a cursor", .plainHTTPBearer, nil, .clear(.client(#"{"next":"Zk3vQ9xW2pLr7Ty1"}"#))),
        Row("a word", .plainHTTPBearer, nil, .clear(.client(#"{"token":"semicolon-or-comma"}"#))),
        Row(
            "a token inside of TLS", .plainHTTPBearer, nil,
            .secure(.client(#"{"token":"\#(exampleToken)"}"#))),
        Row(
            "an e-mail address", .personalEmail, .high,
            .clear(.client(#"{"mail":"nora@shop-one.test"}"#)), selector: "message /mail"),
        Row(
            "an e-mail address that comes", .personalEmail, nil,
            .clear(.origin(#"{"mail":"nora@shop-one.test"}"#))),
        Row(
            "an advertising identifier", .advertisingID, .high,
            .clear(.client(#"{"idfa":"6D92078A-8246-4BA4-AE5B-76104861E7DC","lmt":1}"#))),
        Row(
            "a UDID", .deviceUDID, .high,
            .clear(.client(#"{"d":"00008030-001A2D3E4F50802E"}"#)), selector: "message /d"),
        Row("a UUID", .deviceUDID, nil, .clear(.client(#"{"d":"6d92078a-8246-4ba4-ae5b-761"}"#))),
        Row(
            "MQTT in messages", .plainLogin, .critical,
            .binary(
                .client(
                    hex: "103600044d51545404ce001e00056369642d310003772f740003627965"
                        + "000a70726f62652e75736572000d50723062652d53336372657421"),
                .origin(hex: "20020000")), selector: "dialogue"),
        Row(
            "MQTT without a login", .plainLogin, nil,
            .binary(.client(hex: "101100044d5154540402001e00056369642d31"))),
    ])
    func judges(_ row: Row) {
        let found = row.sample.report().findings.filter { $0.rule == row.rule }
        #expect(found.map(\.severity).first == row.severity)
        if let selector = row.selector { #expect(found.first?.selector?.text == selector) }
        for finding in found {
            #expect(finding.urlTemplate.text == "http://chat.example:8080/socket/{id}")
            #expect(finding.exchanges == [7])
        }
    }

    /// Who a user is told to is the same inside of TLS.
    @Test func findsPersonalValuesInsideOfTLS() {
        let sample = WebSocketSample.secure(
            .client(#"{"udid":"00008030-001A2D3E4F50802E","mail":"nora@shop-one.test"}"#))
        let found = sample.report().findings.filter {
            [.deviceUDID, .personalEmail].contains($0.rule)
        }
        #expect(found.map(\.rule) == [.deviceUDID, .personalEmail])
        #expect(found.map(\.severity) == [.high, .low])
    }

    @Test(arguments: plantedRows)
    func findsPlantedValues(_ sample: WebSocketSample, _ severity: Severity?) throws {
        let profile = try SubjectProfile.parse("owner: x.example9\npassword.main = pl4nted-Secret")
        let report = sample.report(profile: profile)
        let found = report.findings.filter { $0.rule == .plantSecret }
        #expect(found.map(\.severity) == (severity.map { [$0] } ?? []))
        #expect(!FindingsJSON.document(report).line.text.contains("pl4nted"))
    }

    @Test func boundsFindingsOfOneSocket() {
        var sample = WebSocketSample()
        sample.said = (0..<2000).map { .client(#"{"p\#($0)":{"password":"tototo"}}"#) }
        let report = sample.report()
        #expect(report.findings.reduce(0) { $0 + $1.occurrences } <= 128)
    }

    @Test(arguments: [true, false])
    func skipsMessagesThatCanShowNothing(_ isTLS: Bool) throws {
        var sample = DialogueSample.said("redis", .client("x"))
        sample.isTLS = isTLS
        let plain = FindingsEngine(FindingsLaboratory.configuration())
        #expect(plain.wantsMessages(of: sample.connection) == !isTLS)
        let profile = try SubjectProfile.parse("password.main = pl4nted-Secret")
        let seeking = FindingsEngine(FindingsLaboratory.configuration(profile: profile))
        #expect(seeking.wantsMessages(of: sample.connection))
        sample.said = []
        #expect(!seeking.wantsMessages(of: sample.connection))
    }

    @Test(arguments: [
        (
            "GET / HTTP/2.0\r\nhost: a.example\r\nauthorization: Basic dGVzdDoxOjM0\r\n\r\n", true,
            true
        ),
        ("CONNECT a.example:80 HTTP/2.0\r\nhost: a.example:80\r\n\r\n", false, false),
        (
            "CONNECT /chat HTTP/2.0\r\n:protocol: websocket\r\nhost: a.example\r\n\r\n", true, false
        ),
    ])
    func countsHTTP2InClear(_ head: String, _ isClear: Bool, _ isLogin: Bool) {
        var record = ExchangeRecord(
            id: 1, connection: 1, startedAt: .init(microseconds: 1), scheme: .http,
            authority: "a.example")
        record.requestHead = Array(head.utf8)
        record.protocolName = "HTTP/2"
        var engine = FindingsEngine(FindingsLaboratory.configuration())
        engine.observe(record, on: nil, requestBody: [], responseBody: [])
        let rules = engine.report().findings.map(\.rule)
        #expect(rules.contains(.clearHTTP) == isClear)
        #expect(rules.contains(.plainHTTPBasic) == isLogin)
    }
}

private let plantedRows: [(WebSocketSample, Severity?)] = [
    (WebSocketSample.clear(.client(#"{"m":"pl4nted-Secret"}"#)), Severity.critical),
    (.clear(.client("say pl4nted-Secret now")), .critical),
    (.clear(.client("say \(base64("....pl4nted-Secret"))")), .critical),
    (.secure(.client(#"{"m":"pl4nted-Secret"}"#)), .high),
    (.clear(.origin("pl4nted-Secret")), .critical),
    (.clear(.client("pl4nted"), .client("-Secret")), nil),
]
