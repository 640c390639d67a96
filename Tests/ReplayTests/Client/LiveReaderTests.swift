import Base
import Testing

@testable import Replay

/// What reads values out of contents, on whole ones and on those that end anywhere.
struct LiveReaderTests {
    @Test(arguments: [
        #"{"a": {"b": [1, -2.5e3, "x\"y\u00e9", null, true]}, "c d": {}, "e": []}"#,
        #"[]"#, #""text""#, "12", #" [ {"é":"ü"} , [[ "deep" ]] ] "#,
    ])
    func findsLeaves(_ text: String) throws {
        let bytes = Array(text.utf8)
        let leaves = try #require(JSONLeaves.read(bytes))
        var wanted: [String] = []
        try #require(JSONValue(bytes)).leaves { path, value in
            switch value {
            case .string(let text): wanted.append("\(path) \(text)")
            case .number: wanted.append("\(path)")
            default: break
            }
        }
        let found = leaves.map { $0.isString ? "\($0.path) \($0.value.text)" : $0.path }
        #expect(found.sorted() == wanted.sorted())
        for leaf in leaves where !leaf.isString {
            #expect(bytes[leaf.range].elementsEqual(leaf.value))
        }
        for end in bytes.indices {
            let cut = Array(bytes[..<end])
            #expect(JSONLeaves.read(cut) == nil || JSONValue(cut) != nil, "\(cut.text)")
        }
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
