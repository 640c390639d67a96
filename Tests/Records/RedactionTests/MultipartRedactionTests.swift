import Testing

@testable import Redaction

struct MultipartRedactionTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let content: String
        /// `nil` if the content is not in its form.
        let shown: String?
        var isForm = true
        var testDescription: String { name }

        init(_ name: String, _ content: String, _ shown: String?, isForm: Bool = true) {
            self.name = name
            self.content = content.replacing("\n", with: "\r\n")
            self.shown = shown?.replacing("\n", with: "\r\n")
            self.isForm = isForm
        }
    }

    /// One part between its delimiters.
    private static func part(_ head: String, _ content: String) -> String {
        "--b\n\(head)\n\n\(content)\n--b--\n"
    }

    private static func row(
        _ name: String, _ head: String, _ content: String, _ shown: String, isForm: Bool = true
    ) -> Row {
        Row(name, part(head, content), part(head, shown), isForm: isForm)
    }

    private static let disposition = "Content-Disposition: form-data; name="

    static let rows = [
        row("harmless field", disposition + "\"user\"", "nora", "nora"),
        row("secret field", disposition + "\"password\"", "x", "***"),
        row("secret of several lines", disposition + "\"password\"", "x\n\ny\n", "***"),
        row("name without quotes", disposition + "password", "x", "***"),
        row("field name in any case", "CONTENT-disposition:form-data;NAME=\"pwd\"", "x", "***"),
        row("quoted semicolon", disposition + "\"a;b\\\"password\"", "x", "***"),
        row("folded", "Content-Disposition: form-data;\n name=\"password\"", "x", "***"),
        row("coded name", disposition + "\"%70assword\"", "x", "***"),
        row("extended name", "Content-Disposition: form-data; name*=utf-8''pass%77ord", "x", "***"),
        row("file", disposition + "\"f\"; filename=\"a.txt\"", "password x", "password x"),
        row(
            "file that is a form", disposition + "\"f\"; filename=\"a.txt\"", "password=x",
            "password=***"),
        row("file with a secret name", disposition + "\"private_key\"; filename=\"k\"", "x", "***"),
        row(
            "file of JSON",
            disposition + "\"f\"; filename=\"a.json\"\nContent-Type: application/json",
            #"{"token":"x"}"#, #"{"token":"***"}"#),
        row("JSON by its look", disposition + "\"a\"", #"{"token":"x"}"#, #"{"token":"***"}"#),
        row(
            "JSON that is none", disposition + "\"a\"\nContent-Type: application/json",
            "token x", "***"),
        row("token", disposition + "\"a\"", "eyJhbGciOiJub25lIn0.e30.", "***"),
        row("no name", "Content-Type: text/plain", "x", "***"),
        row("no name and no form", "Content-Type: text/plain", "x", "x", isForm: false),
        row(
            "form in a mixed content", "Content-Type: application/x-www-form-urlencoded",
            "password=x", "password=***", isForm: false),
        row(
            "secret in the head of a part", "Authorization: Basic eDp4\n" + disposition + "\"a\"",
            "x", "x"
        ).with(shownReplacing: "Basic eDp4", with: "Basic ***"),
        Row(
            "two fields",
            "--b\n\(disposition)\"a\"\n\n1\n--b\n\(disposition)\"token\"\n\n2\n--b--\n",
            "--b\n\(disposition)\"a\"\n\n1\n--b\n\(disposition)\"token\"\n\n***\n--b--\n"),
        Row(
            "not ended", "--b\n\(disposition)\"token\"\n\nx", "--b\n\(disposition)\"token\"\n\n***"),
        Row("head not ended", "--b\n\(disposition)\"a\"\nx", "--b\n***"),
        Row(
            "empty field", part(disposition + "\"token\"", ""), part(disposition + "\"token\"", "")),
        Row(
            "outside of the parts", "x\n--b\n\n\n--b--\ny\n", "***\n--b\n\n\n--b--\n***\n",
            isForm: false),
        Row("no boundary", "password=x", nil),
        Row("another boundary", "--c\n\(disposition)\"token\"\n\nx\n--c--\n", nil),
        Row("empty", "", nil),
    ]

    @Test(arguments: rows)
    func masksFields(_ row: Row) {
        let shown = MultipartRedaction.redact(
            [UInt8](row.content.utf8), boundary: [UInt8]("b".utf8), isForm: row.isForm, depth: 0)
        #expect(shown.map { String(decoding: $0, as: UTF8.self) } == row.shown)
    }

    @Test(arguments: [
        ("multipart/form-data; boundary=b", true), ("multipart/form-data; boundary=\"b\"", true),
        ("Multipart/Form-Data;Boundary=b;x=y", true), ("multipart/form-data", false),
        ("multipart/form-data; boundary=", false),
    ])
    func findsTheBoundary(_ type: String, _ isFound: Bool) {
        let content = [UInt8](Self.part(Self.disposition + "token", "x").utf8)
        let result = ContentRedaction.redact(
            content, types: [[UInt8](type.utf8)[...]], isWhole: true)
        let isMasked =
            if case .understood = result { result != .understood(content) } else { false }
        #expect(isMasked == isFound)
    }

    @Test func isAsQuickAsTheContentIsLong() {
        let content = [UInt8](String(repeating: "--b\n\n{\n", count: 100_000).utf8)
        #expect(
            MultipartRedaction.redact(
                content, boundary: [UInt8]("b".utf8), isForm: false, depth: 0) != nil)
    }
}

extension MultipartRedactionTests.Row {
    fileprivate func with(shownReplacing text: String, with other: String) -> Self {
        Self(name, content, shown?.replacing(text, with: other), isForm: isForm)
    }
}
