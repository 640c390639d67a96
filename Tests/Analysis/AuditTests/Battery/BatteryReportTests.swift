import Audit
import Base
import Testing

/// What the outcomes of a battery come to.
struct BatteryReportTests {
    /// A report in which these cases failed in silence, those were noticed, and the others are right.
    private static func report(
        _ kind: BatteryKind = .resume, silent: [String] = [], detected: [String] = [],
        hanging: [String] = [], first count: Int = 100
    ) -> BatteryReport {
        BatteryReport(
            kind: kind, client: "fetch", command: ["./fetch", "{url}", "{out}"],
            results: kind.cases.prefix(count).map { tried in
                BatteryResult(
                    tried,
                    exitStatus: hanging.contains(tried.id)
                        ? nil : detected.contains(tried.id) ? 18 : 0,
                    isRight: !silent.contains(tried.id), seen: "the file has 7 of 9 bytes", runs: 2,
                    requests: ["127.0.0.1 1  GET /assets/7/1m"], duration: 1000)
            }, startedAt: Timestamp(microseconds: 0), duration: 20_000, toolVersion: "1",
            source: "Sources/Fetch.swift:7")
    }

    @Test func hasTheCasesThatWereMeasured() {
        for kind in BatteryKind.allCases {
            let cases = kind.cases
            #expect(cases.first?.isControl == true)
            #expect(Set(cases.map(\.id)).count == cases.count)
            #expect(cases.dropFirst().allSatisfy { !$0.rules.isEmpty && !$0.demand.isEmpty })
        }
        #expect(BatteryKind.resume.cases.count == 20)
        #expect(BatteryKind.upload.cases.count == 10)
    }

    @Test(arguments: [
        (report(), AuditVerdict.clean), (report(detected: ["whole", "flipped"]), .clean),
        (report(silent: ["flipped"]), .failed), (report(hanging: ["page"]), .inconclusive),
        (report(silent: ["flipped"], hanging: ["page"]), .failed),
        (report(detected: ["sound"], first: 1), .inconclusive),
        (report(silent: ["sound"], first: 1), .inconclusive),
        // It was interrupted.
        (report(first: 7), .inconclusive), (report(.upload), .clean),
    ])
    func verdict(_ report: BatteryReport, _ verdict: AuditVerdict) {
        #expect(report.verdict == verdict)
        let isBroken = report.sarif.line.text.contains("\"executionSuccessful\":false")
        #expect(isBroken == (verdict == .inconclusive))
    }

    @Test(arguments: [
        (
            ["part-early", "part-unlabelled"],
            ["ignores-content-range: part-early, part-unlabelled"]
        ),
        (
            ["flipped", "changed-tag", "cut-until-close"],
            [
                "resumes-blindly: changed-tag", "takes-cut-for-whole: cut-until-close",
                "ignores-digests: flipped",
            ]
        ),
        (["shrunk"], ["takes-416-for-complete: shrunk"]), ([], []),
    ])
    func diagnosis(_ silent: [String], _ expected: [String]) {
        let told = Self.report(silent: silent).diagnosis
        #expect(
            told.map { "\($0.mistake.rawValue): \($0.cases.joined(separator: ", "))" } == expected)
    }

    /// Every case that can be wrong in silence is explained by a mistake.
    @Test(arguments: BatteryKind.allCases) func everyCaseIsExplained(_ kind: BatteryKind) {
        let all = kind.cases.dropFirst().map(\.id)
        let told = Self.report(kind, silent: all).diagnosis.flatMap(\.cases)
        #expect(told.sorted() == all.sorted())
    }

    @Test func givingUpIsToldToo() {
        let told = Self.report(detected: ["whole", "page"]).diagnosis
        #expect(told.map(\.mistake) == [.givesUp])
        #expect(told.first?.cases == ["whole"])
    }

    @Test func documents() {
        let report = Self.report(silent: ["page"], detected: ["flipped"], hanging: ["good"])
        let sarif = report.sarif.line.text
        #expect(sarif.contains("\"ruleId\":\"resume/page\""))
        #expect(!sarif.contains("resume/flipped"))
        #expect(sarif.contains("Sources/Fetch.swift"))
        #expect(report.junit.contains(#"tests="20" failures="1" errors="1" skipped="0""#))
    }

    @Test(arguments: [
        (nil, "there is no file"), ([1, 2, 3], "the file is right"),
        ([1, 2], "the file has 2 of 3 bytes"),
        ([1, 9, 3], "the file has 3 of 3 bytes and differs from byte 1 on"),
    ])
    func difference(_ bytes: [UInt8]?, _ text: String) {
        #expect(BatteryDifference.text(bytes, expected: [1, 2, 3]) == text)
    }
}
