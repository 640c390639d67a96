import Base
import Testing

@testable import Replay

struct ReplayRulesTests {
    @Test func reads() throws {
        let text = """
            # made up by the client
            ignore query nonce

            ignore   body $.items[*].id
            match header Accept-Language
            substitute body $.id
            ignore response header date
            ignore authority
            ignore response body
            """
        let rules = try ReplayRules(text: text)
        #expect(
            rules.text == """
                ignore query nonce
                ignore body $.items[*].id
                match header accept-language
                substitute body $.id
                ignore response header date
                ignore authority
                ignore response body

                """)
        #expect(try ReplayRules(text: rules.text) == rules)
        #expect(rules.ignores(.request, .body("$.items[12].id")))
        #expect(!rules.ignores(.request, .body("$.items[12].name")))
        #expect(rules.ignores(.request, .body("$.id")))
        #expect(rules.ignores(.response, .body("")))
        #expect(!rules.ignores(.response, .body("$.total")))
        #expect(!rules.ignoresContents(.response))
        #expect(try ReplayRules(text: "ignore response body *").ignoresContents(.response))
        #expect(rules.ignores(.request, .authority))
        #expect(!rules.ignores(.response, .authority))
        #expect(rules.ignores(.response, .header("date")))
        #expect(!rules.ignores(.request, .header("accept-language")))
        #expect(rules.matches(header: "accept-language"))
    }

    /// Where a rule with a scope holds.
    @Test(arguments: [
        ("/orders/*", "a.example", "/orders/7", true), ("/orders/*", "a.example", "/orders", false),
        ("/orders/*", "a.example", "/orders/7/lines", false),
        ("/orders/**", "a.example", "/orders/7/lines", true),
        ("/**", "a.example", "/", true), ("/o*s/7", "a.example", "/orders/7", true),
        ("a.example", "a.example", "/x", true), ("a.example", "A.Example:8443", "/x", true),
        ("a.example:8443", "a.example:8443", "/x", true),
        ("a.example:8443", "a.example", "/x", false),
        ("*.example/x", "a.example", "/x", true), ("*.example/x", "a.example", "/y", false),
        ("localhost/x", "[::1]:80", "/x", false), ("[::1]:80", "[::1]:80", "/x", true),
    ])
    func holdsWhereItIsToHold(
        _ scope: String, _ authority: String, _ path: String, _ holds: Bool
    ) throws {
        let text = "ignore at \(scope) response header x-day\nignore at \(scope) path\n"
        let rules = try ReplayRules(text: text)
        #expect(rules.text == text)
        #expect(!rules.ignores(.response, .header("x-day")))
        let placed = rules.at([(authority, path)])
        #expect(placed.ignores(.response, .header("x-day")) == holds)
        #expect(placed.ignores(.request, .path) == holds)
    }

    @Test(arguments: [
        "ignore at", "ignore at /a", "ignore at /a nothing",
        "ignore", "ignore nothing", "ignore query", "match query a", "forget query a",
        "substitute response body $.a", "ignore method GET", "ignore query \"a", "ignore header \"",
        "ignore query \"a\" b",
    ])
    func refuses(_ line: String) {
        let failure = #expect(throws: Failure.self) {
            try ReplayRules(text: "# one\n\(line)\n")
        }
        #expect(failure?.code == "rules-malformed")
        #expect(failure?.detail.contains("line 2") == true)
    }

    static let names = [
        "", " ", " a", "a ", "a  b", "a\tb", "*", "**", "\\*", "\\", "a\\", "\\\\*", "\"", "\"a\"",
        "a\"b", "#", "a\nb", "\r\n", "\u{2028}", "a\u{85}b", "\u{301}x", "é", "\u{FFFD}",
        "\u{202E}",
        "\u{1F600}", "\u{E0001}", "\u{0}", "response", "$[\"urn:item:1\"].a", "$[\"a  b\"]", "a[]",
        String(decoding: [0x61, 0xFF, 0x2A] as [UInt8], as: UTF8.self),
    ]

    /// What is proposed for a name is read again as it was, and stands for that name alone.
    @Test(arguments: names)
    func keepsNames(_ name: String) throws {
        for part in [MessagePart.query(name), .header(name), .body(name), .trailer(name)] {
            let rule = ReplayRule(.ignore, .response, part.pattern)
            #expect(try ReplayRules(text: ReplayRules([rule, rule]).text).rules == [rule, rule])
            #expect(rule.covers(part))
            #expect(!rule.covers(.query(name + "x")))
            #expect(!rule.covers(.header("x" + name)))
            #expect(!rule.covers(.body(name.isEmpty ? "$.total" : name + "x")))
            #expect(
                rule.text.unicodeScalars.allSatisfy { !$0.properties.isDefaultIgnorableCodePoint })
        }
    }

    @Test(arguments: [
        ("$.items[12].at", "$.items[*].at"), ("[0].1", "[*].1"), ("a[]", "a[]"), ("a[0x]", "a[0x]"),
        (#"$["urn:item:1"][3]"#, #"$["urn:item:1"][*]"#), (#"$["y\u2028x"]"#, #"$["y\u2028x"]"#),
        (#"$["a\"[1]"][2]"#, #"$["a\"[1]"][*]"#), (#"$["a\\"][2]"#, #"$["a\\"][*]"#),
        (#"$["*"][2]"#, #"$["\*"][*]"#), (#"$["7"#, #"$["7"#), ("[", "["), ("a[1", "a[1"),
        (#"$["[1]"]"#, #"$["[1]"]"#),
    ])
    func generalizesIndices(_ path: String, _ pattern: String) {
        #expect(MessagePart.body(path).pattern == .body(pattern))
        #expect(Glob.matches(path, pattern))
    }
}
