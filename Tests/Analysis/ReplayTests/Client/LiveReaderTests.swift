import Base
import Contents
import Testing

@testable import Replay

/// What reads values out of contents, on whole ones and on those that end anywhere.
struct LiveReaderTests {
    @Test(arguments: [
        (
            #"{"a": {"b": [1, -2.5e3, "x\"y\u00e9", null, true]}, "c d": {}, "e": []}"#,
            ["$.a.b[0] 1", "$.a.b[1] -2.5e3", #"$.a.b[2] x"yé"#]
        ),
        ("[]", []), (#""text""#, ["$ text"]), ("12", ["$ 12"]),
        (#" [ {"é":"ü"} , [[ "deep" ]] ] "#, ["$[0].é ü", "$[1][0][0] deep"]),
        (#"{"a":1,"b c":"","a":"2"}"#, ["$.a 2", #"$["b c"] "#]),
    ])
    func findsTextsAndNumbers(_ text: String, _ wanted: [String]) throws {
        let document = try #require(JSONDocument(Array(text.utf8)))
        var found: [String] = []
        document.textsAndNumbers { path, place in
            let content = document.content(of: place)
            found.append("\(path) \(content.text)")
            let isText = document[place].kind == .string
            let spelling = document.spelling(of: place)
            #expect(isText ? spelling.first == 0x22 : spelling.elementsEqual(content))
        }
        #expect(found == wanted)
    }

    @Test(arguments: [
        ("<input name=a value=b>", ["field a=b"]),
        ("<INPUT VALUE='x y' TYPE=hidden NAME=\"n\"/>", ["field n=x y"]),
        ("<input name = a\n value = \"b&amp;&#x63;&#100;&unknown;&\">", ["field a=b&cd&unknown;&"]),
        ("<meta name=t content=u><meta property=og content=v>", ["meta t=u", "meta og=v"]),
        ("<!-- <input name=a value=b> --><input name=c value=d>", ["field c=d"]),
        ("<input name=a><inputs name=b value=c><p>5 < 6</p><input value=v>", []),
        ("<input name=a value=b name=c value=d>", ["field a=b"]),
        ("<input name=a value=>", ["field a="]),
    ])
    func findsFields(_ page: String, _ wanted: [String]) {
        let bytes = Array(page.utf8)
        #expect(fields(bytes) == wanted)
        for end in bytes.indices { #expect(fields(Array(bytes[..<end])).count <= wanted.count + 1) }
    }

    private func fields(_ page: [UInt8]) -> [String] {
        var found: [String] = []
        HTMLFields.read(page) { found.append("\($0)=\($1.text)") }
        return found
    }

    @Test(arguments: [
        ("aB3dE6gH9", "", true), ("deadbeef01", "", true), ("1234567", "", true),
        ("12345", "", false), ("standard", "", false), ("Content-Type", "", false),
        ("abcd", "csrf", true), ("abc", "csrf", false), ("true", "token", false),
        ("qWeRtYuIoPaSdFgH", "", true), ("internationalisation", "", false),
        ("Mon, 01 Jan 2026 00:00:00 GMT", "last-modified", true),
        ("a\nb1234567", "", false), (String(repeating: "a1", count: 2049), "", false),
    ])
    func judges(_ value: String, _ name: String, _ isDistinctive: Bool) {
        #expect(ValueRule.isDistinctive(Array(value.utf8), name: name) == isDistinctive)
    }
}
