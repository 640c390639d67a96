import Testing

@testable import TransferAnalysis

struct S3DocumentTests {
    /// A document, and what it tells.
    @Test(arguments: [
        ("<Error><Code>InternalError</Code></Error>", S3Document.error(code: "InternalError")),
        (
            "  \r\n\t <?xml version=\"1.0\"?>\n<!-- <a> -->\n<Error>\n <Code>SlowDown</Code>",
            .error(code: "SlowDown")
        ),
        ("\u{FEFF}<?xml version=\"1.0\"?><Error xmlns=\"x\"/>", .error(code: "")),
        ("<Error><Code>no <b>code</b></Code></Error>", .error(code: "no")),
        ("<Error><Code>\(String(repeating: "x", count: 65))</Code></Error>", .error(code: "")),
        ("<Error>", .error(code: "")),
        ("<Error", .cut),
        ("<ErrorDocument/>", .result),
        ("<CompleteMultipartUploadResult><Error/>", .result),
        ("<CompleteMultipartUploadResult", .cut),
        ("<!-- <Error>", .cut),
        ("<?xml <Error>", .cut),
        ("Error", .cut),
        ("<", .cut),
        ("", .cut),
        ("   ", .cut),
    ])
    func reads(_ text: String, _ document: S3Document) {
        #expect(S3Document([UInt8](text.utf8)[...]) == document)
    }

    /// No start of a success is a failure, or the other way about.
    @Test func readsEveryStart() {
        for (text, whole) in [
            ("<?xml version=\"1.0\"?>\n<Errors/>", S3Document.result),
            ("<?xml version=\"1.0\"?>\n<Error/>", .error(code: "")),
        ] {
            let bytes = [UInt8](text.utf8)
            for end in bytes.indices {
                #expect([.cut, whole].contains(S3Document(bytes[..<end])), "\(end)")
            }
        }
    }

    @Test func isBounded() throws {
        func document(behind count: Int) throws -> S3Document? {
            let step = Step(
                "POST /", "", "200",
                String(repeating: " ", count: count) + "<Error><Code>Slow</Code></Error>")
            let scenario = Scenario([step])
            return try S3Document(answerTo: scenario.exchanges[0], scenario)
        }
        #expect(try document(behind: 60_000) == .error(code: "Slow"))
        #expect(try document(behind: 70_000) == .cut)
    }

    @Test func tellsNothingOfWhatWasNotRecorded() throws {
        let scenario = Scenario([Step("POST /", "", "200").with { $0.unrecorded = 9 }])
        #expect(try S3Document(answerTo: scenario.exchanges[0], scenario) == nil)
    }
}
