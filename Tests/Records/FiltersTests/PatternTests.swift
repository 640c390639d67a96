import Base
import TestConditions
import Testing

@testable import Filters

struct PatternTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let pattern: String
        let found: [String]
        let missed: [String]
        var testDescription: String { pattern }

        init(_ pattern: String, _ found: [String], not missed: [String]) {
            self.pattern = pattern
            self.found = found
            self.missed = missed
        }
    }

    static let rows = [
        Row("", ["", "a"], not: []),
        Row("abc", ["abc", "xABCx", "ababc"], not: ["", "ab", "acb"]),
        Row("(?-i)abc", ["abc"], not: ["Abc"]),
        Row("(?-i:a)b", ["ab", "aB"], not: ["Ab"]),
        Row("a|bc|", ["", "x"], not: []),
        Row("^(a|bc)$", ["a", "bc"], not: ["", "ab", "abc", "a\n"]),
        Row("^a", ["ab"], not: ["ba", "b\na"]),
        Row("(?m)^a$", ["b\na", "a", "x\na\ny"], not: ["ba", "ab"]),
        Row("a$", ["ba"], not: ["ab", "a\nb"]),
        Row("\\Aa\\z", ["a"], not: ["a\n", "ba"]),
        Row("^$", [""], not: ["a", "\n"]),
        Row("a^b", [], not: ["ab", "a\nb"]),
        Row("^a*$", ["", "a", "aaaa"], not: ["b", "ab"]),
        Row("^a+$", ["a", "aa"], not: ["", "b"]),
        Row("^ab?$", ["a", "ab"], not: ["abb"]),
        Row("^a*?b+?c??$", ["b", "aabbc"], not: ["a", "bcc"]),
        Row("^a{2}$", ["aa"], not: ["a", "aaa"]),
        Row("^a{2,}$", ["aa", "aaaaa"], not: ["a"]),
        Row("^a{,2}$", ["", "a", "aa"], not: ["aaa"]),
        Row("^a{1,3}b$", ["ab", "aaab"], not: ["b", "aaaab"]),
        Row("^a{0}b$", ["b"], not: ["ab"]),
        Row("^(a{2}){2}$", ["aaaa"], not: ["aa", "aaa", "aaaaaa"]),
        Row("{\"a\":{}}", ["{\"a\":{}}"], not: ["{\"a\":}"]),
        Row("a{x}", ["a{x}"], not: ["ax"]),
        Row("[a-c]x", ["ax", "Cx"], not: ["dx"]),
        Row("[]a]x", ["]x", "ax"], not: ["x"]),
        Row("[^]a]x", ["bx"], not: ["]x", "ax", "x"]),
        Row("[a-]x", ["-x", "ax"], not: ["bx"]),
        Row("^[\\d.]+$", ["1.2"], not: ["", "1,2"]),
        Row("^[^\\d]+$", ["ab", "é"], not: ["a1"]),
        Row("^[\\D]$", ["a", "é"], not: ["1"]),
        Row("^[\\]\\\\]$", ["]", "\\"], not: ["["]),
        Row("^[é漢a]$", ["é", "漢", "A"], not: ["字", "e"]),
        Row("^.$", ["a", "é", "漢", "🙂"], not: ["", "ab", "éé", "\n"]),
        Row("^..$", ["ab", "é漢"], not: ["a", "é", "abc"]),
        Row("(?s)a.b", ["a\nb"], not: ["ab"]),
        Row("a.b", ["axb"], not: ["a\nb"]),
        Row("^[^a]$", ["b", "漢"], not: ["a", "A", "bb"]),
        Row("^\\w+\\s\\W$", ["a_1 -", "a\té"], not: ["a-"]),
        Row("\\bcat\\b", ["cat", "a cat.", "(cat)"], not: ["cats", "concat"]),
        Row("\\Bcat", ["concat"], not: ["cat", "a cat"]),
        Row("\\$\\.\\(\\x41\\u00e9\\t", ["$.(A\u{E9}\t"], not: ["$.(A"]),
        Row("(?P<year>\\d{4})-(?<m>\\d\\d)", ["on 2026-03"], not: ["26-03"]),
        Row("(?:ab)+c", ["ababc"], not: ["ac"]),
        Row("漢+", ["漢漢"], not: ["字"]),
        Row("^漢{2}$", ["漢漢"], not: ["漢", "漢漢漢"]),
        Row("((a*)*)*b", ["b", "aab"], not: ["a", ""]),
        Row("(|a)+$", ["", "b"], not: []),
    ]

    @Test(arguments: rows)
    func finds(_ row: Row) throws {
        let pattern = try TextPattern(row.pattern, .expression)
        for text in row.found { #expect(pattern.matches(bytes(text)), "\(text)") }
        for text in row.missed { #expect(!pattern.matches(bytes(text)), "\(text)") }
    }

    @Test(arguments: rows)
    func findsTheSameInPieces(_ row: Row) throws {
        let pattern = try TextPattern(row.pattern, .expression)
        for text in row.found + row.missed {
            let all = bytes(text)
            for cut in 0...all.count {
                let isFound = pattern.matches { take in
                    if take(all[..<cut]) { _ = take(all[cut...]) }
                }
                #expect(isFound == row.found.contains(text), "\(text) cut at \(cut)")
            }
        }
    }

    @Test(arguments: rows)
    func endsOrRefusesWhereverItIsCut(_ row: Row) {
        for length in 0...row.pattern.count {
            do throws(PatternViolation) {
                _ = try TextPattern(String(row.pattern.prefix(length)), .expression)
            } catch {
                #expect((0...length).contains(error.offset))
            }
        }
    }

    static let badRows: [(String, Int, String)] = [
        ("*a", 0, "there is nothing to repeat before '*'"),
        ("a**", 2, "there is nothing to repeat before '*'"),
        ("a|+", 2, "there is nothing to repeat before '+'"),
        ("(a", 0, "the group that starts here does not end"),
        ("a)", 1, "no group is open here"),
        ("x[a", 1, "the class that starts here does not end"),
        ("[z-a]", 1, "a range goes from a smaller to a larger ASCII character"),
        ("[a-é]", 1, "a range goes from a smaller to a larger ASCII character"),
        ("[^é]", 0, "only ASCII can be left out by '[^'"),
        ("a\\", 1, "'\\' escapes nothing"),
        ("\\q", 0, "unknown escape '\\q'"),
        ("\\xg", 0, "'\\x' needs two hexadecimal digits"),
        ("\\u12", 0, "'\\u' needs four hexadecimal digits"),
        ("(a)\\1", 3, "references to groups are not possible here"),
        ("a(?=b)", 1, "looking around is not possible here"),
        ("a(?<!b)", 1, "looking around is not possible here"),
        ("(?x)a", 2, "unknown flag 'x'"),
        ("a{3,2}", 1, "a count goes from a smaller to a larger number, up to 1000"),
        ("a{1001}", 1, "a count goes from a smaller to a larger number, up to 1000"),
        ("(a{100}){100}", 0, tooLarge),
        ("(((a{0}){1000}){1000}){1000}", 0, tooLarge),
        ("((((x{10}){10}){10}){10}){10}", 0, tooLarge),
        (String(repeating: "(", count: 60), 50, "more than 50 groups inside of one another"),
        (String(repeating: "a", count: 2001), 2000, "a pattern has at most 2000 characters"),
    ]
    static let tooLarge = "the pattern is too large: its counts stand for more than 2000 steps"

    @Test(arguments: badRows)
    func refuses(_ row: (pattern: String, offset: Int, message: String)) {
        #expect(throws: PatternViolation(row.offset, row.message)) {
            try TextPattern(row.pattern, .expression)
        }
    }

    /// What takes a matcher that tries one way after the other longer than anyone lives, or makes
    /// a deterministic automaton larger than any memory.
    static let hostilePatterns = [
        "^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "(a*)*b", "^(.*)*x$", "(x+x+)+y",
        String(repeating: "a?", count: 30) + String(repeating: "a", count: 30),
        "(a|b)*a(a|b){300}$", "(.*a){20}b", "[ab]*a[ab]{15}c", "(?s)(.*)(.*)(.*)(.*)(.*)z",
    ]

    @Test(.processorTime(below: .seconds(60)), arguments: hostilePatterns)
    func isBounded(_ pattern: String) throws {
        let pattern = try TextPattern(pattern, .expression)
        var seed: UInt32 = 7
        let random = (0..<5000).map { _ in
            seed = seed &* 1_664_525 &+ 1_013_904_223
            return seed >> 24 & 1 == 0 ? UInt8(ascii: "a") : UInt8(ascii: "b")
        }
        _ = pattern.matches(random[...])
        _ = pattern.matches([UInt8](repeating: UInt8(ascii: "a"), count: 5000) + [0x21])
    }

    static let globRows: [(String, String, Bool)] = [
        ("", "", true), ("", "a", false), ("*", "", true), ("*", "a\nb", true),
        ("a*c", "abc", true), ("a*c", "aC", true), ("a*c", "abcd", false), ("*a*", "xax", true),
        ("a**b", "ab", true), ("a.c", "abc", false), ("*.example.com", "a.example.com", true),
        ("*.example.com", "example.com", false), ("/v1/*", "/v1/a/b", true), ("é*", "éa", true),
        ("*a*a*h*", "banana", false), ("*a*a*h*", "a-a-h", true),
    ]

    @Test(arguments: globRows)
    func globs(_ row: (pattern: String, text: String, isMatch: Bool)) throws {
        #expect(try TextPattern(row.pattern, .glob).matches(bytes(row.text)) == row.isMatch)
    }

    @Test func looksForTextAsItIs() throws {
        let pattern = try TextPattern("a.*(", .part)
        #expect(pattern.matches(bytes("x A.*( y")))
        #expect(!pattern.matches(bytes("axx(")))
    }

    @Test func searchesBytesThatAreNoText() throws {
        let pattern = try TextPattern("\\x89PNG.*\\x00$", .expression)
        #expect(pattern.matches([0x89, 0x50, 0x4E, 0x47, 0x0D, 0xFF, 0x80, 0x80, 0x00][...]))
    }

    private func bytes(_ text: String) -> ArraySlice<UInt8> { [UInt8](text.utf8)[...] }
}
