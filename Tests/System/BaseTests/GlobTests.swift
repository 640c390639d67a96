import Base
import Testing

@Suite struct GlobTests {
    @Test(arguments: [
        ("abc", "abc", true), ("abc", "a*", true), ("abc", "*c", true), ("abc", "a*b*c", true),
        ("abc", "*", true), ("", "*", true), ("abc", "ab", false), ("abc", "*d*", false),
        ("$.a[1].b", "$.a[*].b", true), ("aXbXc", "a*Xc", true), ("abc", "abc*", true),
        ("*", #"\*"#, true), ("a", #"\*"#, false), (#"\a"#, #"\\*"#, true),
        (#"\*"#, #"\\\*"#, true), (#"a\b"#, #"a\b"#, true), (#"a\bc"#, #"a\b*"#, true),
        (#"\\"#, #"*\\"#, true), ("abc", "", false),
    ])
    func globs(_ text: String, _ pattern: String, _ expected: Bool) {
        #expect(Glob.matches(text, pattern) == expected)
    }
}
