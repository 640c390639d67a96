import Base
import LoginRows
import Testing
import Traffic

@testable import Findings

@Suite struct ReportTests {
    @Test func consolidatesByTemplate() throws {
        let traffic = (1...40).map { number in
            Sample(target: "/users/\(number)", headers: ["Authorization: Basic dGVzdDoxOjM0"])
        }
        let findings = FindingsLaboratory.run(traffic).findings.filter {
            $0.rule == .plainHTTPBasic
        }
        let finding = try #require(findings.first)
        #expect(findings.count == 1)
        #expect(finding.occurrences == 40)
        #expect(finding.urlTemplate.text == "http://api.example/users/{id}")
        #expect(finding.exchanges == [1, 2, 3])
        #expect(finding.firstSeen == Timestamp(microseconds: 1_000_000))
        #expect(finding.lastSeen == Timestamp(microseconds: 40_000_000))
    }

    @Test(arguments: [(5, 5, false), (6, 1, true), (60, 1, true)])
    func rollsUpManyPlaces(_ places: Int, _ expected: Int, _ isRolledUp: Bool) {
        let letters = Array("abcdefghijklmnopqrstuvwxyz")
        let traffic = (0..<places).map { number in
            Sample(
                target: "/p-\(letters[number % 26])\(letters[number / 26])",
                headers: ["Authorization: Basic dGVzdDoxOjM0"])
        }
        let findings = FindingsLaboratory.run(traffic).findings.filter {
            $0.rule == .plainHTTPBasic
        }
        #expect(findings.count == expected)
        #expect(findings.allSatisfy { $0.isRolledUp == isRolledUp })
        #expect(findings.reduce(0) { $0 + $1.occurrences } == places)
    }

    @Test func boundsTables() {
        var engine = FindingsEngine(FindingsLaboratory.configuration())
        for number in 0..<6000 {
            let name = "c" + String(number, radix: 26, uppercase: false)
            Sample(host: "h.\(name).example\(number)").feed(&engine, id: Int64(number + 1))
        }
        let report = engine.report()
        #expect(report.findings.count == 4097)
        #expect(report.inconclusive == [.truncated])
        #expect(report.findings.reduce(0) { $0 + $1.occurrences } == 6000)
    }

    @Test func keepsFingerprintsAcrossRuns() {
        let one = Sample(
            target: "/a/17", headers: ["Authorization: Basic \(base64("u:secret-one"))"])
        let two = Sample(
            target: "/a/99", headers: ["Authorization: Basic \(base64("v:another2"))"])
        var first = FindingsEngine(FindingsLaboratory.configuration(runKey: 1))
        var second = FindingsEngine(FindingsLaboratory.configuration(runKey: 2))
        one.feed(&first, id: 1)
        two.feed(&second, id: 500)
        let (left, right) = (first.report().findings, second.report().findings)
        #expect(left.map(\.fingerprint) == right.map(\.fingerprint))
        #expect(left.allSatisfy { $0.fingerprint.utf8.count == 32 })
        #expect(left.compactMap(\.value?.tag) != right.compactMap(\.value?.tag))
    }

    @Test func tagsCorrelateWithinRun() {
        let traffic = ["a.example", "b.example"].map {
            Sample(host: $0, headers: ["Authorization: Bearer Zk3vQ9xW2pLr7Ty1"])
        }
        let findings = FindingsLaboratory.run(traffic).findings.filter {
            $0.rule == .plainHTTPBearer
        }
        #expect(findings.count == 2)
        #expect(Set(findings.compactMap(\.value?.tag)).count == 1)
    }

    @Test(arguments: [[0, 1], [1, 0], [0, 1, 0]])
    func tentativeNeverHidesFirm(_ order: [Int]) {
        let values = ["Zk3vQ9xW2pLr", "Zk3vQ9xW2pLr7Ty1aB4d"]
        let report = FindingsLaboratory.run(order.map { .clear("Cookie: sid=\(values[$0])") })
        let cookies = report.findings.filter { $0.rule == .plainHTTPCookie }
        #expect(cookies.map(\.severity) == [.medium])
        #expect(cookies.map(\.confidence) == [.firm])
        #expect(cookies.map(\.occurrences) == [order.count])
        let alone = FindingsLaboratory.run([.clear("Cookie: sid=\(values[0])")])
        #expect(alone.findings.first { $0.rule == .plainHTTPCookie }?.confidence == .tentative)
    }

