import Base
import Foundation
import HTTPCodecs
import Replay
import TestConditions
import Testing

@testable import Comparison

struct ContentDifferenceTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let type: String
        let left: String
        let right: String
        /// A line a difference.
        let expected: [String]
        var rules = ""

        init(
            _ name: String, _ type: String, _ left: String, _ right: String, _ expected: [String],
            rules: String = ""
        ) {
            (self.name, self.type, self.left, self.right) = (name, type, left, right)
            (self.expected, self.rules) = (expected, rules)
        }

        var testDescription: String { name }
    }

    static let json = "application/json"
    static let events = "text/event-stream"
    static let grpc = "application/grpc"

    private static func prefixed(_ message: String) -> String {
        "\u{0}\u{0}\u{0}\u{0}\(Character(Unicode.Scalar(UInt8(message.utf8.count))))\(message)"
    }

    static let form = "application/x-www-form-urlencoded"

    static let jsonRows = [
        Row("equal", json, #"{"a":1}"#, #"{"a":1}"#, []),
        Row("layout", json, #"{"a":1,"b":2}"#, #"{"b":2, "a":1.0}"#, ["note json layout"]),
        Row("a number", json, #"{"a":1}"#, #"{"a":2}"#, ["json $.a: 1 → 2"]),
        Row("a type", json, #"{"a":1}"#, #"{"a":"1"}"#, [#"json $.a: 1 → "1""#]),
        Row("a member more", json, "{}", #"{"a":{"b":1}}"#, [#"json $.a: - → {"b":1}"#]),
        Row("a member less", json, #"{"a":null}"#, "{}", ["json $.a: null → -"]),
        Row(
            "members of others", json, #"{"a":{"x":1,"z":3}}"#, #"{"a":{"y":2,"z":3}}"#,
            ["json $.a.x: 1 → -", "json $.a.y: - → 2"]),
        Row("a name with signs", json, #"{"a b":1}"#, #"{"a b":2}"#, [#"json $["a b"]: 1 → 2"#]),
        Row("an element more", json, "[1,2,3]", "[1,9,2,3]", ["json $[1]: - → 9"]),
        Row("an element less", json, "[1,2,3]", "[2,3]", ["json $[0]: 1 → -"]),
        Row("an element changed", json, "[1,2,3]", "[1,5,3]", ["json $[1]: 2 → 5"]),
        Row(
            "by identity", json, #"[{"id":1,"v":1},{"id":2,"v":2}]"#,
            #"[{"id":2,"v":3},{"id":1,"v":1}]"#, ["json $[1].v: 2 → 3", "note json $ moved"]),
        Row(
            "by identity, one more", json, #"[{"id":1},{"id":2}]"#,
            #"[{"id":0},{"id":1},{"id":2}]"#,
            [#"json $[0]: - → {"id":0}"#]),
        Row(
            "identity that repeats is none", json, #"[{"id":1,"v":1},{"id":1,"v":2}]"#,
            #"[{"id":1,"v":1},{"id":1,"v":3}]"#, ["json $[1].v: 2 → 3"]),
        Row(
            "members in another order", json, #"{"a":1,"b":2,"c":3}"#, #"{"c":4,"a":5,"b":2}"#,
            ["json $.a: 1 → 5", "json $.c: 3 → 4"]),
        Row(
            "members that differ, by name", json, #"{"b":1,"a":1}"#, #"{"b":2,"a":2}"#,
            ["json $.a: 1 → 2", "json $.b: 1 → 2"]),
        Row(
            "names with escapes in another order", json,
            #"{"\u0062":1,"a":1,"\u0062\u0063":1,"d":3}"#,
            #"{"\u0061":1,"\u0062":2,"e":3,"b":1}"#,
            ["json $.bc: 1 → -", "json $.d: 3 → -", "json $.e: - → 3"]),
        Row(
            "a name that repeats", json, #"{"a":1,"b":1,"a":2}"#, #"{"a":3,"b":1,"a":2}"#,
            ["note json layout"]),
        Row(
            "a name that repeats in another spelling", json, #"{"a":1,"\u0061":2}"#,
            #"{"a":3,"\u0061":2}"#, ["note json layout"]),
        Row(
            "many members", json, members(20, from: 0), members(20, from: 1),
            (0..<20).map { "json $.\(letter($0)): \($0) → \($0 + 1)" }),
        Row("a decimal", json, "[1.5]", "[1.25]", ["json $[0]: 1.5 → 1.25"]),
        Row(
            "a decimal inside", json, "[]", #"[{"a":1.50}]"#, [#"json $[0]: - → {"a":1.5}"#]),
        Row(
            "an ignored whole", json, #"{"a":1}"#, #"{"a":2}"#, [],
            rules: "ignore response body $"),
        Row(
            "an ignored member in another layout", json, #"{"a":1,"t":1}"#, #"{"a": 1,"t":2}"#, [],
            rules: "ignore response body $.t"),
        Row(
            "a secret of its elements", json, #"{"tokens":["a",{"n":1,"b":true}]}"#,
            #"{"tokens":["c",{"n":2,"b":false}]}"#,
            [
                #"json $.tokens[0]: "***" → "***""#, "json $.tokens[1].b: true → false",
                #"json $.tokens[1].n: "***" → "***""#,
            ]),
        Row(
            "an object with a secret", json, "{}", #"{"a":{"password":"x","b":1}}"#,
            [#"json $.a: - → {"b":1,"password":"***"}"#]),
        Row(
            "a secret in a text", json, #"["http://u:p@h/?token=1"]"#,
            #"["http://u:q@h/?token=2"]"#,
            [#"json $[0]: "http://***@h/?token=***" → "http://***@h/?token=***""#]),
        Row("object to array", json, #"{"a":{}}"#, #"{"a":[]}"#, ["json $.a: {} → []"]),
        Row(
            "a secret", json, #"{"password":"a"}"#, #"{"password":"b"}"#,
            [#"json $.password: "***" → "***""#]),
        Row(
            "a member of a secret", json, #"{"token":{"v":1,"w":2}}"#, #"{"token":{"v":3,"w":2}}"#,
            [#"json $.token.v: "***" → "***""#]),
        Row(
            "an ignored member", json, #"{"a":1,"t":1}"#, #"{"a":1,"t":2}"#, [],
            rules: "ignore response body $.t"),
        Row(
            "an ignored member of elements", json, #"[{"v":1,"t":1},{"v":2,"t":1}]"#,
            #"[{"v":1,"t":2},{"v":2,"t":3}]"#, [], rules: "ignore response body $[*].t"),
        Row(
            "a rule for the other side", json, #"{"t":1}"#, #"{"t":2}"#, ["json $.t: 1 → 2"],
            rules: "ignore body $.t"),
        Row("content that is ignored", json, "1", "2", [], rules: "ignore response body *"),
        Row(
            "JSON, where texts are ignored", json, #"{"total":100}"#, #"{"total":999}"#,
            ["json $.total: 100 → 999"], rules: "ignore response body"),
        Row(
            "a page that is ignored", "text/html", "<p>1", "<p>2", [],
            rules: "ignore response body"),
        Row("a page from nothing", "text/html", "", "<p>2", [], rules: "ignore response body"),
        Row(
            "JSON from nothing, where texts are ignored", json, "", "[1]",
            ["binary: - → 3 bytes, SHA-256 #"], rules: "ignore response body"),
        Row(
            "events, where texts are ignored", events, "data: {\"t\":1}\n\n",
            "data: {\"t\":2}\n\n", ["json $.t: 1 → 2"], rules: "ignore response body"),
        Row("no JSON", json, #"{"a":1"#, #"{"a":2"#, ["binary: 6 bytes → 6 bytes"]),
    ]

    private static func letter(_ index: Int) -> String {
        String(Character(Unicode.Scalar(UInt8(0x61 + index))))
    }

    private static func members(_ count: Int, from start: Int) -> String {
        "{" + (0..<count).map { "\"\(letter($0))\":\(start + $0)" }.joined(separator: ",") + "}"
    }

    static let otherRows = [
        Row(
            "a text in quotes", "text/plain", #""Authorization: Bearer abc""#,
            #""Authorization: Bearer abd""#, ["text: *** → ***"]),
        Row(
            "an event", events, "data: {\"a\":1}\n\n: c\n\ndata: b\n\n",
            "data: {\"a\":2}\n\ndata: b\n\n", ["json $.a: 1 → 2"]),
        Row(
            "an event more", events, "event: x\ndata: 1\n\n",
            "id: 7\ndata: a\r\ndata: b\r\n\r\nevent: x\ndata: 1\n\n", ["message: - → id 7: a\nb"]),
        Row(
            "an event's type", events, "event: x\ndata: a\n\n", "event: y\ndata: a\n\n",
            ["message event: x → y"]),
        Row(
            "comments", events, ": 1\n\ndata: a\n\n", ": 2\n\ndata:a\r\n\r\n", ["note text layout"]),
        Row(
            "an event's secret", events, "data: {\"token\":\"a\"}\n\n",
            "data: {\"token\":\"b\"}\n\n",
            [#"json $.token: "***" → "***""#]),
        Row(
            "an ignored member of events", events, "data: {\"t\":1}\n\n",
            "data: {\"t\":2}\n\n", [], rules: "ignore response body $.t"),
        Row(
            "the start of an event", events, "data: a\n\ndata: b", "data: a\n\ndata: c",
            ["text line 1: b → c"]),
        Row(
            "an event that breaks off", events, "data: a\n\n", "data: a\n\ndata: b\n",
            ["message: - → b"]),
        Row(
            "a comment at the end", events, "data: a\n\n", "data: a\n\n: b\r",
            ["note text layout"]),
        Row("no event", events, "data: a\n", "data: b\n", ["text line 1: data: a → data: b"]),
        Row(
            "a message of gRPC", grpc, prefixed("\u{8}\u{1}") + prefixed("\u{8}\u{2}"),
            prefixed("\u{8}\u{1}") + prefixed("\u{8}\u{3}"), ["form 1: 2 → 3"]),
        Row(
            "a message of gRPC more", grpc, prefixed("\u{8}\u{2}"),
            prefixed("\u{8}\u{1}") + prefixed("\u{8}\u{2}"), ["message: - → 2 bytes, SHA-256 #"]),
        Row(
            "an ignored field of gRPC", grpc, prefixed("\u{8}\u{1}"), prefixed("\u{8}\u{2}"), [],
            rules: "ignore response body [*].1"),
        Row(
            "gRPC that is cut", grpc, prefixed("\u{8}\u{1}") + "\u{0}", prefixed("\u{8}\u{2}"),
            ["binary: 8 bytes, SHA-256 # → 7 bytes, SHA-256 #"]),
        Row(
            "gRPC that is cut elsewhere", grpc, prefixed("\u{8}\u{1}") + "\u{0}\u{0}",
            prefixed("\u{8}\u{1}") + "\u{0}\u{1}",
            ["binary: 9 bytes, SHA-256 # → 9 bytes, SHA-256 #"]),
        Row(
            "gRPC-Web as text", "application/grpc-web-text", "AAAAAAIIAQ==", "AAAAAAIIAg==",
            ["binary: 12 bytes, SHA-256 # → 12 bytes, SHA-256 #"]),
        Row("a form field", form, "a=1&b=2", "a=1&b=3", ["form b: 2 → 3"]),
        Row("form fields in another order", form, "a=1&b=2", "b=2&a=1", []),
        Row("a form's secret", form, "password=a", "password=b", ["form password: *** → ***"]),
        Row("a form field more", form, "a=1", "a=1&a=2", ["form a: - → 2"]),
        Row(
            "boundaries", "multipart/form-data; boundary=x",
            "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--x--\r\n",
            "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n2\r\n--x--\r\n",
            ["form a: 1 → 2"]),
        Row("a line", "text/plain", "a\nb\nc\n", "a\nx\nc\n", ["text line 2: b → x"]),
        Row("lines more", "text/plain", "a\nc\n", "a\nb\nb\nc\n", ["text lines 2-3: - → b\nb"]),
        Row("line ends", "text/plain", "a\r\nb\r\n", "a\nb\n", ["note text line ends"]),
        Row(
            "a secret in text", "text/plain", "Authorization: Bearer abc\n",
            "Authorization: Bearer abd\n", ["text: *** → ***"]),
        Row(
            "binary", "image/png", "\u{0}a", "\u{0}bc",
            ["binary: 2 bytes, SHA-256 # → 3 bytes, SHA-256 #"]),
        Row("nothing at all", "text/plain", "", "abc", ["binary: - → 3 bytes, SHA-256 #"]),
        Row("another kind", "text/plain", "{}", "<p>", ["text line 1: {} → <p>"]),
    ]

    @Test(arguments: jsonRows + otherRows)
    func tells(_ row: Row) throws {
        let rules = try ReplayRules(text: row.rules)
        #expect(Self.shown(Self.differences(row, rules: rules)) == row.expected)
    }

    /// A reader of cut content must not fail, nor find a difference in what is equal.
    @Test(arguments: jsonRows + otherRows)
    func takesContentCutAnywhere(_ row: Row) throws {
        for length in 0...row.left.utf8.count {
            var cut = Self.content(row.left, row.type)
            cut.bytes = Array(cut.bytes.prefix(length))
            let difference = ContentDifference(side: .response, configuration: .test)
            #expect(difference.differences(cut, cut).isEmpty)
            let found = difference.differences(cut, Self.content(row.right, row.type))
            #expect(
                !found.isEmpty || row.right.hasPrefix(cut.bytes.text) || !row.rules.isEmpty
                    || row.expected.isEmpty)
        }
    }

    @Test func showsSecretsIfAsked() {
        var configuration = ComparisonConfiguration.test
        configuration.withSecrets = true
        let found = ContentDifference(side: .response, configuration: configuration).differences(
            Self.content(#"{"password":"a"}"#, Self.json),
            Self.content(#"{"password":"b"}"#, Self.json))
        #expect(Self.shown(found) == [#"json $.password: "a" → "b""#])
    }

    @Test func comparesDecoded() {
        var left = Self.content(#"{"a":1}"#, Self.json)
        left.codings = [.deflate]
        left.bytes = deflated(left.bytes)
        let right = Self.content(#"{"a":2}"#, Self.json)
        let found = ContentDifference(side: .response, configuration: .test).differences(
            left, right)
        #expect(Self.shown(found) == ["json $.a: 1 → 2"])
    }

    /// Contents that unpack to more than is compared are not the same because their starts are.
    @Test func comparesNoStarts() {
        var configuration = ComparisonConfiguration.test
        configuration.contentLimit = 40
        let contents = ["x", "y"].map { end in
            var content = Self.content(String(repeating: "a", count: 40) + end, "text/plain")
            content.bytes = deflated(content.bytes)
            content.codings = [.deflate]
            return content
        }
        let found = ContentDifference(side: .response, configuration: configuration).differences(
            contents[0], contents[1])
        #expect(found.map(\.kind) == [.binary])
    }

    @Test func tellsOnlySizesOfWhatIsNotWhole() {
        var left = Self.content("abc", "text/plain")
        left.isWhole = false
        left.size = 5_000_000
        let found = ContentDifference(side: .response, configuration: .test).differences(
            left, Self.content("abd", "text/plain"))
        #expect(Self.shown(found) == ["binary: 5000000 bytes → 3 bytes, SHA-256 #"])
    }

    @Test func boundsWhatIsTold() {
        let left = "[" + (0..<500).map(String.init).joined(separator: ",") + "]"
        let right = "[" + (1000..<1500).map(String.init).joined(separator: ",") + "]"
        let found = ContentDifference(side: .response, configuration: .test).differences(
            Self.content(left, Self.json), Self.content(right, Self.json))
        #expect(found.count == 101)
        let long = String(repeating: "x", count: 5000)
        let text = ContentDifference(side: .response, configuration: .test).differences(
            Self.content(long, "text/plain"), Self.content(long + "y", "text/plain"))
        #expect(text.allSatisfy { ($0.left?.utf8.count ?? 0) < 500 })
    }

    @Test(arguments: [
        (events, "data: 1\n\n", "data: 2\n\n"), (events, "data: 1\n\n", "id: 1\ndata: 1\n\n"),
        (grpc, prefixed("a"), prefixed("b")),
        (grpc, prefixed("a"), "\u{1}" + prefixed("a").dropFirst()),
    ])
    func boundsMessages(_ type: String, _ message: String, _ other: String) {
        var configuration = ComparisonConfiguration.test
        configuration.messageLimit = 2
        configuration.sha256 = { $0 }
        let difference = ContentDifference(side: .response, configuration: configuration)
        let start = String(repeating: message, count: 5)
        let found = difference.differences(
            Self.content(start + message, type), Self.content(start + other, type))
        #expect(found.map(\.path) == ["and on"])
        #expect(found.first?.left?.hasPrefix("4 more, 4 bytes, digest ") == true)
        #expect(difference.differences(Self.content(start, type), Self.content(start, type)) == [])
    }

    /// A long name with an escape is decoded once, not for each member on the other side.
    @Test(.processorTime(below: .seconds(60))) func decodesLongNamesOnce() {
        let long = #"{"\u007a"# + String(repeating: "z", count: 200_000) + #"":1}"#
        let many = (0..<20_000).map { #""\u0062\#($0)":1"# }.joined(separator: ",")
        let found = ContentDifference(side: .response, configuration: .test).differences(
            Self.content(long, Self.json), Self.content("{\(many)}", Self.json))
        #expect(found.count == 101)
    }

    private static func differences(_ row: Row, rules: ReplayRules) -> [Difference] {
        var configuration = ComparisonConfiguration.test
        configuration.rules = rules
        return ContentDifference(side: .response, configuration: configuration).differences(
            content(row.left, row.type), content(row.right, row.type))
    }

    private static func content(_ text: String, _ type: String) -> ContentDifference.Content {
        var content = ContentDifference.Content()
        content.bytes = Array(text.utf8)
        content.size = Int64(content.bytes.count)
        content.types = [Array(type.utf8)]
        return content
    }

    static func shown(_ differences: [Difference]) -> [String] {
        differences.map { difference in
            let place = difference.path.isEmpty ? "" : " \(difference.path)"
            let start = (difference.isNote ? "note " : "") + difference.kind.rawValue + place
            if difference.change == .moved { return start + " moved" }
            if difference.left == nil, difference.right == nil { return start }
            let (left, right) = (difference.left ?? "-", difference.right ?? "-")
            return "\(start): \(withoutDigests(left)) → \(withoutDigests(right))"
        }
    }

    static func withoutDigests(_ text: String) -> String {
        guard let range = text.range(of: "SHA-256 ") else { return text }
        return text[..<range.upperBound] + "#"
    }
}

extension ComparisonConfiguration {
    static var test: ComparisonConfiguration {
        ComparisonConfiguration(
            sha256: { [UInt8](repeating: UInt8(truncatingIfNeeded: $0.count), count: 32) })
    }
}
