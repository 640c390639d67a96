import Testing

@testable import Base

struct JSONTextTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let value: JSONText
        let line: String
        var testDescription: String { name }
    }

    static let rows = [
        Row(name: "null", value: .null, line: "null"),
        Row(name: "true", value: true, line: "true"),
        Row(name: "least integer", value: .integer(.min), line: "-9223372036854775808"),
        Row(name: "thousandths", value: .thousandths(1250), line: "1.25"),
        Row(name: "whole thousandths", value: .thousandths(3000), line: "3"),
        Row(name: "small thousandths", value: .thousandths(7), line: "0.007"),
        Row(name: "negative thousandths", value: .thousandths(-1), line: "-0.001"),
        Row(name: "least thousandths", value: .thousandths(.min), line: "-9223372036854775.808"),
        Row(name: "empty text", value: "", line: #""""#),
        Row(name: "quotes", value: #"a"b\c/d"#, line: #""a\"b\\c/d""#),
        Row(
            name: "control characters", value: "\u{0}\u{8}\t\n\u{1B}\r",
            line: #""\u0000\u0008\t\n\u001b\r""#),
        Row(name: "terminal controls", value: "\u{7F}\u{9B}2J", line: #""\u007f\u009b2J""#),
        Row(name: "line separators", value: "\u{2028}\u{2029}", line: #""\u2028\u2029""#),
        Row(
            name: "beside what is escaped", value: "\u{A0}\u{2027}\u{202F}€\u{FFFD}\"",
            line: "\"\u{A0}\u{2027}\u{202F}€\u{FFFD}\\\"\""),
        Row(
            name: "changes of direction", value: "a\u{202E}b\u{2066}c\u{61C}\u{200F}",
            line: #""a\u202eb\u2066c\u061c\u200f""#),
        Row(
            name: "invisible", value: "\u{200B}\u{FEFF}\u{E0041}",
            line: #""\u200b\ufeff\udb40\udc41""#),
        Row(name: "joiners stay", value: "a\u{200D}b", line: "\"a\u{200D}b\""),
        Row(name: "beyond ASCII", value: "né 漢 😀", line: #""né 漢 😀""#),
        Row(name: "invalid bytes", value: .bytes([0x61, 0xFF, 0x62]), line: "\"a\u{FFFD}b\""),
        Row(name: "cut character", value: .bytes([0xE2, 0x82]), line: "\"\u{FFFD}\""),
        Row(name: "empty array", value: [], line: "[]"),
        Row(name: "empty object", value: .object([]), line: "{}"),
        Row(
            name: "members in order", value: ["b": 1, "a": [2, .null]],
            line: #"{"b":1,"a":[2,null]}"#),
        Row(name: "listing", value: .each([1, 2]) { .integer($0) }, line: "[1,2]"),
        Row(name: "empty listing", value: .each([Int64]()) { .integer($0) }, line: "[]"),
        Row(name: "name escaped", value: ["a\"": 1], line: #"{"a\"":1}"#),
        Row(name: "missing text", value: .optional(String?.none), line: "null"),
        Row(name: "missing number", value: .optional(Int?.none), line: "null"),
        Row(name: "number", value: .optional(UInt16(443)), line: "443"),
    ]

    @Test(arguments: rows)
    func writesALine(_ row: Row) {
        #expect(row.value.line.text == row.line)
    }

    @Test func indentsADocument() {
        let value: JSONText = ["a": 1, "b": ["x", ["c": []]], "d": .object([])]
        let text = """
            {
              "a": 1,
              "b": [
                "x",
                {
                  "c": []
                }
              ],
              "d": {}
            }

            """
        #expect(value.document.text == text)
    }
}
