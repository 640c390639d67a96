import Testing

@testable import Transfers

struct S3ErrorDocumentTests {
    /// A document, and the code of the error that it tells; `nil` if it tells none.
    @Test(arguments: [
        ("<Error><Code>InternalError</Code></Error>", "InternalError"),
        (
            "  \r\n\t <?xml version=\"1.0\"?>\n<!-- <a> -->\n<Error>\n <Code>SlowDown</Code>",
            "SlowDown"
        ),
        ("\u{FEFF}<?xml version=\"1.0\"?><Error xmlns=\"x\"/>", ""),
        ("<Error><Code>no <b>code</b></Code></Error>", "no"),
        ("<Error><Code>\(String(repeating: "x", count: 65))</Code></Error>", ""),
        ("<Error>", ""),
        ("<Error", nil),
        ("<ErrorDocument/>", nil),
        ("<CompleteMultipartUploadResult><Error/>", nil),
        ("<!-- <Error>", nil),
        ("<?xml <Error>", nil),
        ("Error", nil),
        ("", nil),
        ("   ", nil),
    ])
    func reads(_ text: String, _ code: String?) {
        #expect(S3ErrorDocument([UInt8](text.utf8)[...])?.code == code)
    }

    @Test func isBounded() throws {
        func code(behind count: Int) throws -> String? {
            let step = Step(
                "POST /", "", "200",
                String(repeating: " ", count: count) + "<Error><Code>Slow</Code></Error>")
            let scenario = Scenario([step])
            return try S3ErrorDocument(answerTo: scenario.exchanges[0], scenario)?.code
        }
        #expect(try code(behind: 60_000) == "Slow")
        #expect(try code(behind: 70_000) == nil)
    }
}
