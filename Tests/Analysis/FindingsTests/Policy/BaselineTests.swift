import Base
import Testing
import Traffic

@testable import Findings

@Suite struct BaselineTests {
    private static let basic = FindingsPolicyTests.basic
    private static let old = Sample(target: "/old", headers: [basic])
    private static let new = Sample(target: "/new", headers: [basic])

    private static func report(
        _ traffic: [Sample], _ baseline: String?, policy: String = ""
    ) throws -> FindingsReport {
        try FindingsPolicyTests.report(
            traffic, policy,
            baseline: try baseline.map { try Baseline(Array($0.utf8), path: "b.txt") })
    }

    @Test func failsOnWhatIsNew() throws {
        let first = try Self.report([Self.old], nil)
        #expect(first.isFailed)
        let text = first.baselineText
        let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(lines.count == first.findings.count)
        #expect(
            lines.last?.hasSuffix(
                "PLAIN-HTTP-BASIC GET http://api.example/old, header authorization") == true)
        let same = try Self.report([Self.old, Self.old], text)
        #expect(!same.isFailed)
        #expect(same.findings.allSatisfy { $0.state == .known })
        #expect(same.outcome.baseline?.knownCount == 2)
        #expect(same.outcome.baseline?.unseen.isEmpty == true)
        let more = try Self.report([Self.old, Self.new], text)
        #expect(more.findings.filter(more.fails).map(\.urlTemplate.path) == ["/new"])
    }

    @Test func tellsWhatWasNotSeen() throws {
        let text = try Self.report([Self.old, Self.new], nil).baselineText
        let report = try Self.report([Self.old], text)
        let unseen = report.outcome.baseline?.unseen.map(\.title)
        #expect(unseen == ["PLAIN-HTTP-BASIC GET http://api.example/new, header authorization"])
        let shown = FindingsText.render(report, color: false)
        #expect(shown.contains("\nnot seen this time: "))
        // It shrinks, and what is new stays out of it.
        let left = try Self.report([Self.new, .get("/x?password=abcdefgh1")], text).baselineText
        #expect(left.contains("/new"))
        #expect(!left.contains("/old") && !left.contains("URL-PASSWORD"))
    }

    /// A service with many places is one finding in one run, and several in another.
    @Test func mindsConsolidation() throws {
        let many = "abcdefghi".map { Sample(target: "/p/\($0)", headers: [Self.basic]) }
        let text = try Self.report(many, nil).baselineText
        #expect(try !Self.report(Array(many.prefix(2)), text).isFailed)
        #expect(try !Self.report(many + [Self.new], text).isFailed)
        // What they have in common hangs on which were seen.
        var mixed = many
        mixed[0].method = "POST"
        #expect(try !Self.report(mixed, text).isFailed)
        let few = try Self.report(Array(many.prefix(2)), nil).baselineText
        let grown = try Self.report(many, few)
        #expect(grown.isFailed)
        #expect(grown.outcome.baseline?.unseen.isEmpty == true)
    }

    /// A port that a system handed out would make every line another one.
    @Test(arguments: [("a.example:40001", "http://a.example/"), ("a.example:81", ":81/")])
    func namesChosenPortsAlone(_ host: String, _ place: String) throws {
        let text = try Self.report([Sample(host: host, headers: [Self.basic])], nil).baselineText
        #expect(text.contains("PLAIN-HTTP-BASIC GET http://a.example") && text.contains(place))
        #expect(!text.contains("40001"))
    }

    @Test func leavesOutWhatIsSuppressed() throws {
        let policy = FindingsPolicyTests.suppression("service = api.example")
        let text = try Self.report([Self.old], nil, policy: policy).baselineText
        #expect(!text.contains("PLAIN-HTTP-BASIC"))
        #expect(text.contains("CLEAR-HTTP"))
    }

    /// What stands behind a fingerprint is anybody's, and is shown.
    @Test func showsNothingThatActs() throws {
        let line = String(repeating: "0", count: 32) + " X \u{1B}[31m\u{202E}y"
        let report = try Self.report([Self.old], line)
        #expect(report.outcome.baseline?.unseen.map(\.title) == ["X \\u{1b}[31m\\u{202e}y"])
    }

    @Test(arguments: [("x", 1), ("# c\n\n0123", 3), (String(repeating: "g", count: 32), 1)])
    func refuses(_ text: String, _ line: Int) {
        let failure = #expect(throws: Failure.self) {
            try Baseline(Array(text.utf8), path: "b.txt")
        }
        #expect(failure?.code == "baseline-invalid")
        #expect(failure?.detail.hasPrefix("b.txt:\(line):1: ") == true)
        #expect(failure?.hint?.contains("--write-baseline") == true)
    }
}
