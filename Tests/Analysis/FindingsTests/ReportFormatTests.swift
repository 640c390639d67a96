import Base
import Foundation
import Testing
import Traffic

@testable import Findings

/// The forms for CI systems and browsers.
@Suite struct ReportFormatTests {
    private static let basic = FindingsPolicyTests.basic
    private static let policy =
        FindingsPolicyTests.suppression("service = api.example\npath = /old")
        .replacingOccurrences(of: "= why", with: "= \(hostile)")
    /// What would act on a log, a page, a table or a document.
    private static let hostile =
        "<script>x</script>|`*_[a](b)@nora ::error::y %0A]]>\"'&\u{202E}"

    private static func report() throws -> FindingsReport {
        let traffic = ["/old", "/new", "/known"].map { Sample(target: $0, headers: [basic]) }
        let known = try FindingsPolicyTests.report([traffic[2]], "")
        let print = try #require(known.findings.first { $0.rule == .plainHTTPBasic }).fingerprint
        let baseline = "\(print) x\n\(String(repeating: "0", count: 32)) \(hostile)\n"
        return try FindingsPolicyTests.report(
            traffic, policy + "\n[expect]\nexchanges = 9",
            baseline: try Baseline(Array(baseline.utf8), path: "b.txt"))
    }

    private static func text(_ format: ReportFormat) throws -> String {
        try report().document(format, of: ReportTexts.subject).text
    }

    private static func object(_ format: ReportFormat) throws -> Any {
        try JSONSerialization.jsonObject(with: Data(try text(format).utf8))
    }

