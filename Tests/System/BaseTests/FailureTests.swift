import Base
import Testing

struct FailureTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let text: String
        let shown: String
        var testDescription: String { text }

        init(_ text: String, _ shown: String) {
            self.text = text
            self.shown = shown
        }
    }

    static let rows: [Row] = [
        Row("no URL: a/b, 7", "no URL: a/b, 7"),
        Row("http://a/b", "<http://a/b>"),
        Row("cannot reach https://a/b: refused", "cannot reach <https://a/b>: refused"),
        Row("to wss://a/b, then HTTPS://c/?d=e.", "to <wss://a/b>, then <HTTPS://c/?d=e>."),
        Row("moved ('http://a/b')", "moved ('<http://a/b>')"),
        Row("(http://u:p@a/) http://a/(b)", "(<http://u:p@a/>) <http://a/(b>)"),
        Row("a =http://a/ <http://b/>", "a =<http://a/> <<http://b/>>"),
        Row("a/?b=c&d=http://e/f", "<a/?b=c&d=http://e/f>"),
        Row(":// http://", "<://> <http://>"),
    ]

    @Test(arguments: rows) func showsURLsAsTheyMayBe(_ row: Row) {
        let failure = Failure("x", party: .origin, row.text, hint: row.text, isLasting: true)
        let shown = failure.showingURLs { "<\($0)>" }
        #expect(shown.detail == row.shown)
        #expect(shown.hint == row.shown)
        #expect(shown.code == "x" && shown.party == .origin && shown.isLasting)
    }
}
