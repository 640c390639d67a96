import Base
import Testing
import Traffic

@testable import Findings

/// What only the run as a whole shows.
@Suite struct RunRuleTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let rule: RuleID
        let traffic: [Sample]
        var firstParties: [String] = []
        /// The parties with the severities that they are told with.
        let found: [String]
        var testDescription: String { "\(rule.rawValue): \(name)" }
    }

    @Test(arguments: reuseRows)
    func judges(_ row: Row) {
        let findings = FindingsLaboratory.run(row.traffic, firstParties: row.firstParties).findings
        let found = findings.filter { $0.rule == row.rule }.map {
            "\($0.party.text) \($0.severity.rawValue) \($0.confidence.rawValue)"
        }
        #expect(found.sorted() == row.found.sorted())
    }

    /// A report may be asked for while the run goes on.
    @Test func reportsAgain() {
        var engine = FindingsEngine(FindingsLaboratory.configuration())
        var counts: [Int] = []
        for (index, host) in ["a.one.test", "b.two.test", "c.three.test"].enumerated() {
            Sample.login("tr0ub4dor&3", at: host).feed(&engine, id: Int64(index + 1))
            for _ in 0..<2 {
                counts.append(engine.report().findings.count { $0.rule == .reuseCredential })
            }
        }
        #expect(counts == [0, 0, 2, 2, 3, 3])
    }

    /// The same places, whichever came first.
    @Test func keepsFingerprints() {
        let traffic = ["a.one.test", "b.two.test"].map { Sample.login("tr0ub4dor&3", at: $0) }
        let prints = [traffic, traffic.reversed()].map { traffic in
            Set(
                FindingsLaboratory.run(traffic).findings.filter { $0.rule == .reuseCredential }
                    .map(\.fingerprint))
        }
        #expect(prints[0] == prints[1] && prints[0].count == 2)
    }

    @Test func boundsMemory() {
        var engine = FindingsEngine(FindingsLaboratory.configuration())
        for number in 0..<9000 {
            Sample.login("a-password-\(number)", at: "one.test").feed(
                &engine, id: Int64(number + 1))
        }
        Sample.login("a-password-8999", at: "two.test").feed(&engine, id: 9001)
        Sample.login("a-password-0", at: "two.test").feed(&engine, id: 9002)
        let found = engine.report().findings.filter { $0.rule == .reuseCredential }
        #expect(found.map(\.exchanges) == [[9000], [9001]])
    }

    /// The service with most logins, else with most exchanges.
    @Test(arguments: [
        ([Sample.login("tr0ub4dor&3", at: "a.one.test")], [String](), ["one.test"], true),
        (
            [.login("tr0ub4dor&3", at: "a.one.test")]
                + [Sample](repeating: Sample(scheme: .https, host: "b.two.test"), count: 3),
            [], ["one.test"], true
        ),
        (
            [Sample(host: "a.one.test"), Sample(host: "b.two.test"), Sample(host: "c.two.test")],
            [], ["two.test"], true
        ),
        ([Sample(host: "b.two.test"), Sample(host: "a.one.test")], [], ["one.test"], true),
        ([Sample(host: "a.one.test")], ["api.two.test"], ["two.test"], false),
    ])
    func knowsFirstParties(
        _ traffic: [Sample], _ declared: [String], _ names: [String], _ isGuessed: Bool
    ) {
        let parties = FindingsLaboratory.run(traffic, firstParties: declared).firstParties
        #expect(parties.names == names)
        #expect(parties.isGuessed == isGuessed)
    }
}

private let reuseRows: [RunRuleTests.Row] = [
    .init(
        name: "two services", rule: .reuseCredential,
        traffic: [
            .login("tr0ub4dor&3", at: "shop.one.test"), .login("tr0ub4dor&3", at: "two.test"),
        ],
        found: ["one.test high certain", "two.test high certain"]),
    .init(
        name: "in a form and in Basic", rule: .reuseCredential,
        traffic: [
            .login("tr0ub4dor&3", at: "one.test"),
            Sample(
                scheme: .https, host: "two.test",
                headers: ["Authorization: Basic \(base64("u:tr0ub4dor&3"))"]),
        ], found: ["one.test high certain", "two.test high certain"]),
    .init(
        name: "hosts of one service", rule: .reuseCredential,
        traffic: [
            .login("tr0ub4dor&3", at: "a.one.test"), .login("tr0ub4dor&3", at: "b.one.test"),
        ],
        found: []),
    .init(
        name: "declared as one party", rule: .reuseCredential,
        traffic: [.login("tr0ub4dor&3", at: "one.test"), .login("tr0ub4dor&3", at: "two.test")],
        firstParties: ["one.test", "login.two.test"], found: []),
    .init(
        name: "other passwords", rule: .reuseCredential,
        traffic: [.login("tr0ub4dor&3", at: "one.test"), .login("tr0ub4dor&4", at: "two.test")],
        found: []),
    .init(
        name: "placeholder", rule: .reuseCredential,
        traffic: [.login("********", at: "one.test"), .login("********", at: "two.test")],
        found: []),
    .init(
        name: "too short to tell", rule: .reuseCredential,
        traffic: [.login("12345", at: "one.test"), .login("12345", at: "two.test")], found: []),
    .init(
        name: "a token", rule: .reuseCredential,
        traffic: ["one.test", "two.test"].map {
            Sample(
                scheme: .https, host: $0, headers: ["Authorization: Bearer Zk3vQ9xW2pLr7Ty1aB4d"])
        }, found: []),
    .init(
        name: "names that sound alike", rule: .reuseCredential,
        traffic: ["one.test", "two.test"].map {
            .post(
                #"{"password_hint":"tr0ub4dor","passengers":"seventeen"}"#, "", over: .https, to: $0
            )
        }, found: []),
]
