import Base
import Testing

@testable import Contents

struct JSONDocumentTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let text: String
        /// The canonical form, `nil` for what is no JSON.
        let canonical: String?

        init(_ name: String, _ text: String, _ canonical: String?) {
            (self.name, self.text, self.canonical) = (name, text, canonical)
        }

        var testDescription: String { name }
    }

    static let rows = [
        Row("words", " [ true , false,null ]\r\n\t", "[true,false,null]"),
        Row("a byte order mark", "\u{FEFF}{}", "{}"),
        Row(
            "members in another order", #"{"b":1,"a":{"d":[],"c":{}}}"#,
            #"{"a":{"c":{},"d":[]},"b":1}"#),
        Row("names that repeat", #"{"a":1,"b":2,"a":3,"\u0061":4}"#, #"{"a":4,"b":2}"#),
        Row("a name within another", #"{"ab":1,"a":2,"":3}"#, #"{"":3,"a":2,"ab":1}"#),
        Row("escapes", #""\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00""#, #""\"\\/\u0008\u000c\n\r\té😀""#),
        Row(
            "half a pair", #"["\ud83dx","\ude00","\ud83d\u0041"]"#,
            "[\"\u{FFFD}x\",\"\u{FFFD}\",\"\u{FFFD}A\"]"),
        Row("what acts on a terminal", "\"\u{7F}\"", #""\u007f""#),
        Row(
            "whole numbers", "[0,-0,-1,12345678901234567890,007,1.0,1e3]",
            "[0,0,-1,12345678901234567890,7,1,1000]"),
        Row(
            "decimals", "[1.5,1.50,0.5,15e-1,1.1234567890123456789,1e400]",
            "[1.5,1.5,0.5,1.5,1.1234567890123457,inf]"),
        Row("numbers some writers write", "[1.,-.5]", "[1,-0.5]"),
        Row("as deep as may be", deep(200), deep(200)),
        Row("too deep", deep(201), nil),
        Row("nothing", "", nil),
        Row("an open array", "[", nil),
        Row("an open object", #"{"a""#, nil),
        Row("a comma at the end", "[1,]", nil),
        Row("no value", #"{"a":}"#, nil),
        Row("a name without quotes", "{a:1}", nil),
        Row("more behind a number", "01x", nil),
        Row("a control character", "\"\u{1}\"", nil),
        Row("an unknown escape", #""\x""#, nil),
        Row("a short escape", #""\u00e""#, nil),
        Row("two values", "[1] 2", nil),
        Row("a plus", "+1", nil),
        Row("a point", ".5", nil),
        Row("a minus", "-", nil),
        Row("no exponent", "1e", nil),
        Row("half a word", "nul", nil),
    ]

    private static func deep(_ count: Int) -> String {
        String(repeating: "[", count: count) + "1" + String(repeating: "]", count: count)
    }

    @Test(arguments: rows)
    func reads(_ row: Row) {
        let document = JSONDocument(Array(row.text.utf8))
        #expect(document?.shown(JSONDocument.root) == row.canonical)
    }

    /// Cut at every offset, nothing traps, and only numbers are whole before their end.
    @Test(arguments: rows)
    func takesTextCutAnywhere(_ row: Row) {
        let bytes = Array(row.text.utf8)
        for end in bytes.indices {
            guard let document = JSONDocument(Array(bytes[..<end])) else { continue }
            let isNumber = document[JSONDocument.root].kind == .number
            #expect(isNumber || bytes[end...].allSatisfy { $0 <= 0x20 } || row.canonical == nil)
        }
    }

    @Test func repairsWhatIsNoUTF8() throws {
        let document = try #require(JSONDocument([0x22, 0xFF, 0x41, 0x22]))
        #expect(document.shown(JSONDocument.root) == "\"\u{FFFD}A\"")
    }

    @Test(arguments: [
        ("1", "1.0", true), ("10", "1e1", true), ("0.1", "0.10", true), ("1.5", "1.25", false),
        ("1", "\"1\"", false), ("12345678901234567890", "12345678901234567891", false),
        (#""é""#, #""\u00e9""#, true), (#""a""#, #""\u0061""#, true), ("[1,2]", "[1, 2]", true),
        ("[1,2]", "[2,1]", false), ("[]", "{}", false), ("null", "false", false),
        (#"{"a":1,"b":2}"#, #"{"b":2,"a":1}"#, true), (#"{"a":0,"a":1}"#, #"{"a":1}"#, true),
        (#"{"a":1}"#, #"{"a":1,"b":null}"#, false),
    ])
    func knowsEqualValues(_ text: String, _ other: String, _ areEqual: Bool) throws {
        let left = try #require(JSONDocument(Array(text.utf8)))
        let right = try #require(JSONDocument(Array(other.utf8)))
        #expect(left.isEqual(JSONDocument.root, right, JSONDocument.root) == areEqual)
        var hashers = (Hasher(), Hasher())
        left.hash(JSONDocument.root, into: &hashers.0)
        right.hash(JSONDocument.root, into: &hashers.1)
        #expect((hashers.0.finalize() == hashers.1.finalize()) == areEqual)
    }
}
