import Base
import Testing
import Traffic

@testable import Findings

/// What the run shows of origins' policies and of what transfers waste.
@Suite struct EconomyRuleTests {
    @Test(arguments: policyRows + firstRows + economyRows)
    func judges(_ row: RunRuleTests.Row) {
        let findings = FindingsLaboratory.run(row.traffic, firstParties: row.firstParties).findings
        let found = findings.filter { $0.rule == row.rule }.map {
            "\($0.party.text) \($0.severity.rawValue) \($0.confidence.rawValue)"
        }
        #expect(found.sorted() == row.found.sorted())
        #expect(findings.allSatisfy { $0.severity <= $0.rule.text.worst ?? .critical })
    }

    /// A file may claim any size of what it holds the start of.
    @Test(arguments: economyRows, [RecordedNumber.limit, .max])
    func bearsAnySize(_ row: RunRuleTests.Row, _ size: Int64) {
        let traffic = row.traffic.map { sample in
            var sample = sample
            sample.claimedSize = size
            return sample
        }
        let report = FindingsLaboratory.run(traffic)
        #expect(report.coverage.exchanges == traffic.count)
        #expect(!FindingsText.render(report, verbose: true, color: false).isEmpty)
    }
}

private func host(_ name: String, _ policies: String...) -> Sample {
    Sample(
        scheme: .https, host: name,
        responseHeaders: policies.map { "Strict-Transport-Security: \($0)" })
}

private let policyRows: [RunRuleTests.Row] = [
    .init(
        name: "none", rule: .transportSecurity, traffic: [host("a.one.test"), host("b.one.test")],
        found: ["one.test low certain"]),
    .init(
        name: "on some responses", rule: .transportSecurity,
        traffic: [host("one.test"), host("one.test", "max-age=31536000"), host("one.test")],
        found: []),
    .init(
        name: "included by the parent", rule: .transportSecurity,
        traffic: [
            host("a.one.test"), host("one.test", "max-age=\"31536000\" ; includeSubDomains"),
        ], found: []),
    .init(
        name: "not included by the parent", rule: .transportSecurity,
        traffic: [host("a.one.test"), host("one.test", "max-age=31536000")],
        found: ["one.test low certain"]),
    .init(
        name: "too short", rule: .transportSecurity, traffic: [host("one.test", "max-age=3600")],
        found: ["one.test low certain"]),
    .init(
        name: "switched off", rule: .transportSecurity,
        traffic: [host("one.test", "max-age=0; includeSubDomains"), host("a.one.test")],
        found: ["one.test low certain"]),
    .init(
        name: "unreadable", rule: .transportSecurity,
        traffic: [host("one.test", "includeSubDomains")],
        found: ["one.test low certain"]),
    .init(
        name: "twice", rule: .transportSecurity,
        traffic: [host("one.test", "max-age=31536000", "max-age=0")],
        found: ["one.test low certain"]),
    .init(
        name: "without TLS", rule: .transportSecurity, traffic: [Sample(host: "one.test")],
        found: []),
    .init(
        name: "an address", rule: .transportSecurity,
        traffic: [host("192.0.2.1"), host("[2001:db8::1]"), host("localhost"), host("127.0.0.1")],
        found: []),
]
