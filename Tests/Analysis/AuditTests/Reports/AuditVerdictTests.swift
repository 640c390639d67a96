import Base
import Catalogue
import Testing

@testable import Audit

@Suite struct AuditVerdictTests {
    static let rows: [AuditVerdictRow] = [
        .init("nothing", [], .inconclusive),
        .init("refused", [.init("trust-x", .refused)], .clean),
        .init("accepted", [.init("trust-x", .accepted)], .failed),
        .init("implied", [.init("trust-x", .implied)], .failed),
        .init("sent, then refused", [.init("trust-x", .sentThenRefused)], .failed),
        .init("a warning", [.init("crypto-x", .accepted, .warn)], .clean, counted: .failed),
        .init("suspected", [.init("trust-x", .suspected)], .clean, counted: .failed),
        .init("a note", [.init("name-x", .accepted, .inform)], .clean),
        .init(
            "one unclear", [.init("trust-x", .refused), .init("name-x", .inconclusive)],
            .inconclusive),
        .init(
            "an unclear note", [.init("trust-x", .refused), .init("n", .inconclusive, .inform)],
            .clean),
        .init(
            "a failure outweighs what is unclear",
            [.init("trust-x", .accepted), .init("name-x", .inconclusive)], .failed),
        .init("skipped only", [.init("trust-x", .notPossible)], .inconclusive),
        .init(
            "what cannot be presented", [.init("trust-x", .refused), .init("y", .notPossible)],
            .clean),
        .init(
            "uncontrolled", [.init("trust-x", .refused), .init("name-x", .uncontrolled)],
            .inconclusive),
        .init("not offered", [.init("handshake-x", .notOffered)], .clean),
        .init(
            "only a sound server refused", [.init("control-x", .refused, .accept)], .inconclusive),
        .init(
            "refused, as is a sound server",
            [.init("control-good", .refused, .accept), .init("trust-x", .refused)], .inconclusive),
    ]

    @Test(arguments: rows)
    func sums(row: AuditVerdictRow) {
        let results = row.results.map {
            result(probe($0.probe, .trust, $0.expectation), $0.outcome)
        }
        let report = AuditReport(
            results: results, startedAt: Timestamp(microseconds: 0), duration: 0, capturePath: "",
            toolVersion: "")
        #expect(report.verdict() == row.verdict)
        #expect(report.verdict(countingWarnings: true) == row.counted)
    }

    @Test func counts() {
        let counts = sampleReport().counts
        #expect(ProbeVerdict.allCases.map { counts[$0] } == [4, 3, 2, 1, 1, 2])
        #expect(counts.total == 13)
    }
}

struct AuditVerdictRow: Sendable, CustomTestStringConvertible {
    struct Given: Sendable {
        let probe: String
        let outcome: ProbeOutcome
        let expectation: ProbeExpectation

        init(
            _ probe: String, _ outcome: ProbeOutcome,
            _ expectation: ProbeExpectation = .refuse
        ) {
            self.probe = probe
            self.outcome = outcome
            self.expectation = expectation
        }
    }

    let testDescription: String
    let results: [Given]
    let verdict: AuditVerdict
    let counted: AuditVerdict

    init(
        _ name: String, _ results: [Given], _ verdict: AuditVerdict, counted: AuditVerdict? = nil
    ) {
        testDescription = name
        self.results = results
        self.verdict = verdict
        self.counted = counted ?? verdict
    }
}
