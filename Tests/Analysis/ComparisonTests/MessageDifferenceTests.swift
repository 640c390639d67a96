import Base
import Replay
import Testing
import Traffic

@testable import Comparison

struct MessageDifferenceTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let left: [String]
        let right: [String]
        /// A line a difference.
        let expected: [String]
        var rules = ""

        init(
            _ name: String, _ left: [String], _ right: [String], _ expected: [String],
            rules: String = ""
        ) {
            (self.name, self.left, self.right) = (name, left, right)
            (self.expected, self.rules) = (expected, rules)
        }

        var testDescription: String { name }
    }

    static let rows = [
        Row("equal", ["> a", "< b"], ["> a", "< b"], []),
        Row("interleaved in another way", ["> a", "< b", "> c"], ["> a", "> c", "< b"], []),
        Row("layout", [#"> {"a":1,"b":2}"#], [#"> {"b":2, "a":1}"#], []),
        Row(
            "JSON", [#"> {"a":1}"#, #"< {"b":{"c":[1]}}"#], [#"> {"a":2}"#, #"< {"b":{"c":[2]}}"#],
            ["request message 1 JSON $.a: 1 → 2", "response message 1 JSON $.b.c[0]: 1 → 2"]),
        Row(
            "text", ["< one", "< two"], ["< one", "< 2"],
            ["response message 2 text line 1: two → 2"]),
        Row("one more", ["< a", "< c"], ["< a", "< b", "< c"], ["response message 2: - → b"]),
        Row("one less", ["< a", "< b"], ["< b"], ["response message 1: a → -"]),
        Row("none on one side", [], ["> a"], ["request message 1: - → a"]),
        Row(
            "one put in between others that differ",
            [#"< {"type":"tick","n":1}"#, #"< {"type":"order","n":1}"#],
            [#"< {"type":"hello"}"#, #"< {"type":"tick","n":2}"#, #"< {"type":"order","n":3}"#],
            [
                #"response message 1: - → {"type":"hello"}"#,
                "response message 1 JSON $.n: 1 → 2", "response message 2 JSON $.n: 1 → 3",
            ]),
        Row("to binary", ["> a"], ["> <binary>a"], ["request message 1: a → a"]),
        Row(
            "binary", ["> <binary>\u{0}a"], ["> <binary>\u{0}bc"],
            ["request message 1 content: 2 bytes, SHA-256 # → 3 bytes, SHA-256 #"]),
        Row("pings", ["> <ping>a", "> b"], ["< <pong>", "> b"], []),
        Row("pieces of a stream", ["> <segment>a"], ["> <segment>b"], []),
        Row(
            "another close", ["< <close>1000"], ["< <close>1011 oops"],
            ["response message 1 close: 1000 → 1011 oops"]),
        Row(
            "no close", ["< a", "< <close>1000"], ["< a"], ["response message 2: close 1000 → -"]),
        Row(
            "a secret", [#"> {"password":"a"}"#], [#"> {"password":"b"}"#],
            [#"request message 1 JSON $.password: "***" → "***""#]),
        Row(
            "a secret on one side", [], [#"> {"password":"a"}"#],
            [#"request message 1: - → {"password":"***"}"#]),
        Row(
            "a secret of a dialogue", ["> PASS hushhush"], ["> PASS secret"],
            ["request message 1 text: *** → ***"]),
        Row(
            "an ignored member", [#"< {"t":1,"a":1}"#, #"< {"t":2,"a":2}"#],
            [#"< {"t":8,"a":0}"#, #"< {"t":9,"a":1}"#, #"< {"t":9,"a":2}"#],
            [#"response message 1: - → {"t":8,"a":0}"#], rules: "ignore response body $.t"),
        Row("ignored contents", ["< a"], ["< b", "< c"], [], rules: "ignore response body *"),
        Row("ignored texts", ["< a"], ["< b"], [], rules: "ignore response body"),
        Row(
            "JSON, where texts are ignored", [#"< {"a":1}"#], [#"< {"a":2}"#],
            ["response message 1 JSON $.a: 1 → 2"], rules: "ignore response body"),
        Row(
            "a rule for the other side", ["> a"], ["> b"], ["request message 1 text line 1: a → b"],
            rules: "ignore response body"),
        Row(
            "no JSON", ["> {a"], ["> {b"], ["request message 1 text line 1: {a → {b"]),
    ]

    @Test(arguments: rows)
    func tells(_ row: Row) throws {
        let report = try Self.compare(row.left, row.right) {
            $0.rules = try ReplayRules(text: row.rules)
        }
        #expect(Self.lines(report) == row.expected)
        #expect(report.isDifferent == !row.expected.isEmpty)
    }

    /// Messages that end anywhere are compared as far as they go.
    @Test(arguments: rows)
    func takesMessagesCutAnywhere(_ row: Row) throws {
        for (index, message) in row.left.enumerated() {
            for length in 2..<message.count {
                var cut = row.left
                cut[index] = String(message.prefix(length))
                #expect(try !Self.compare(cut, cut) { _ in }.isDifferent)
                _ = try Self.compare(cut, row.right) { _ in }
            }
        }
    }

    @Test func boundsHowManyAreTold() throws {
        let left = (0..<20).map { "> \($0)" }
        let report = try Self.compare(left, left.map { $0 + "x" }) { $0.messageLimit = 3 }
        #expect(
            Self.lines(report).map { String($0.prefix(while: { $0 != ":" })) } == [
                "request message 1 text line 1", "request message 2 text line 1",
                "request message 3 text line 1", "request message 4 and on",
            ])
        let rest = report.entries.first?.differences.last
        #expect(rest?.left?.hasPrefix("17 more, 27 bytes, digest ") == true)
        let few = try Self.compare(left, left.map { $0 + "x" }) { $0.differenceLimit = 4 }
        #expect(few.entries.first?.differences.count == 4 && few.entries.first?.isCut == true)
    }

    @Test func boundsWhatIsHeld() throws {
        let long = String(repeating: "x", count: 100)
        let report = try Self.compare(["> a", "> \(long)", "> b"], ["> a", "> \(long)y", "> b"]) {
            $0.contentLimit = 50
        }
        #expect(report.entries.first?.differences.map(\.title) == ["request message 2 and on"])
    }

    /// What is not held of a message counts all the same, however it was cut into parts.
    @Test(arguments: [
        (["aaaa", "bbbb", "cccc"], ["aaaa", "bbbb", "cccd"], 6, true),
        (["aaaa", "bbbb", "cccc"], ["aaaa", "bbbc", "cccc"], 6, true),
        (["aaaa", "bbbb", "cccc"], ["aaa", "abbbbc", "ccc"], 6, false),
        (["aaaa", "bbbb", "cccc"], ["aaaa", "bbbb", "cccc"], 6, false),
        (["aaaa", "~bbbb", "cccc"], ["aaaa", "~bbbc", "cccc"], 99, true),
        (["aaaa", "~bbbb", "cccc"], ["aaaa", "~bbbb", "cccd"], 99, true),
        (["aaaa", "~bbbb", "cccc"], ["aaaa", "~bbbb", "cccc"], 99, false),
    ])
    func countsWhatIsNotHeld(
        _ parts: [String], _ others: [String], _ limit: Int, _ isDifferent: Bool
    ) throws {
        let report = try Self.compare(Self.source(parts), Self.source(others)) {
            $0.contentLimit = limit
        }
        #expect(report.isDifferent == isDifferent)
        #expect(
            report.entries.flatMap(\.differences).map(\.title)
                == (isDifferent ? ["request message 1 content"] : []))
    }

    /// A message in parts; one that begins with `~` was recorded without a byte of it.
    private static func source(_ parts: [String]) -> MemorySource {
        var source = MemorySource()
        let id = source.add("GET /socket", messages: [])
        source.dialogues[id] = parts.enumerated().map { index, text in
            var part = MessageRecord(
                connection: 1, exchange: id, number: 1, at: Timestamp(microseconds: 1),
                direction: .request, kind: .text)
            part.bytes = text.utf8.filter { $0 != UInt8(ascii: "~") }
            (part.part, part.size) = (index, Int64(text.utf8.count))
            part.isTruncated = text.hasPrefix("~")
            part.isLast = index == parts.count - 1
            return part
        }
        return source
    }

    @Test func putsPartsTogether() throws {
        var (left, right) = (MemorySource(), MemorySource())
        let id = left.add("GET /socket", messages: ["> {\"a\":", "> 1}"])
        right.add("GET /socket", messages: ["> {\"a\":2}"])
        left.dialogues[id] = left.dialogues[id]?.enumerated().map { index, record in
            var part = MessageRecord(
                connection: 1, exchange: id, number: 1, at: record.at, direction: .request,
                kind: .text)
            (part.part, part.bytes, part.size) = (index, record.bytes, record.size)
            part.isLast = index == 1
            return part
        }
        let report = try CaptureComparison(.test).compare(
            .init(name: "a", source: left), .init(name: "b", source: right))
        #expect(Self.lines(report) == ["request message 1 JSON $.a: 1 → 2"])
        let document = ComparisonJSON.document(report).line.text
        #expect(document.contains(#""kind":"json","message":1,"path":"$.a""#))
        #expect(ComparisonHTML.page(report).text.contains("<bdi>request message 1 JSON $.a</bdi>"))
    }

    private static func compare(
        _ left: [String], _ right: [String],
        _ configure: (inout ComparisonConfiguration) throws -> Void
    ) throws -> ComparisonReport {
        var (before, after) = (MemorySource(), MemorySource())
        before.add("GET /socket", messages: left)
        after.add("GET /socket", messages: right)
        return try compare(before, after, configure)
    }

    private static func compare(
        _ before: MemorySource, _ after: MemorySource,
        _ configure: (inout ComparisonConfiguration) throws -> Void
    ) throws -> ComparisonReport {
        var configuration = ComparisonConfiguration.test
        try configure(&configuration)
        return try CaptureComparison(configuration).compare(
            .init(name: "a", source: before), .init(name: "b", source: after))
    }

    private static func lines(_ report: ComparisonReport) -> [String] {
        report.entries.flatMap(\.differences).map { difference in
            let (left, right) = (difference.left ?? "-", difference.right ?? "-")
            return ContentDifferenceTests.withoutDigests("\(difference.title): \(left)")
                + " → " + ContentDifferenceTests.withoutDigests(right)
        }
    }
}
