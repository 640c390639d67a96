import Testing
import Traffic

@testable import Comparison
@testable import Replay

struct RuleLessonTests {
    @Test func proposesWhatChanges() throws {
        let captures = [("111111", "t1", "Mon"), ("222222", "t2", "Tue")].map {
            (nonce, time, date) in
            var source = MemorySource()
            source.add(
                "POST /a?mark=\(nonce)&x=1",
                fields: "authorization: \(time)\r\ncookie: c=\(nonce)\r\nx-request-id: \(time)\r\n"
                    + "x-code: \(nonce)\r\ncontent-type: application/json\r\n",
                answer: #"{"code":"\#(nonce)","x-day":"\#(date)"}"#,
                request: #"{"items":[{"at":"\#(time)"},{"at":"\#(time)x"}]}"#)
            source.add("GET /same")
            return source
        }
        let lesson = try Self.lesson(captures[0], captures[1])
        #expect(
            lesson.proposals.map(\.rule.text) == [
                "substitute at /a query mark", "ignore at /a header authorization",
                "ignore at /a header cookie", "substitute at /a header x-code",
                "ignore at /a body $.items[*].at", "ignore at /a response body $.code",
                "ignore at /a response body $.x-day",
            ])
        let reasons = lesson.proposals.map(\.reason)
        #expect(reasons[0] == "differs once: 111111, then 222222")
        #expect(reasons[1].hasSuffix("answers a request without it, too"))
        #expect(reasons[2] == "differs once: in what is masked, of the same length")
        #expect(reasons[4].hasPrefix("differs 2 times"))
        #expect(lesson.pairCount == 2 && lesson.singleCount == 0)
    }

    @Test func countsWhatItDidNotCompare() throws {
        let captures = [["/a", "/b", "/b"], ["/b", "/c"]].map { paths in
            var source = MemorySource()
            for path in paths { source.add("GET \(path)") }
            return source
        }
        let lesson = try Self.lesson(captures[0], captures[1])
        #expect(lesson.proposals.isEmpty && lesson.pairCount == 1 && lesson.singleCount == 3)
    }

    /// Elements are matched by what they are; one that is on one side alone is no rule's.
    struct List: Sendable, CustomTestStringConvertible {
        let name: String
        let contents: [String]
        var rules: [String] = []
        var lists: [String] = []
        var testDescription: String { name }
    }

