import Catalogue
import Testing

@testable import Audit

@Suite struct VerdictRuleTests {
    /// One letter an outcome, in the order of `ProbeOutcome`: accepted, refused, sent then refused,
    /// in cleartext, suspected, not offered, inconclusive, shown, not shown, not seen, implied, not
    /// possible, uncontrolled.
    static let rows: [(ProbeExpectation, String)] = [
        (.accept, "P N N N N N I N P I P S S"),
        (.refuse, "F P F F W P I F P I F S S"),
        (.warn, "W P W W N P I W P I W S S"),
        (.inform, "N N N N N N I N P I N S S"),
    ]

    @Test(arguments: rows)
    func judges(row: (ProbeExpectation, String)) {
        let letters: [ProbeVerdict: String] = [
            .pass: "P", .fail: "F", .warn: "W", .note: "N", .inconclusive: "I", .skipped: "S",
        ]
        let verdicts = ProbeOutcome.allCases.map { VerdictRule.verdict(row.0, $0) }
        #expect(verdicts.compactMap { letters[$0] }.joined(separator: " ") == row.1)
    }
}

@Suite struct ControlRuleTests {
    @Test(arguments: ProbeOutcome.allCases)
    func refusalsCountAfterASoundControl(outcome: ProbeOutcome) {
        let probe = probe("name-wrong-host", .name, requires: [.authority])
        #expect(ControlRule.outcome(outcome, of: probe, control: .accepted) == outcome)
    }

    @Test(arguments: [ProbeOutcome.refused, .inconclusive, .suspected, .notOffered, .uncontrolled])
    func refusalsSayNothingWithoutOne(control: ProbeOutcome) {
        let name = probe("name-wrong-host", .name, requires: [.authority])
        #expect(ControlRule.outcome(.refused, of: name, control: control) == .uncontrolled)
        #expect(ControlRule.outcome(.inconclusive, of: name, control: control) == .uncontrolled)
        #expect(ControlRule.outcome(.suspected, of: name, control: control) == .uncontrolled)
        #expect(ControlRule.outcome(.accepted, of: name, control: control) == .accepted)
        #expect(ControlRule.outcome(.notOffered, of: name, control: control) == .notOffered)
        let trust = probe("trust-self-signed", .trust)
        #expect(ControlRule.outcome(.refused, of: trust, control: control) == .refused)
    }

    @Test func theControlItselfStands() {
        let good = probe("control-good", .control, .accept, requires: [.authority])
        #expect(ControlRule.outcome(.refused, of: good, control: .refused) == .refused)
    }

    @Test func eachPlaceHasItsOwnControl() {
        let good = probe("control-good", .control, .accept, requires: [.authority])
        let name = probe("name-wrong-host", .name, requires: [.authority])
        let results = ControlRule.applied(to: [
            result(good, .accepted, client: "a"), result(name, .refused, client: "a"),
            result(good, .refused, client: "b"), result(name, .refused, client: "b"),
            result(name, .refused, client: "c"),
        ])
        #expect(results.map(\.verdict) == [.pass, .pass, .note, .skipped, .skipped])
        #expect(
            results.map(\.outcome) == [.accepted, .refused, .refused, .uncontrolled, .uncontrolled])
        #expect(results[3].evidence.hasPrefix("the client did not take a sound server"))
        #expect(results[4].evidence.hasPrefix("the client was not shown a sound server"))
    }
}
