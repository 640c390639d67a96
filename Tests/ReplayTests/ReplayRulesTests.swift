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
                ignore response body *

                """)
        #expect(try ReplayRules(text: rules.text) == rules)
        #expect(rules.ignores(.request, .body("$.items[12].id")))
        #expect(!rules.ignores(.request, .body("$.items[12].name")))
        #expect(rules.ignores(.request, .body("$.id")))
        #expect(rules.ignores(.request, .authority))
        #expect(!rules.ignores(.response, .authority))
        #expect(rules.ignores(.response, .header("date")))
        #expect(!rules.ignores(.request, .header("accept-language")))
        #expect(rules.matches(header: "accept-language"))
    }

    @Test(arguments: [
        "ignore", "ignore nothing", "ignore query", "match query a", "forget query a",
        "substitute response body $.a", "ignore method GET",
    ])
    func refuses(_ line: String) {
        let failure = #expect(throws: Failure.self) {
            try ReplayRules(text: "# one\n\(line)\n")
        }
        #expect(failure?.code == "rules-malformed")
        #expect(failure?.detail.contains("line 2") == true)
    }

    @Test(arguments: [
        ("abc", "abc", true), ("abc", "a*", true), ("abc", "*c", true), ("abc", "a*b*c", true),
        ("abc", "*", true), ("", "*", true), ("abc", "ab", false), ("abc", "*d*", false),
        ("$.a[1].b", "$.a[*].b", true), ("aXbXc", "a*Xc", true), ("abc", "abc*", true),
    ])
    func globs(_ text: String, _ pattern: String, _ expected: Bool) {
        #expect(Glob.matches(text, pattern) == expected)
    }
}