    @Test func lowersLoopbackUnlessTold() {
        let traffic = [
            Sample(host: "127.0.0.1:80", headers: ["Authorization: Basic dGVzdDoxOjM0"])
        ]
        let local = FindingsLaboratory.run(traffic)
        #expect(local.findings.map(\.severity) == [.info])
        #expect(local.findings.first?.notes.contains(.staysLocal(.critical)) == true)
        let remote = FindingsLaboratory.run(traffic, loopbackAsRemote: true)
        #expect(remote.findings.map(\.severity) == [.critical, .medium])
        let texts = remote.findings.flatMap(\.notes).map(\.text)
        #expect(!texts.contains { $0.contains("--loopback-as-remote") })
    }

    /// Another tool's proxy is one that the client will meet again.
    @Test(arguments: [
        ("127.0.0.1", false, Severity.info), ("192.0.2.1", false, .info),
        ("192.0.2.1", true, .critical),
    ])
    func ownProxyIsInfo(_ listener: String, _ isImported: Bool, _ severity: Severity) {
        var connection = ConnectionRecord(
            id: 1, openedAt: Timestamp(microseconds: 1), client: "10.0.0.2:1",
            listener: "\(listener):8080", mode: .explicit)
        if isImported { connection.notes.append(ConnectionNote("imported", "from a HAR")) }
        connection.originHost = "api.example"
        var engine = FindingsEngine(FindingsLaboratory.configuration())
        Sample.clear("Proxy-Authorization: Basic dXNlcjpwYXNz").feed(
            &engine, id: 1, connection: connection)
        let finding = engine.report().findings.first { $0.rule == .plainHTTPProxy }
        #expect(finding?.severity == severity)
        #expect(finding?.party.text == listener)
    }

    @Test(arguments: [
        ([ConnectionRecord.Outcome](), [InconclusiveReason.nothingRecorded]),
        ([.clientRefused, .clientRefused], [.everyClientRefused]),
        ([.clientRefused, .completed], []), ([.completed], []),
        ([.passedThrough], [.everythingPassed]),
    ])
    func tellsInconclusive(_ outcomes: [ConnectionRecord.Outcome], _ reasons: [InconclusiveReason])
    {
        var engine = FindingsEngine(FindingsLaboratory.configuration())
        for (index, outcome) in outcomes.enumerated() {
            var record = ConnectionRecord(
                id: Int64(index), openedAt: Timestamp(microseconds: 1), client: "c", listener: "l",
                mode: .explicit)
            record.clientTLS = TLSRecord()
            record.outcome = outcome
            record.exchangeCount = outcome == .completed ? 1 : 0
            engine.observe(record)
        }
        #expect(engine.report().inconclusive == reasons)
    }

    /// Whom refusals have let through was refused all the same, whatever was seen in cleartext.
    @Test(arguments: [true, false]) func lettingThroughIsNoLook(_ isForDistrust: Bool) {
        var engine = FindingsEngine(FindingsLaboratory.configuration())
        for outcome in [ConnectionRecord.Outcome.clientRefused, .passedThrough] {
            var record = ConnectionRecord(
                id: outcome == .clientRefused ? 1 : 2, openedAt: Timestamp(microseconds: 1),
                client: "c", listener: "l", mode: .explicit)
            record.clientTLS = TLSRecord()
            record.outcome = outcome
            if isForDistrust, outcome == .passedThrough {
                record.notes.append(ConnectionNote("client-distrusts", "3 times"))
            }
            engine.observe(record)
        }
        Sample.get("/", over: .http).feed(&engine, id: 1)
        #expect(engine.report().inconclusive == (isForDistrust ? [.everyClientRefused] : []))
    }

    struct Seen: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let protocolName: String
        let host: String
        let isTLS: Bool
        let outcome: ConnectionRecord.Outcome

