import Base
import Testing

@Suite struct GlobTests {
    @Test(arguments: [
        ("abc", "abc", true), ("abc", "a*", true), ("abc", "*c", true), ("abc", "a*b*c", true),
        ("abc", "*", true), ("", "*", true), ("abc", "ab", false), ("abc", "*d*", false),
        ("$.a[1].b", "$.a[*].b", true), ("aXbXc", "a*Xc", true), ("abc", "abc*", true),
        ("*", #"\*"#, true), ("a", #"\*"#, false), (#"\a"#, #"\\*"#, true),
        (#"\*"#, #"\\\*"#, true), (#"a\b"#, #"a\b"#, true), (#"a\bc"#, #"a\b*"#, true),
        (#"\\"#, #"*\\"#, true), ("abc", "", false), ("abc", "a?c", false),
        ("/a?b=c", "/a?*", true),
    ])
    func globs(_ text: String, _ pattern: String, _ expected: Bool) {
        #expect(Glob.matches(text, pattern) == expected)
    }

    @Test(arguments: [
        ("abc", "a?c", true), ("ac", "a?c", false), ("abc", "???", true), ("abc", "????", false),
        ("abc", "*?", true), ("", "?", false), ("", "*", true), ("www.a.test", "*.?.test", true),
        ("a?c", #"a\?c"#, false), ("abc", "abc", true), ("abc", "abd", false),
    ])
    func globsAsShells(_ text: String, _ pattern: String, _ expected: Bool) {
        var steps = 100
        #expect(Glob.matchesShell(text, pattern, steps: &steps) == expected)
        #expect((1...100).contains(steps))
    }

    /// What takes too long is no match, and says so.
    @Test func takesSoManySteps() {
        let text = String(repeating: "a", count: 1000)
        let pattern = "*" + String(repeating: "a", count: 100) + "b"
        var steps = 10_000
        #expect(!Glob.matchesShell(text, pattern, steps: &steps))
        #expect(steps == 0)
        steps = 10_000_000
        #expect(!Glob.matchesShell(text, pattern, steps: &steps))
        #expect(steps > 0)
    }
}
