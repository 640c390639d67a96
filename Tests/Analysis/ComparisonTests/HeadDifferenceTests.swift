import Base
import Replay
import Testing

@testable import Comparison

struct HeadDifferenceTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let left: String
        let right: String
        let expected: [String]
        var rules = ""

        init(
            _ name: String, _ left: String, _ right: String, _ expected: [String],
            rules: String = ""
        ) {
            (self.name, self.left, self.right) = (name, left, right)
            (self.expected, self.rules) = (expected, rules)
        }

        var testDescription: String { name }
    }

    static let rows = [
        Row("equal", "A: 1\r\n", "A: 1\r\n", []),
        Row("case and white space", "A: 1\r\n", "a:  1 \r\n", []),
        Row("a value", "A: 1\r\n", "A: 2\r\n", ["field a: 1 → 2"]),
        Row("a field more", "", "A: 1\r\n", ["field a: - → 1"]),
        Row("a field less", "A: 1\r\nB: 2\r\n", "B: 2\r\n", ["field a: 1 → -"]),
        Row("an empty value", "A: 1\r\n", "A:\r\n", ["field a: 1 → "]),
        Row(
            "fields in another order", "A: 1\r\nB: 2\r\n", "B: 2\r\nA: 1\r\n",
            ["note field order moved"]),
        Row(
            "values in another order", "A: 1\r\nA: 2\r\n", "A: 2\r\nA: 1\r\n",
            ["note field a moved"]),
        Row("one value of two", "A: 1\r\nA: 2\r\n", "A: 1\r\nA: 3\r\n", ["field a: 2 → 3"]),
        Row("a value more", "A: 1\r\n", "A: 1\r\nA: 2\r\n", ["field a: - → 2"]),
        Row("folded", "A: 1\r\n 2\r\n", "A: 1 2\r\n", []),
        Row(
            "a folded line that differs", "A: 1\r\n 2\r\nB: 1\r\n", "A: 1\r\n 3\r\nB: 1\r\n",
            ["field a: 1 2 → 1 3"]),
        Row(
            "a folded line alike", "A: 1\r\n 2\r\n", "A: 3\r\n 2\r\n", ["field a: 1 2 → 3 2"]),
        Row("a folded line more", "A: 1\r\n", "A: 1\r\n 2\r\n", ["field a: 1 → 1 2"]),
        Row("a secret", "Cookie: s=1\r\n", "Cookie: s=2\r\n", ["field cookie: s=*** → s=***"]),
        Row("made up each time", "Date: 1\r\nX-Request-Id: a\r\n", "Date: 2\r\n", []),
        Row(
            "counted by a rule", "Date: 1\r\n", "Date: 2\r\n", ["field date: 1 → 2"],
            rules: "match header date"),
        Row(
            "ignored by a rule", "ETag: 1\r\n", "ETag: 2\r\n", [],
            rules: "ignore response header e*"),
        Row("hop by hop", "Connection: close\r\n", "", ["note field connection: close → -"]),
        Row(
            "a length that follows", "Content-Length: 5\r\n", "Content-Length: 7\r\n",
            ["note field content-length: 5 → 7"]),
        Row(
            "a length of its own", "Content-Length: 99\r\n", "Content-Length: 7\r\n",
            ["field content-length: 99 → 7"]),
        Row(
            "a boundary", "Content-Type: multipart/form-data; boundary=a\r\n",
            "Content-Type: multipart/form-data; boundary=b\r\n", []),
        Row(
            "another type", "Content-Type: text/html\r\n", "Content-Type: text/plain\r\n",
            ["field content-type: text/html → text/plain"]),
        Row("no field", "nonsense\r\n", "other\r\n", ["field: nonsense → other"]),
        Row(
            "bytes that are no text", "A: \u{0}\r\n", "A: 1\r\n",
            ["field a: 1 bytes, hexadecimal 00 → 1"]),
    ]

    @Test(arguments: rows)
    func tells(_ row: Row) throws {
        var configuration = ComparisonConfiguration.test
        configuration.rules = try ReplayRules(text: row.rules)
        let difference = HeadDifference(
            side: .response, kind: .field, configuration: configuration, contentSizes: (5, 7))
        let left = Array("HTTP/1.1 200 OK\r\n\(row.left)\r\n".utf8)
        let right = Array("HTTP/2.0 204\r\n\(row.right)\r\n".utf8)
        let found = difference.differences(
            ComparedFields(section: Array("\(row.left)\r\n".utf8)),
            ComparedFields(section: Array("\(row.right)\r\n".utf8)))
        #expect(ContentDifferenceTests.shown(found) == row.expected)
        let (before, after) = ComparedFields.unlike(left, right)
        #expect(difference.differences(before, after) == found)
    }

    /// Heads that end anywhere are compared as far as they go.
    @Test(arguments: rows)
    func takesHeadsCutAnywhere(_ row: Row) {
        let difference = HeadDifference(side: .request, kind: .field, configuration: .test)
        let whole = Array("GET / HTTP/1.1\r\n\(row.left)\r\n".utf8)
        for end in whole.indices {
            let cut = Array(whole[..<end])
            let (before, after) = ComparedFields.unlike(cut, whole)
            #expect(before.lines.count <= after.lines.count)
            let found = difference.differences(
                ComparedFields(section: cut), ComparedFields(section: cut))
            #expect(found.isEmpty)
        }
    }
}
