import Base
import Testing

@testable import Contents

struct MarkupTokenizerTests {
    /// A text, and its tokens: the kind, what is in it, and `…` where the text ended before it did.
    @Test(arguments: [
        ("a <b>c</b> d", ["text a ", "startTag b", "text c", "endTag b", "text  d"]),
        ("<b/><c />", ["startTag b /", "startTag c /"]),
        (
            "<b c='>' d=\"e\" f=g h i = '' j=k/>",
            ["startTag b c=> d=e f=g h i= j=k/"]
        ),
        ("<b c=\"d>e", ["startTag b c=d>e…"]),
        ("<b \" c>d", ["startTag b \" c", "text d"]),
        ("<b =c/d>", ["startTag b =c/d"]),
        ("5 < 6 <7>", ["text 5 < 6 <7>"]),
        ("<_a><é>", ["startTag _a", "startTag é"]),
        ("<", ["text <"]),
        ("<b", ["startTag b…"]),
        ("</", ["endTag …"]),
        (
            "<!-- <b> --><!DOCTYPE c><?d e?>",
            ["comment  <b> ", "declaration DOCTYPE c", "instruction d e"]
        ),
        ("<!--><!---><!---->-->", ["comment ", "comment ", "comment ", "text -->"]),
        ("<!-- b", ["comment  b…"]),
        ("<![CDATA[<b>]]>]]>", ["section <b>", "text ]]>"]),
        (
            "<script>a<b></c></script>",
            ["startTag script", "text a", "startTag b", "endTag c", "endTag script"]
        ),
    ])
    func reads(_ text: String, _ tokens: [String]) {
        #expect(read(text, isHTML: false) == tokens)
        let bytes = Array(text.utf8)
        for end in bytes.indices { _ = read(bytes[..<end].text, isHTML: true) }
    }

    @Test(arguments: [
        (
            "<Script a=b>c<d>-</SCRIPT>e",
            ["startTag Script a=b", "text c<d>-", "endTag SCRIPT", "text e"]
        ),
        ("<style><!-- </style>", ["startTag style", "text <!-- ", "endTag style"]),
        ("<script></script><script>", ["startTag script", "endTag script", "startTag script"]),
        ("<script>a", ["startTag script", "text a"]),
    ])
    func readsHTML(_ text: String, _ tokens: [String]) {
        #expect(read(text, isHTML: true) == tokens)
    }

    /// All of the text is in one token or another.
    private func read(_ text: String, isHTML: Bool) -> [String] {
        let bytes = Array(text.utf8)
        var tokens = MarkupTokenizer(bytes, isHTML: isHTML)
        var shown: [String] = []
        var end = 0
        while let token = tokens.next() {
            #expect(token.range.lowerBound == end && !token.range.isEmpty)
            end = token.range.upperBound
            let attributes = token.attributes.map { attribute in
                " " + bytes[attribute.name].text
                    + (attribute.value.map { "=" + bytes[$0].text } ?? "")
            }
            shown.append(
                "\(token.kind) \(bytes[token.content].text)" + attributes.joined()
                    + (token.isEmpty ? " /" : "") + (token.isWhole ? "" : "…"))
        }
        #expect(end == bytes.count)
        return shown
    }
}
