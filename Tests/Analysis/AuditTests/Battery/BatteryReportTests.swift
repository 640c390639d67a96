import Audit
import Base
import Testing

/// What the outcomes of a battery come to.
struct BatteryReportTests {
    /// A report in which these cases failed in silence, those were noticed, and the others are right.
    private static func report(
        _ kind: BatteryKind = .resume, silent: [String] = [], detected: [String] = [],
        hanging: [String] = [], unmet: [String] = [], first count: Int = 100
    ) -> BatteryReport {
        BatteryReport(
            kind: kind, client: "fetch", command: ["./fetch", "{url}", "{out}"],
            results: kind.cases.prefix(count).map { tried in
                BatteryResult(
                    tried,
                    exitStatus: hanging.contains(tried.id)
                        ? nil : detected.contains(tried.id) ? 18 : 0,
                    isRight: !silent.contains(tried.id), seen: "the file has 7 of 9 bytes", runs: 2,
                    requests: unmet.contains(tried.id) ? [cut] : met(tried), duration: 1000)
            }, startedAt: Timestamp(microseconds: 0), duration: 20_000, toolVersion: "1",
            source: "Sources/Fetch.swift:7")
    }

    private static let cut = BatteryRequestRecord("GET /assets/7/1m", isCut: true)

    private static func part(_ status: Int, _ faults: String...) -> BatteryRequestRecord {
        BatteryRequestRecord("GET", asksForPart: true, status: status, faults: faults)
    }