    static let lists = [
        List(
            name: "one more, by its id",
            contents: [
                #"{"l":[{"id":1,"n":"a"},{"id":2,"n":"b"}]}"#,
                #"{"l":[{"id":3,"n":"c"},{"id":1,"n":"a"},{"id":2,"n":"b"}]}"#,
            ], lists: ["ignore response body $.l*"]),
        List(
            name: "one less, and what differs in the others",
            contents: [
                #"{"l":[{"id":1,"t":10},{"id":2,"t":11},{"id":3,"t":12}]}"#,
                #"{"l":[{"id":2,"t":21},{"id":3,"t":22}]}"#,
            ], rules: ["ignore response body $.l[*].t"], lists: ["ignore response body $.l*"]),
        List(
            name: "one more, without ids",
            contents: [#"["a","b","c"]"#, #"["b","c"]"#], lists: ["ignore response body $*"]),
        List(
            name: "a member more",
            contents: [#"{"l":[{"id":1}]}"#, #"{"l":[{"id":1,"t":1}]}"#],
            rules: ["ignore response body $.l[*].t"]),
    ]

    @Test(arguments: lists) func matchesElements(_ row: List) throws {
        let captures = row.contents.map { content in
            var source = MemorySource()
            source.add("GET /a", answer: content)
            return source
        }
        let lesson = try Self.lesson(captures[0], captures[1])
        #expect(lesson.proposals.map(\.rule.text) == row.rules)
        #expect(lesson.lists.map(\.rule.text) == row.lists)
        // What is left with the rules is what was told of.
        var configuration = ComparisonConfiguration.test
        configuration.rules = ReplayRules((lesson.proposals + lesson.lists).map(\.rule))
        let report = try CaptureComparison(configuration).compare(
            .init(name: "a", source: captures[0]), .init(name: "b", source: captures[1]))
        #expect(!report.isDifferent)
    }

    /// A part that differs at one path of several is proposed there, ids in paths with stars.
    @Test func proposesPlaces() throws {
        let captures = [("17", "x"), ("18", "y")].map { number, day in
            var source = MemorySource()
            source.add("PUT /items/\(number)/photo", fields: "x-day: \(day)\r\n", answer: day)
            source.add("GET /other", fields: "x-day: \(day)\r\n")
            source.add("GET /a*b", answer: day)
            return source
        }
        let lesson = try Self.lesson(captures[0], captures[1])
        #expect(
            lesson.proposals.map(\.rule.text) == [
                "ignore at /items/*/photo path", "ignore header x-day", "ignore response body",
            ])
        let line = #"ignore at /a\*b response status"#
        let rules = try ReplayRules(text: line)
        #expect(rules.text == line + "\n")
        #expect(rules.at([("h.example", "/a*b")]).ignores(.response, .status))
        #expect(!rules.at([("h.example", "/axb")]).ignores(.response, .status))
        #expect(PathTemplate.pattern(Array("/a*b/17".utf8)[...]) == #"/a\*b/*"#)
    }

    @Test(arguments: [
        ("a", "b", "a, then b"),
        (
            String(repeating: "x", count: 50) + "1", String(repeating: "x", count: 50) + "2",
            "…xxxxxxxxxx1, then …xxxxxxxxxx2"
        ),
        (String(repeating: "1", count: 50), "2", String(repeating: "1", count: 40) + "…, then 2"),
    ])
    func showsWhereValuesDiffer(_ left: String, _ right: String, _ expected: String) throws {
        let captures = [left, right].map { value in
            var source = MemorySource()
            source.add("GET /a?v=\(value)")
            return source
        }
        let lesson = try Self.lesson(captures[0], captures[1])
        #expect(lesson.proposals.map(\.reason) == ["differs once: " + expected])
    }

    struct Content: CustomTestStringConvertible, Sendable {
        let name: String
        var type = "text/html"
        var contents = ["a", "b"]
        var trailers = ["", ""]
        var rules: [String] = []
        var partialCount = 0

        var testDescription: String { name }
    }

    static let contents = [
        Content(name: "a page", rules: ["ignore response body"]),
        Content(
            name: "an event stream", type: "Text/Event-Stream; charset=utf-8",
            contents: ["data: a\n\n", "data: b\n\n"], partialCount: 1),
        Content(
            name: "an event stream of JSON", type: "text/event-stream",
            contents: [#"data: {"at":1}\n\n"#, #"data: {"at":2}\n\n"#].map {
                $0.replacing("\\n", with: "\n")
            },
            rules: ["ignore response body $.at"]),
        Content(
            name: "a long content", type: "application/json",
            contents: ["1", "2"].map {
                "[\"" + String(repeating: "a", count: 1 << 20) + $0 + "\"]"
            },
            partialCount: 1),
        Content(
            name: "trailers", contents: ["a", "a"],
            trailers: ["X-Sum: 1\r\n\r\n", "x-sum: 2\r\n\r\n"],
            rules: ["ignore response trailer x-sum"]),
    ]

    @Test(arguments: contents)
    func tellsWhatItDidNotLookAt(_ row: Content) throws {
        let captures = [0, 1].map { index in
            var source = MemorySource()
            source.add("GET /a", type: row.type, answer: row.contents[index])
            source.records[0].responseBody.trailers = Array(row.trailers[index].utf8)
            return source
        }
        let lesson = try Self.lesson(captures[0], captures[1])
        #expect(lesson.proposals.map(\.rule.text) == row.rules)
        #expect(lesson.pairCount == 1)
        #expect(lesson.partialCount == row.partialCount)
    }

    private static func lesson(
        _ left: MemorySource, _ right: MemorySource
    ) throws -> RuleLesson {
        try CaptureComparison(.test).lesson(
            .init(name: "a", source: left), .init(name: "b", source: right))
    }
}
