import Base
import LoginRows
import Testing
import Traffic

@testable import Findings
@testable import Logins

@Suite struct FindingsPolicyTests {
    // MARK: The file

    @Test func readsAll() throws {
        let policy = try Self.policy(
            """
            # what we hold the client to
            first-party = shop.example
            first-party = *.shop-cdn.example
            cleartext-host = *.printer.example
            profile = subject.profile
            population = 2500
            [budget]
            requests = 25
            bytes = 524288
            seconds = 30
            [gate]
            fail-on = low tentative
            URL-TOKEN = never
            CLEAR-HTTP = medium
            [expect]
            host = api.shop.example
            exchanges = 3
            [suppress]
            rule = URL-TOKEN
            service = shop.example
            path = /search/*
            field = query sid
            reason = the old search
            owner = nora
            expires = 2026-03-31
            [suppress]
            fingerprint = 02DD82CB1339000FAD3EE837E00138E2
            reason = a laboratory
            expires = never
            """)
        #expect(policy.firstParties == ["shop.example", "shop-cdn.example"])
        #expect(policy.gate.standard == .init(.low, .tentative))
        #expect(policy.gate.rules == [.urlToken: .init(nil), .clearHTTP: .init(.medium)])
        #expect(policy.profileFile == "ci/subject.profile")
        #expect(policy.expectations.count == 2)
        #expect(policy.population == 2500)
        #expect(policy.budget == [.requests: 25, .bytes: 524_288, .seconds: 30])
        #expect(policy.suppressions.map(\.line) == [18, 26])
        #expect(
            policy.suppressions.map(\.subject) == [
                "URL-TOKEN at shop.example/search/* query sid", "02dd82cb1339000fad3ee837e00138e2",
            ])
        #expect(
            policy.suppressions.map(\.justification) == [
                "the old search; owner nora; until 2026-03-31", "a laboratory",
            ])
        #expect(try Self.policy("").suppressions.isEmpty)
    }

    /// The window is what is judged.
    @Test(arguments: [
        ("requests = 2", []), ("requests = 1", ["2 requests of 1 request that the policy allows"]),
        ("bytes = 10", []), ("bytes = 9", ["10 bytes of 9 bytes that the policy allows"]),
        ("seconds = 40", []), ("seconds = 39", ["40 s of 39 s that the policy allows"]),
        ("", []),
    ])
    func keepsToABudget(_ text: String, _ notes: [String]) throws {
        var configuration = FindingsLaboratory.configuration()
        configuration.policy = try Self.policy("[budget]\n" + text)
        var engine = FindingsEngine(configuration)
        for (index, seconds) in [10, 50].enumerated() {
            var exchange = ExchangeRecord(
                id: Int64(index + 1), connection: 1,
                startedAt: Timestamp(microseconds: Int64(seconds) * 1_000_000), scheme: .https,
                authority: "a.example")
            exchange.requestHead = Array("GET / HTTP/1.1\r\n\r\n".utf8)
            exchange.responseBody.size = 5
            exchange.durationMicroseconds = 100
            engine.observe(exchange, on: nil, requestBody: [], responseBody: [])
        }
        for _ in 0..<2 {
            let found = engine.report().findings.filter { $0.rule == .economyBudget }
            #expect(found.flatMap { $0.notes.map(\.text) } == notes)
            #expect(found.allSatisfy { $0.severity == .medium && $0.confidence == .certain })
        }
    }

    struct Refusal: Sendable, CustomTestStringConvertible {
        let text: String
        /// Line and column, and what is said.
        let detail: String
        var hint = ""
        var testDescription: String { detail }

        init(_ text: String, _ detail: String, _ hint: String = "") {
            (self.text, self.detail, self.hint) = (text, detail, hint)
        }

        static func suppression(_ text: String, _ detail: String, _ hint: String = "") -> Refusal {
            Refusal("[suppress]\n" + text, detail, hint)
        }
    }

    @Test(arguments: refusals)
    func refuses(_ row: Refusal) {
        let failure = #expect(throws: Failure.self) { try Self.policy(row.text) }
        #expect(failure?.code == "policy-invalid")
        #expect(failure?.detail == "ci/p.policy:" + row.detail)
        #expect(failure?.hint?.contains(row.hint) == true)
    }

    private static let place = "rule = URL-TOKEN\nservice = a.example\n"
    private static let refusals: [Refusal] = [
        Refusal(
            "a b", "1:1: expected 'name = value' or '[section]'", "gate, budget, expect, suppress"),
        Refusal("\n [gat]", "2:2: there is no section 'gat'", "did you mean 'gate'?"),
        Refusal("first-part = a", "1:1: there is no setting 'first-part'", "'first-party'?"),
        Refusal("profile", "1:1: 'profile' has no value", "'profile = VALUE'"),
        Refusal("cleartext-host =  a/b", "1:19: 'a/b' is no host", "*.shop.example"),
        Refusal("profile = a\nprofile = b", "2:1: 'profile' is given twice"),
        Refusal("[gate]\nfail-on = hihg", "2:11: there is no severity 'hihg'", "'high'?"),
        Refusal("[gate]\nfail-on = high sure", "2:11: there is no confidence 'sure'", "firm"),
        Refusal(
            "[gate]\nfail-on = a b c", "2:11: a severity and a confidence are needed, not 'a b c'"),
        Refusal(
            "[gate]\nURL-TOKENS = low", "2:1: there is no rule 'URL-TOKENS'",
            "did you mean 'URL-TOKEN'?"),
        Refusal("[gate]\nURL-TOKEN = low\nURL-TOKEN = low", "3:1: 'URL-TOKEN' is given twice"),
        Refusal("[budget]\nbytes = -1", "2:9: a number from 0 is needed, not '-1'"),
        Refusal("[budget]\nbites = 1", "2:1: there is no budget 'bites'", "did you mean 'bytes'?"),
        Refusal("[budget]\nbytes = 1\nbytes = 2", "3:1: 'bytes' is given twice"),
        Refusal("population = few", "1:14: a number from 1 is needed, not 'few'"),
        Refusal("[gate]\nfail-on = low\nfail-on = never", "3:1: 'fail-on' is given twice"),
        Refusal("[gate]\nwaive = truncated", "2:9: only 'partly-read' can be waived"),
        Refusal("[expect]\nexchanges = no", "2:13: a number from 1 is needed, not 'no'"),
        .suppression(
            place + "expires = never", "1:1: a suppression needs a reason", "'reason = "),
        .suppression(
            place + "reason =\nexpires = never", "4:1: 'reason' has no value"),
        .suppression(place + "reason = x", "1:1: a suppression needs an end", "expires = never"),
        .suppression(
            place + "reason = x\nexpires = 2026-02-30", "5:11: '2026-02-30' is no day", "2027"),
        .suppression(place + "reason = x\nexpires = soon", "5:11: 'soon' is no day"),
        .suppression(place + "reason = x\nexpires = 26-3-1", "5:11: '26-3-1' is no day"),
        .suppression(
            "rule = URL-TOKEN\nreason = x\nexpires = never",
            "1:1: a suppression needs a rule and a service, or a fingerprint", "= never"),
        .suppression(
            place + "fingerprint = 0\nreason = x\nexpires = never",
            "4:1: a fingerprint says the rule and the place already"),
        .suppression(
            "fingerprint = 0\nreason = x\nexpires = never",
            "2:15: a fingerprint has 32 hexadecimal digits"),
    ]

    /// Whatever a policy says, none of it acts on a terminal, nor fills it.
    @Test func showsNothingThatActs() throws {
        let raw = "x\u{1B}]0;title\u{07}\u{202E}y"
        let place = Self.suppression("service = \(raw)\npath = /\(raw)\nfield = \(raw)")
        let report = try Self.report([], place + "\n[expect]\nplanted = \(raw)")
        let texts =
            ReportFormat.allCases.map { report.document($0, of: ReportTexts.subject).text }
            + [false, true].map { FindingsText.render(report, verbose: $0, color: true) }
        for text in texts {
            #expect(!text.contains("\u{07}") && !text.contains("\u{202E}"))
            #expect(!text.contains("\u{1B}]"))
        }
        for text in ["[gate]\n" + String(repeating: "a", count: 4 << 20) + " = low", raw + " = 1"] {
            do {
                _ = try Self.policy(text)
                Issue.record("a policy was taken")
            } catch {
                #expect(error.detail.utf8.count < 2000 && !error.detail.contains("\u{07}"))
            }
        }
    }

    /// What a policy lets pass is told wherever a verdict is.
    @Test func tellsWhatItLetsPass() throws {
        let report = try Self.report(
            [.clear(Self.basic)],
            "first-party = evil.example\n[gate]\nPLAIN-HTTP-BASIC = never")
        #expect(!report.isFailed)
        let rule = "not failed by its own level: 1 critical by ci/p.policy:3"
        let parties = "first parties by ci/p.policy: evil.example"
        for format in [ReportFormat.sarif, .junit, .html, .annotations, .summary] {
            let text = report.document(format, of: ReportTexts.subject).text
            #expect(text.contains(rule) && text.contains(parties), "\(format)")
        }
        #expect(FindingsText.render(report, color: false).contains(rule))
        let json = report.document(.json, of: ReportTexts.subject).text
        #expect(
            json.contains(#""gateRules":[{"rule":"PLAIN-HTTP-BASIC","failOn":"never","line":3}]"#))
        #expect(json.contains(#""firstParties":["evil.example"]"#))
    }

    @Test func refusesExpectationsWithoutProfile() throws {
        let policy = try Self.policy("[expect]\nplanted = password.acount")
        let profile = try SubjectProfile.parse("password.account = correct-horse-7")
        let none = #expect(throws: Failure.self) { try policy.check(against: nil) }
        #expect(none?.detail == "ci/p.policy:2:1: no profile has a value 'password.acount'")
        #expect(none?.hint?.contains("--profile") == true)
        let near = #expect(throws: Failure.self) { try policy.check(against: profile) }
        #expect(near?.hint == "did you mean 'password.account'?")
    }

    // MARK: What becomes of findings

    @Test(arguments: [
        ("", true), ("[gate]\nfail-on = critical", true), ("[gate]\nfail-on = never", false),
        ("[gate]\nPLAIN-HTTP-BASIC = never", false),
        ("[gate]\nPLAIN-HTTP-BASIC = never\nCLEAR-HTTP = medium", true),
        ("[gate]\nPLAIN-HTTP-BASIC = never\nfail-on = medium", true),
        ("[gate]\nfail-on = never\nCLEAR-HTTP = info certain", true),
    ])
    func gates(_ text: String, _ isFailed: Bool) throws {
        let report = try Self.report([.clear(Self.basic)], text)
        #expect(report.isFailed == isFailed)
        #expect(report.findings.allSatisfy { $0.state == .open })
    }

    @Test func gatesByConfidence() throws {
        let sample = Sample.clear("Cookie: sid=Zk3vQ9xW2pLr")
        let guesses = "[gate]\nCLEAR-HTTP = never\nfail-on = low"
        #expect(try !Self.report([sample], guesses).isFailed)
        #expect(try Self.report([sample], guesses + " tentative").isFailed)
    }

    struct SuppressionRow: Sendable, CustomTestStringConvertible {
        let lines: String
        let isSuppressed: Bool
        var testDescription: String { lines }
    }

    @Test(arguments: [
        ("service = example.org", false), ("service = api.example", true),
        ("service = *.example", true), ("service = api.example:8080", false),
        ("service = api.example\npath = /users/{id}", true),
        ("service = api.example\npath = /users/*", true),
        ("service = api.example\npath = /user", false),
        ("service = api.example\nfield = header authorization", true),
        ("service = api.example\nfield = header *", true),
        ("service = api.example\nfield = cookie *", false),
    ])
    func suppressesPlaces(_ lines: String, _ isSuppressed: Bool) throws {
        let report = try Self.report(
            [Sample(target: "/users/17", headers: [Self.basic])], Self.suppression(lines))
        let finding = try #require(report.findings.first { $0.rule == .plainHTTPBasic })
        #expect(finding.state == (isSuppressed ? .suppressed(by: 0) : .open))
        #expect(report.isFailed == !isSuppressed)
        #expect(report.outcome.unused.count == (isSuppressed ? 0 : 1))
        // It is another rule's place too.
        #expect(report.findings.first { $0.rule == .clearHTTP }?.state == .open)
    }

    /// The last day counts, whatever day the test is run on.
    @Test(arguments: [
        ("2026-03-09", false), ("2026-03-08", true), ("2025-12-31", true), ("never", false),
        ("2027-01-01", false),
    ])
    func endsSuppressions(_ day: String, _ isExpired: Bool) throws {
        let report = try Self.report(
            [.clear(Self.basic)], Self.suppression("service = api.example", until: day))
        #expect(report.isFailed == isExpired)
        #expect(report.outcome.expired.count == (isExpired ? 1 : 0))
        #expect(report.outcome.unused.isEmpty)
        let text = FindingsText.render(report, color: false)
        #expect(text.contains("\nexpired: ci/p.policy:1: PLAIN-HTTP-BASIC at") == isExpired)
        #expect(text.contains("\nsuppressed: 1 critical by ci/p.policy:1 (why") != isExpired)
    }

    @Test func tellsUnusedSuppressionsOfWholeRunsOnly() throws {
        let text = Self.suppression("service = other.example")
        let report = try Self.report([.clear(Self.basic)], text)
        #expect(
            FindingsText.render(report, color: false).contains(
                "not needed: ci/p.policy:1: PLAIN-HTTP-BASIC at other.example: nothing was found"))
        var engine = FindingsEngine(try Self.configuration(text))
        Sample.clear(Self.basic).feed(&engine, id: 1)
        #expect(engine.report(leavesOut: true).outcome.unused.isEmpty)
    }

    /// Accepted places do not become one finding with those that are not.
    @Test func keepsAcceptedPlacesApart() throws {
        let traffic = "abcdefghi".map { Sample(target: "/old/\($0)", headers: [Self.basic]) }
        let text = Self.suppression("service = api.example\npath = /old/*")
        let calm = try Self.report(traffic, text)
        #expect(!calm.isFailed)
        let loud = try Self.report(traffic + [Sample(target: "/new", headers: [Self.basic])], text)
        let failing = loud.findings.filter(loud.fails)
        #expect(failing.map(\.urlTemplate.path) == ["/new"])
    }

    @Test func suppressesFingerprints() throws {
        let first = try Self.report([.clear(Self.basic)], "")
        let print = try #require(first.findings.first { $0.rule == .plainHTTPBasic }?.fingerprint)
        let text =
            "[suppress]\nfingerprint = \(print.uppercased())\nreason = why\nexpires = never"
        let report = try Self.report([.clear(Self.basic)], text)
        #expect(!report.isFailed)
        #expect(try Self.report([.get("/a?password=abcdefgh1")], text).outcome.unused.count == 1)
    }

    /// Cleartext is allowed there, a password in it is not.
    @Test(arguments: [
        ("api.example", Severity.info), ("*.example", .info), ("b.example", .medium),
    ])
    func allowsCleartext(_ host: String, _ severity: Severity) throws {
        let report = try Self.report([.clear(Self.basic)], "cleartext-host = \(host)")
        #expect(report.findings.first { $0.rule == .clearHTTP }?.severity == severity)
        #expect(report.findings.first { $0.rule == .plainHTTPBasic }?.severity == .critical)
    }

    @Test(arguments: [
        ("host = api.example", []), ("host = *.example", []), ("exchanges = 1", []),
        ("planted = password.a", []),
        ("host = b.example", ["ci/p.policy:2: no exchange with b.example was seen"]),
        ("exchanges = 2", ["ci/p.policy:2: 1 of at least 2 exchanges were seen"]),
        ("planted = email.b", ["ci/p.policy:2: the profile's email.b was not seen"]),
        (
            "exchanges = 2\nhost = b.example",
            [
                "ci/p.policy:2: 1 of at least 2 exchanges were seen",
                "ci/p.policy:3: no exchange with b.example was seen",
            ]
        ),
    ])
    func expects(_ lines: String, _ unmet: [String]) throws {
        let profile = try SubjectProfile.parse(
            "owner: api.example\npassword.a = correct-horse-7\nemail.b = nora@shop.example")
        // Where it may be, so that there is no finding about it.
        let login = Sample.post(
            "{\"password\":\"correct-horse-7\"}", "application/json", over: .https)
        let report = try Self.report([login], "[expect]\n" + lines, profile: profile)
        #expect(report.outcome.unmet == unmet)
        #expect(report.inconclusive == (unmet.isEmpty ? [] : [.expectationUnmet]))
        #expect(report.reasons.map(\.text) == unmet)
    }

    /// What the tool answered in an origin's place was not exchanged with it.
    @Test(arguments: ["host = api.example", "exchanges = 1"])
    func expectsOriginsThatAnswer(_ line: String) throws {
        let refused = Sample(scheme: .http, status: 502, answeredByTool: true)
        let report = try Self.report([refused], "[expect]\n" + line)
        #expect(report.outcome.unmet.count == 1)
    }

    @Test func expectsHostsOfDialogues() throws {
        var engine = FindingsEngine(try Self.configuration("[expect]\nhost = mail.example"))
        let sample = DialogueSample.said("smtp", .origin("220 hi\r\n"), .client("EHLO a\r\n"))
        engine.observe(sample.connection, messages: sample.gathered())
        #expect(engine.report().outcome.unmet.isEmpty)
    }

    // MARK: Laboratory

    static let basic = "Authorization: Basic dGVzdDoxOjM0"

    static func suppression(_ lines: String, until day: String = "never") -> String {
        "[suppress]\nrule = PLAIN-HTTP-BASIC\n\(lines)\nreason = why\nexpires = \(day)"
    }

    static func policy(_ text: String) throws(Failure) -> FindingsPolicy {
        // At the last second of the ninth of March.
        try FindingsPolicy(
            Array(text.utf8), path: "ci/p.policy",
            now: Timestamp(microseconds: 1_773_100_799_000_000))
    }

    static func configuration(
        _ policy: String, profile: SubjectProfile? = nil, baseline: Baseline? = nil
    ) throws -> FindingsConfiguration {
        var configuration = FindingsLaboratory.configuration(profile: profile)
        configuration.policy = try Self.policy(policy)
        configuration.baseline = baseline
        return configuration
    }

    static func report(
        _ traffic: [Sample], _ policy: String, profile: SubjectProfile? = nil,
        baseline: Baseline? = nil
    ) throws -> FindingsReport {
        var engine = FindingsEngine(
            try configuration(policy, profile: profile, baseline: baseline))
        for (index, item) in traffic.enumerated() { item.feed(&engine, id: Int64(index + 1)) }
        return engine.report()
    }
}
