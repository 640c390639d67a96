import Testing

@testable import Terminal

struct TerminalTextTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let text: String
        let sanitized: String
        let width: Int
        var testDescription: String { sanitized }

        init(_ text: String, _ sanitized: String? = nil, width: Int) {
            self.text = text
            self.sanitized = sanitized ?? text
            self.width = width
        }
    }

    static let sanitizesAndMeasuresRows: [Row] = [
        Row("", width: 0),
        Row("plain", width: 5),
        Row("é", width: 1),
        Row("e\u{301}", width: 1),
        Row("漢字", width: 4),
        Row("한글", width: 4),
        Row("ＡＢ", width: 4),
        Row("😀", width: 2),
        Row("👩‍👩‍👧", width: 2),
        Row("❤️", width: 2),
        Row("…", width: 1),
        Row("\u{1B}[31m", "\\u{1b}[31m", width: 10),
        Row("a\r\nb\tc", "a\\u{d}\\u{a}b\\u{9}c", width: 18),
        Row("\u{202E}x", "\\u{202e}x", width: 9),
        Row("\u{9B}2J", "\\u{9b}2J", width: 8),
        Row("\u{FEFF}", "\\u{feff}", width: 8),
    ]

    @Test(arguments: sanitizesAndMeasuresRows)
    func sanitizesAndMeasures(_ row: Row) {
        let shown = TerminalText.sanitized(row.text)
        #expect(shown == row.sanitized)
        #expect(TerminalText.width(shown) == row.width)
    }

    static let truncatesRows: [(text: String, columns: Int, cut: String)] = [
        (text: "abcdef", columns: 6, cut: "abcdef"),
        (text: "abcdef", columns: 5, cut: "abcd…"),
        (text: "abcdef", columns: 1, cut: "…"),
        (text: "漢字漢字", columns: 8, cut: "漢字漢字"),
        (text: "漢字漢字", columns: 7, cut: "漢字漢…"),
        (text: "漢字漢字", columns: 6, cut: "漢字…"),
    ]

    @Test(arguments: truncatesRows)
    func truncates(_ row: (text: String, columns: Int, cut: String)) {
        let cut = TerminalText.truncated(row.text, columns: row.columns)
        #expect(cut == row.cut)
        #expect(TerminalText.width(cut) <= row.columns)
    }

    @Test func wrapsAtSpaces() {
        #expect(TerminalText.wrapped("a bb ccc", columns: 4) == ["a bb", "ccc"])
        #expect(TerminalText.wrapped("longword a", columns: 4) == ["longword", "a"])
        #expect(TerminalText.wrapped("", columns: 4) == [])
    }
}
