import Testing

@testable import Base

struct MarkupTextTests {
    @Test(arguments: [
        ("a<b>&\"'`", "a&lt;b&gt;&amp;&quot;&#39;&#96;"), ("né 漢 😀", "né 漢 😀"),
        ("a\u{202E}b\u{2066}", #"a\u{202e}b\u{2066}"#), ("\u{1B}[31m\r", #"\u{1b}[31m\u{d}"#),
        ("\u{FFFE}\u{FEFF}", #"\u{fffe}\u{feff}"#), ("a\n\tb", "a\n\tb"), ("", ""),
    ])
    func escapes(_ text: String, _ expected: String) {
        #expect(MarkupText.escaped(text) == expected)
    }

    @Test func keepsLinesOutOfAttributes() {
        #expect(MarkupText.escaped("a\n\tb", keepsLines: false) == "a&#10;&#9;b")
    }

    @Test func partsRecordedText() {
        var text = MarkupText()
        text += "<p>"
        text.append("<")
        #expect(text.bytes.text == "<p><bdi>&lt;</bdi>")
    }
}