    /// No name makes a link (SARIF §3.11.6), nor a command of a CI runner.
    @Test func letsNoNameAct() {
        let report = FindingsLaboratory.run([
            .post(#"{"[x](https://evil.example)":{"password":"hunter22"}}"#, "application/json"),
            .post(###"{"##[stop-commands]x":{"password":"hunter22"}}"###, "application/json"),
            .post(#"{"a##vso[task.x]":{"password":"hunter22"}}"#, "application/json"),
        ])
        let sarif = report.document(.sarif, of: ReportTexts.subject).text
        #expect(sarif.contains(#"\\[x\\](https:"#) && !sarif.contains("/[x](https:"))
        for text in ReportTexts.all(report) {
            #expect(!text.contains("##["))
            #expect(!text.contains("##vso["))
        }
    }

    /// A gate that asks for guesses sees a bad one behind a mild one that is sure.
    @Test func keepsWhatIsWorseAndLessSure() {
        let place = Sighting.ofRun(at: Timestamp(microseconds: 1))
        let mild = Finding(LateMatch(.urlToken, .low, .firm, at: place))
        let bad = Finding(LateMatch(.urlToken, .critical, .tentative, at: place))
        for pair in [[mild, bad], [bad, mild], [mild, bad, mild]] {
            var finding = pair[0]
            for other in pair.dropFirst() { finding.merge(other) }
            #expect(finding.severity == .low && finding.confidence == .firm)
            #expect(FindingsGate(.init(.high, .tentative)).reaches(finding))
            #expect(!FindingsGate(.init(.high)).reaches(finding))
            #expect(finding.notes.map(\.text) == ["some of it is critical, tentative"])
        }
    }

    @Test func writesStates() throws {
        let report = try Self.report()
        let states = report.findings.filter { $0.rule == .plainHTTPBasic }.map {
            "\($0.urlTemplate.path) \($0.state)"
        }
        #expect(states.sorted() == ["/known known", "/new open", "/old suppressed(by: 0)"])
        let text = FindingsText.render(report, color: false)
        #expect(text.hasPrefix("findings: 1 critical, 1 medium; 2 accepted; looked at 3 "))
        #expect(text.contains("\nknown: 1 critical in b.txt\n"))
        #expect(!text.contains("/old") && !text.contains("/known"))
        let all = FindingsText.render(report, verbose: true, color: false)
        #expect(all.contains("\nACCEPTED\n") && all.contains("/old\n") && all.contains("/known\n"))
    }

    @Test func writesSARIF() throws {
        let log = try #require(try Self.object(.sarif) as? [String: Any])
        let run = try #require((log["runs"] as? [[String: Any]])?.first)
        let results = try #require(run["results"] as? [[String: Any]])
        #expect(results.count == 4)
        let suppressed = results.filter { $0["suppressions"] != nil }
        #expect(suppressed.count == 1)
        let suppression = (suppressed.first?["suppressions"] as? [[String: String]])?.first
        #expect(suppression?["kind"] == "external")
        #expect(suppression?["justification"]?.hasPrefix("<script>") == true)
        let states = results.compactMap { $0["baselineState"] as? String }
        #expect(states.sorted() == ["new", "new", "new", "unchanged"])
        let locations = results.compactMap { ($0["locations"] as? [[String: Any]])?.first }
        let uris = locations.compactMap {
            (($0["physicalLocation"] as? [String: Any])?["artifactLocation"] as? [String: String])?[
                "uri"]
        }
        #expect(Set(uris) == ["ci/p.policy"])
        let invocation = (run["invocations"] as? [[String: Any]])?.first
        #expect((invocation?["toolExecutionNotifications"] as? [Any])?.count == 2)
        let plain = FindingsLaboratory.run([.clear(Self.basic)])
        let bare = plain.document(.sarif, of: ReportSubject(toolVersion: "0", capture: "./a b"))
            .text
        #expect(bare.contains(#""uri":"a%20b""#))
        for absent in ["baselineState", "suppressions", "toolExecution"] {
            #expect(!bare.contains(absent))
        }
    }

    @Test func writesGitLab() throws {
        let issues = try #require(try Self.object(.gitlab) as? [[String: Any]])
        #expect(issues.count == 5)
        #expect(issues.suffix(2).allSatisfy { $0["check_name"] as? String == "inconclusive" })
        for issue in issues.dropLast(2) {
            #expect((issue["fingerprint"] as? String)?.utf8.count == 32)
            let location = issue["location"] as? [String: Any]
            #expect(location?["path"] as? String == "ci/p.policy")
            #expect((location?["lines"] as? [String: Int])?["begin"] == 1)
        }
        #expect(Set(issues.compactMap { $0["severity"] as? String }) == ["blocker", "major"])
        #expect(Set(issues.compactMap { $0["check_name"] as? String }).contains("CLEAR-HTTP"))
    }

    @Test func writesAnnotations() throws {
        let lines = try Self.text(.annotations).split(separator: "\n")
        #expect(lines.count == 4)
        #expect(
            lines[0].hasPrefix(
                "::error file=ci/p.policy,line=1,title=PLAIN-HTTP-BASIC%3A Basic credentials over"
                    + " cleartext HTTP::GET http://api.example/new, header authorization; fix: "))
        #expect(lines[1].hasPrefix("::warning title=inconclusive::ci/p.policy:8: 3 of at least 9"))
        #expect(lines[3].hasPrefix("::warning file=ci/p.policy,line=1,title=CLEAR-HTTP%3A "))
        // No more than are shown of a kind, and no line that is another command.
        let many = (0..<40).map { Sample(host: "h\($0).example", headers: [Self.basic]) }
        let text = FindingsLaboratory.run(many).document(
            .annotations,
            of: ReportSubject(
                toolVersion: "0", capture: "a,b:c%\n::error::x", reasons: ["%0A::error::\ny"])
        ).text
        let all = text.split(separator: "\n")
        #expect(all.count { $0.hasPrefix("::error ") } == 10)
        #expect(all.count { $0.hasPrefix("::warning ") } == 10)
        #expect(all.count == 20)
        #expect(text.contains("file=a%2Cb%3Ac%25\\u{a}%3A%3Aerror%3A%3Ax,"))
        #expect(text.contains("::%250A::error::\\u{a}y\n"))
    }

    @Test(arguments: [ReportFormat.summary, .html])
    func keepsHostileTextInPlace(_ format: ReportFormat) throws {
        let text = try Self.text(format)
        #expect(!text.contains("<script") && !text.contains("`*_") && !text.contains("\u{202E}"))
        #expect(text.contains("&lt;script&gt;"))
    }

    /// One block of HTML: a line alone, so that nothing in it is Markdown.
    @Test func writesSummary() throws {
        let text = try Self.text(.summary)
        #expect(text.hasPrefix("<div><h3>Sallyport: failed</h3><p>findings: 1 critical"))
        #expect(text.hasSuffix("</div>\n\n"))
        #expect(!text.dropLast(2).contains("\n"))
        #expect(text.contains("<td><b>critical</b></td><td>PLAIN-HTTP-BASIC</td><td><code>GET "))
        let many = (0..<500).map { Sample(host: "h\($0).example", headers: [Self.basic]) }
        let long = FindingsLaboratory.run(many).document(.summary, of: ReportTexts.subject)
        #expect(long.count < 1 << 20)
        #expect(long.text.contains("<p>and 600 more</p>"))
    }

    @Test func writesPage() throws {
        let text = try Self.text(.html)
        #expect(text.hasPrefix("<!DOCTYPE html>"))
        #expect(text.contains("default-src 'none'"))
        for part in ["<script", "<link", "<img", "src=", "url(", "@import", "href="] {
            #expect(!text.contains(part))
        }
        #expect(text.contains("<p class=\"verdict failed\">Failed: findings: 1 critical"))
        #expect(text.contains("<details class=\"critical\" open><summary>critical, 1</summary>"))
        #expect(text.contains("<details class=\"accepted\"><summary>accepted, 2</summary>"))
        #expect(
            text.contains("<li>a fact</li>") && text.contains("<li>inconclusive: a reason</li>"))
        #expect(text.hasSuffix("</html>\n"))
        let calm = FindingsLaboratory.run([
            Sample(
                scheme: .https, responseHeaders: ["Strict-Transport-Security: max-age=31536000"])
        ])
        let page = calm.document(.html, of: ReportSubject(toolVersion: "0", capture: "a")).text
        #expect(
            page.contains("<p class=\"verdict clean\">Passed: no findings; looked at 1 exchange"))
    }

    @Test func writesJUnit() throws {
        let text = try Self.text(.junit)
        #expect(text.contains("classname=\"policy\" name=\"what is accepted is needed\""))
        #expect(text.contains("accepted: &lt;script&gt;"))
        #expect(text.contains("tests=\"\(RuleID.allCases.count + 2)\" failures=\"1\""))
        #expect(text.contains("<error message=\"ci/p.policy:8: 3 of at least 9"))
    }
}