        init(
            _ name: String, _ protocolName: String = "", host: String = "app.example",
            isTLS: Bool = false, _ outcome: ConnectionRecord.Outcome = .completed
        ) {
            (testDescription, self.protocolName, self.host) = (name, protocolName, host)
            (self.isTLS, self.outcome) = (isTLS, outcome)
        }
    }

    /// A connection is no traffic: without a request or a message nothing was judged.
    @Test(arguments: [
        ([Seen("QUIC refused", "quic", isTLS: true, .refused)], [InconclusiveReason.datagrams]),
        ([Seen("UDP refused", "udp", .refused)], [.datagrams]),
        ([Seen("the tool's page", "http/1.1", host: "sallyport.test")], [.ownPage]),
        ([Seen("not a word")], [.nothingSaid]),
        ([Seen("a handshake", "tls", isTLS: true)], [.nothingSaid]),
        ([Seen("not a word"), Seen("UDP", "udp", .refused)], [.datagrams]),
        (
            [Seen("UDP", "udp", .refused), Seen("refused", "tls", isTLS: true, .clientRefused)],
            [.everyClientRefused, .datagrams]
        ),
        (
            [Seen("UDP", "udp", .refused), Seen("passed", "tls", isTLS: true, .passedThrough)],
            [.everythingPassed, .datagrams]
        ),
    ])
    func connectionsAloneAreNotClean(_ seen: [Seen], _ reasons: [InconclusiveReason]) {
        var engine = FindingsEngine(FindingsLaboratory.configuration())
        for (index, row) in seen.enumerated() {
            var record = ConnectionRecord(
                id: Int64(index + 1), openedAt: Timestamp(microseconds: 1), client: "c",
                listener: ["quic", "udp"].contains(row.protocolName) ? "udp" : "l", mode: .captured)
            record.protocolName = row.protocolName
            record.originHost = row.host
            record.clientTLS = row.isTLS ? TLSRecord() : nil
            record.outcome = row.outcome
            engine.observe(record)
        }
        #expect(engine.report().inconclusive == reasons)
        Sample(scheme: .https).feed(&engine, id: 1)
        let more = engine.report().inconclusive
        #expect(more == reasons.filter { $0 == .everyClientRefused })
    }

    /// What the tool's own page looks like to a client says nothing of the client's service.
    @Test func doesNotJudgeTheOwnPage() {
        var record = ConnectionRecord(
            id: 1, openedAt: Timestamp(microseconds: 1), client: "c", listener: "l",
            mode: .explicit)
        record.clientTLS = TLSRecord()
        record.clientTLS?.clientHello = ConnectionDetectorTests.hello(0x0301, [0xC02F], nil)
        var engine = FindingsEngine(FindingsLaboratory.configuration())
        record.originHost = "sallyport.test"
        #expect(engine.observe(record).isEmpty)
        record.originHost = "shop.example"
        #expect(!engine.observe(record).isEmpty)
    }

    /// One line says what the exit code says.
    @Test(arguments: [
        (
            Severity.high, true, nil,
            "verdict: findings: 1 finding fails (--fail-on high); not every"
        ),
        (.critical, true, "1 request had no recorded answer", "verdict: findings: 1 finding fails"),
        (
            .critical, false, "1 request had no recorded answer",
            "verdict: missed: 1 request had no recorded answer; not everything was seen: nothing"
        ),
        (.high, false, nil, "verdict: inconclusive: nothing was recorded; the command failed"),
    ])
    func verdictOutweighs(
        _ severity: Severity, _ isFound: Bool, _ missed: String?, _ opening: String
    ) {
        var configuration = FindingsLaboratory.configuration()
        configuration.policy.gate.standard = .init(severity)
        var engine = FindingsEngine(configuration)
        if isFound {
            Sample.clear("Authorization: Basic dGVzdDoxOjM0").feed(&engine, id: 1)
        }
        let report = engine.report()
        let verdict = GateVerdict(
            report, besides: [.init(code: "command-failed", text: "the command failed")],
            missed: missed)
        #expect(verdict.text.hasPrefix(opening), "\(verdict.text)")
        let texts = verdict.reasons.map(\.text)
        let sarif = report.sarif(toolVersion: "0", capture: "c", reasons: texts).line.text
        #expect(sarif.contains(#""executionSuccessful":false"#))
        #expect(sarif.contains(#""message":{"text":"the command failed"}"#))
        let junit = report.junit(toolVersion: "0", capture: "c", reasons: texts)
        #expect(junit.contains(#"errors="1""#) && junit.contains("<error message="))
    }

    @Test func cleanVerdicts() {
        let report = FindingsLaboratory.run([
            Sample(
                scheme: .https, responseHeaders: ["Strict-Transport-Security: max-age=31536000"])
        ])
        #expect(GateVerdict(report).text == "verdict: clean")
        let sarif = report.sarif(toolVersion: "0", capture: "c", reasons: []).line.text
        #expect(sarif.contains(#""executionSuccessful":true"#))
        #expect(report.junit(toolVersion: "0", capture: "c", reasons: []).contains(#"errors="0""#))
        let mild = FindingsLaboratory.run([.get("/", over: .http)])
        #expect(GateVerdict(mild).text == "verdict: clean: nothing fails (--fail-on high)")
    }

    /// What the tool answered in an origin's place tells nothing of the origin.
    @Test(arguments: [
        ([true], [InconclusiveReason.noOriginAnswered]), ([true, true], [.noOriginAnswered]),
        ([true, false], []), ([false], []),
    ])
    func tellsThatNoOriginAnswered(_ areOwn: [Bool], _ reasons: [InconclusiveReason]) {
        let report = FindingsLaboratory.run(
            areOwn.map { Sample(scheme: .https, status: $0 ? 502 : 200, answeredByTool: $0) })
        #expect(report.inconclusive == reasons)
    }

    /// A dialogue has no exchanges; what its origin said was heard all the same.
    @Test(arguments: [
        (ConnectionRecord.Outcome.originUnreachable, Int64(0), [.noOriginAnswered]),
        (.originUntrusted, 3_000, [.noOriginAnswered]),
        (.completed, 3_000, [InconclusiveReason]()),
    ])
    func hearsDialogues(
        _ outcome: ConnectionRecord.Outcome, _ bytes: Int64, _ reasons: [InconclusiveReason]
    ) {
        var engine = FindingsEngine(FindingsLaboratory.configuration())
        for (id, outcome) in [(1, outcome), (2, .originUnreachable)] {
            var record = ConnectionRecord(
                id: Int64(id), openedAt: Timestamp(microseconds: 1), client: "c", listener: "l",
                mode: .explicit)
            record.outcome = outcome
            record.originBytes = ByteCount(received: id == 1 ? bytes : 0, sent: 0)
            record.messageCount = outcome == .completed ? 1 : 0
            engine.observe(record)
        }
        #expect(engine.report().inconclusive == reasons)
    }

    /// Two services on one host are two places, but what has another port in each run is one.
    @Test(arguments: [
        (
            ["h.example:8081", "h.example:8082"],
            ["http://h.example:8081/a", "http://h.example:8082/a"]
        ),
        (["h.example:80", "h.example"], ["http://h.example/a"]),
        (["h.example:443"], ["http://h.example:443/a"]),
        (["h.example:40001"], ["http://h.example:40001/a"]),
        (["h.example:40001", "h.example:40002"], ["http://h.example/a"]),
        (["[2001:db8::7]:8081"], ["http://[2001:db8::7]:8081/a"]),
    ])
    func tellsPortsApart(_ hosts: [String], _ places: [String]) {
        let report = FindingsLaboratory.run(
            hosts.map {
                Sample(host: $0, target: "/a", headers: ["Authorization: Basic dGVzdDoxOjM0"])
            })
        let found = report.findings.filter { $0.rule == .plainHTTPBasic }
        #expect(found.map(\.urlTemplate.text).sorted() == places)
        #expect(Set(found.map(\.fingerprint)).count == places.count)
        #expect(Set(found.map(\.service)).count == places.count)
        let sarif = report.sarif(toolVersion: "0", capture: "c", reasons: [])
        for service in found.map(\.service) {
            #expect(sarif.line.text.contains(#"{"fullyQualifiedName":"\#(service)"}"#))
        }
    }

    /// A fingerprint is that of the next run, in which a free port is another one.
    @Test(arguments: [
        ("h.example:40001", "h.example:50001", true), ("h.example:81", "h.example:82", false),
    ])
    func keepsFreePortsOutOfFingerprints(_ one: String, _ other: String, _ areSame: Bool) {
        let prints = [one, other].map { host in
            FindingsLaboratory.run([
                Sample(host: host, headers: ["Authorization: Basic dGVzdDoxOjM0"])
            ]).findings.map(\.fingerprint)
        }
        #expect((prints[0] == prints[1]) == areSame)
    }

    @Test func rendersText() {
        let report = FindingsLaboratory.run([
            Sample(target: "/login/17", headers: ["Authorization: Basic dGVzdDoxOjM0"])
        ])
        let text = FindingsText.render(report, color: false)
        #expect(text.hasPrefix("findings: 1 critical, 1 medium; looked at 1 exchange"))
        #expect(
            text.contains(
                """

                CRITICAL
                  PLAIN-HTTP-BASIC  Basic credentials over cleartext HTTP
                    why    \(RuleID.plainHTTPBasic.text.reason)
                    fix    \(RuleID.plainHTTPBasic.text.advice)
                    at     api.example
                      GET http://api.example/login/{id}
                        header authorization  (certain, fails)  once, exchange 1
                          what   password, <8 characters of digit, symbol, tag
                """))
        #expect(text.contains("note   the origin accepted it"))
        #expect(!text.contains("\u{1B}"))
        #expect(FindingsText.render(report, color: true).contains("\u{1B}[1;31mCRITICAL"))
    }

    /// What is mild is a line for each rule, unless it fails or is asked for.
    @Test(arguments: [(false, Severity.high, true), (true, .high, false), (false, .info, false)])
    func foldsWhatIsMild(_ isVerbose: Bool, _ level: Severity, _ isFolded: Bool) {
        var configuration = FindingsLaboratory.configuration()
        configuration.policy.gate = FindingsGate(.init(level))
        var engine = FindingsEngine(configuration)
        for (id, name) in ["a", "b"].enumerated() {
            Sample(host: "127.0.0.1", target: "/\(name)", headers: [FindingsPolicyTests.basic])
                .feed(&engine, id: Int64(id + 1))
        }
        let text = FindingsText.render(engine.report(), verbose: isVerbose, color: false)
        let line =
            "\nINFO\n  PLAIN-HTTP-BASIC  Basic credentials over cleartext HTTP: 2 places at"
            + " 127.0.0.1\n    note   it stays on this machine; with --loopback-as-remote it is"
            + " critical\n"
        #expect(text.contains(line) == isFolded)
        #expect(text.contains("GET http://127.0.0.1/b\n") != isFolded)
    }

    @Test func showsSomePlacesOfMany() {
        let report = FindingsLaboratory.run(
            "abcdefghijklmnopqrst".map {
                Sample(host: "\($0).example", headers: [FindingsPolicyTests.basic])
            })
        let text = FindingsText.render(report, color: false)
        #expect(text.contains("\n      and 8 places more; --verbose lists them\n"))
        let all = FindingsText.render(report, verbose: true, color: false)
        #expect(all.contains("GET http://t.example/\n") && !all.contains("more; --verbose"))
    }

    @Test func rendersJSON() {
        let report = FindingsLaboratory.run([
            Sample(target: "/q?a=1", headers: ["Authorization: Basic dGVzdDoxOjM0"])
        ])
        let text = FindingsJSON.document(report).line.text
        #expect(
            text.hasPrefix("{\"schema\":\"sallyport.findings/1\",\"coverage\":{\"exchanges\":1,"))
        #expect(text.hasSuffix("]}"))
        var rules: [String] = []
        let isWhole = JSONScalars.read(Array(text.utf8)) { path, _, value in
            if path.last == Array("rule".utf8) {
                rules.append(String(decoding: value, as: UTF8.self))
            }
            return true
        }
        #expect(isWhole)
        #expect(rules == ["PLAIN-HTTP-BASIC", "CLEAR-HTTP"])
    }
}