    /// Requests for which goes wrong what the case has.
    private static func met(_ tried: BatteryCase) -> [BatteryRequestRecord] {
        switch tried.sign {
        case .fault(let name): [BatteryRequestRecord("GET", faults: [name + "1"])]
        case .part: [cut, part(206, "range")]
        case .next: [cut, BatteryRequestRecord("GET")]
        }
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
        (report(.upload, unmet: ["forgotten"]), .clean),
        (report(unmet: BatteryKind.resume.cases.dropFirst().map(\.id)), .inconclusive),
    ])
    func verdict(_ report: BatteryReport, _ verdict: AuditVerdict) {
        #expect(report.verdict == verdict)
        let isBroken = report.sarif.line.text.contains("\"executionSuccessful\":false")
        #expect(isBroken == (verdict == .inconclusive))
    }

    struct Shown: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let tried: String
        let content: BatteryContent
        let requests: [BatteryRequestRecord]
        let mistake: String

        init(
            _ name: String, _ tried: String, _ content: BatteryContent,
            _ requests: [BatteryRequestRecord], _ mistake: String
        ) {
            (testDescription, self.tried, self.content) = (name, tried, content)
            (self.requests, self.mistake) = (requests, mistake)
        }
    }

    /// The mistake is the one that requests and file show, whatever the case was made for.
    @Test(arguments: [
        Shown("one request", "part-early", .beginning, [cut], "takes-cut-for-whole"),
        Shown("one request", "shrunk", .beginning, [cut], "takes-cut-for-whole"),
        Shown("one run", "cut-until-close", .beginning, [cut], "takes-cut-for-whole"),
        Shown(
            "no range", "page", .beginningAndWhole, [cut, BatteryRequestRecord("GET")],
            "appends-whole"),
        Shown("the same version", "whole", .beginningAndWhole, [cut, part(200)], "appends-whole"),
        Shown(
            "the page dropped", "page", .beginning, [cut, part(200, "page 200")],
            "takes-beginning-for-whole"),
        Shown("appended", "page", .beginningAndPage, [cut, part(200, "page 200")], "takes-page"),
        Shown("put in its place", "page", .page, [cut, part(200, "page 200")], "takes-page"),
        Shown(
            "appended", "page-as-part", .beginningAndPage, [cut, part(206, "page 206")],
            "ignores-content-range"),
        Shown(
            "kept", "shrunk", .beginning, [cut, part(416, "version 2")], "takes-416-for-complete"),
        Shown(
            "appended", "shrunk", .beginningAndPage, [cut, part(416, "version 2")], "appends-416"),
        Shown("a part", "changed-tag", .spliced, [cut, part(206, "version 2")], "resumes-blindly"),
        Shown(
            "skipped", "whole-changed", .spliced, [cut, part(200, "version 2")],
            "keeps-stale-beginning"),
        Shown(
            "appended", "part-late", .other, [cut, part(206, "range shifted(16)")],
            "ignores-content-range"),
        Shown("appended", "part-gzip", .other, [cut, part(206, "range gzip")], "mixes-codings"),
        Shown(
            "kept", "flipped", .other, [BatteryRequestRecord("GET", faults: ["flip@500000.0"])],
            "ignores-digests"),
        Shown("joined", "good", .other, [cut, part(206)], "joins-wrongly"),
        Shown("no file", "good", .nothing, [cut, part(206)], "claims-download"),
    ])
    func mistake(_ shown: Shown) throws {
        let cases = BatteryKind.resume.cases
        let tried = try #require(cases.first { $0.id == shown.tried })
        func diagnosis(controlIsRight: Bool) -> [BatteryDiagnosis] {
            let results = [
                BatteryResult(
                    cases[0], exitStatus: 0, isRight: controlIsRight, seen: "", runs: 1,
                    requests: [], duration: 0),
                BatteryResult(
                    tried, exitStatus: 0, isRight: false, content: shown.content, seen: "",
                    runs: 2, requests: shown.requests, duration: 0),
            ]
            return BatteryReport(
                kind: .resume, client: "fetch", command: [], results: results,
                startedAt: Timestamp(microseconds: 0), duration: 0, toolVersion: "1", source: nil
            ).diagnosis
        }
        #expect(diagnosis(controlIsRight: true).map(\.mistake.rawValue) == [shown.mistake])
        #expect(diagnosis(controlIsRight: false).isEmpty)
    }

    /// What never happened was neither got right nor noticed; who fails where the server is right
    /// failed all the same.
    @Test(arguments: [
        ("good", [cut], 0, BatteryOutcome.notMet), ("good", [cut, part(206)], 0, .correct),
        ("good", [cut], 1, .detected), ("part-early", [cut], 1, .notMet),
        ("part-early", [cut, part(206)], 0, .notMet),
        ("part-early", [cut, part(206, "range shifted(-16)")], 0, .correct),
        ("whole", [cut, BatteryRequestRecord("GET")], 0, .correct), ("whole", [cut], 0, .notMet),
        ("changed-tag", [cut, BatteryRequestRecord("GET", faults: ["version 2"])], 0, .correct),
        ("page", [cut, BatteryRequestRecord("GET")], 0, .notMet),
        ("flipped", [BatteryRequestRecord("GET")], 0, .notMet),
    ])
    func outcome(
        _ id: String, _ requests: [BatteryRequestRecord], _ status: Int32,
        _ outcome: BatteryOutcome
    ) throws {
        let tried = try #require(BatteryKind.resume.cases.first { $0.id == id })
        let result = BatteryResult(
            tried, exitStatus: status, isRight: true, seen: "", runs: 1, requests: requests,
            duration: 0)
        #expect(result.outcome == outcome)
    }

    @Test(arguments: [
        (nil, BatteryContent.nothing), ([], .nothing), ([1, 2, 3, 4, 9, 9], .right),
        ([1, 2, 3], .beginning), ([1, 2, 3, 4, 5, 6], .beginning),
        ([1, 2, 1, 2, 3, 4, 9, 9], .beginningAndWhole),
        ([1, 2, 1, 2, 3, 4, 5, 6], .beginningAndWhole), ([1, 2, 7, 8], .beginningAndPage),
        ([7, 8], .page), ([1, 3, 3], .other), ([1, 2, 3, 4, 5, 9], .spliced),
    ])
    func content(_ bytes: [UInt8]?, _ content: BatteryContent) {
        let expected: [UInt8] = [1, 2, 3, 4, 9, 9]
        let told = BatteryContent(
            bytes, expected: expected, first: [1, 2, 3, 4, 5, 6], page: [7, 8])
        #expect(told == content)
        #expect(
            BatteryContent([1, 8, 8], expected: [9, 8, 8], first: [1, 2, 3]) == .spliced)
    }

    @Test func tellsWhatWasNotRun() {
        let report = Self.report(first: 4)
        #expect(report.isInterrupted)
        #expect(report.untried.count == 16)
        #expect(report.junit.contains(#"tests="20" failures="0" errors="0" skipped="16""#))
        #expect(!Self.report(silent: ["sound"], first: 1).isInterrupted)
    }

    @Test func givingUpIsToldToo() {
        let told = Self.report(detected: ["whole", "page"]).diagnosis
        #expect(told.map(\.mistake) == [.givesUp])
        #expect(told.first?.cases == ["whole"])
    }

    @Test func documents() {
        let report = Self.report(
            silent: ["page"], detected: ["flipped"], hanging: ["good"], unmet: ["part-late"])
        let sarif = report.sarif.line.text
        #expect(sarif.contains("\"ruleId\":\"resume/page\""))
        #expect(!sarif.contains("resume/flipped"))
        #expect(sarif.contains("Sources/Fetch.swift"))
        #expect(report.junit.contains(#"tests="20" failures="1" errors="1" skipped="1""#))
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
