import Base
import Testing

@testable import TransferAnalysis

struct S3UploadTests: S3Steps {
    static let parts: [ScenarioRow] = [
        ScenarioRow(
            "numbered parts, one of them twice",
            [
                Step("POST /b/k?uploads", "", "200"),
                part(2, "4567"),
                part(1, "01").with {
                    $0.response = ""
                    $0.error = "client-closed"
                },
                part(1, "0123"), part(3, "89"), done,
            ], ["2,3,4,5,6 s3-multipart complete: 10/10"], whole: "0123456789"),
        ScenarioRow(
            "a numbered part is missing",
            [
                part(1, "01"), part(3, "45"),
            ], ["1,2 s3-multipart partial: 2/? {parts-missing (from 2 on)}"]),
        ScenarioRow(
            "two uploads of one key",
            [
                Step("PUT /b/k?partNumber=1&uploadId=U", "01", "200"),
                Step("PUT /b/k?partNumber=1&uploadId=V", "01", "200"),
                Step("DELETE /b/k?uploadId=V", "", "204"),
            ], ["1 s3-multipart partial: 2/?", "2,3 s3-multipart cancelled: 2/?"]),
        ScenarioRow(
            "a part that the server copied, with its size",
            [
                part(1, "", "\nX-Amz-Copy-Source: /b/j\nX-Amz-Copy-Source-Range: bytes=4-9"),
                part(2, "45"), done,
            ], ["1,2,3 s3-multipart complete: 8/8 not recorded {copied}"]),
        ScenarioRow(
            "a part that the server copied, whatever its size",
            [part(1, "", "\nX-Amz-Copy-Source: /b/j"), part(2, "45"), done],
            ["1,2,3 s3-multipart partial: 2/? not recorded {unplaced (copied on the server)}"]),
        ScenarioRow(
            "a part that the server did not copy after all",
            [
                part(1, "", "\nX-Amz-Copy-Source: /b/j\nX-Amz-Copy-Source-Range: bytes=4-9")
                    .with { $0.answer = " <Error><Code>InternalError</Code></Error>" },
                part(1, "45"), done,
            ],
            ["1,2,3 s3-multipart complete: 2/2 {copied, error-document (InternalError)}"],
            whole: "45"),
        ScenarioRow(
            "put together at the second attempt",
            [
                part(1, "0123"),
                done(
                    answer: "\n <?xml version=\"1.0\"?>\n<Error><Code>InternalError</Code></Error>"),
                done,
            ],
            ["1,2,3 s3-multipart complete: 4/4 {error-document (InternalError)}"], whole: "0123"),
        ScenarioRow(
            "not put together although the status says so",
            [part(1, "0123"), done(answer: "<Error/>")],
            ["1,2 s3-multipart partial: 4/? {error-document}"]),
        ScenarioRow(
            "an answer that was cut before it said anything",
            [
                part(1, "0123"),
                done(answer: "<?xml version=\"1.0\"?>\n  \n", error: "origin-closed"),
            ], ["1,2 s3-multipart partial: 4/?"]),
        ScenarioRow(
            "an answer that says nothing", [part(1, "0123"), done(answer: " \n")],
            ["1,2 s3-multipart partial: 4/?"]),
        ScenarioRow(
            "an answer that was cut later on",
            [
                part(1, "0123"),
                done(answer: "<Result><Location>", error: "origin-closed"),
            ], ["1,2 s3-multipart partial: 4/?"]),
        ScenarioRow(
            "a copy whose answer was cut",
            [
                part(1, "01"),
                part(1, "", "\nX-Amz-Copy-Source: /b/j\nX-Amz-Copy-Source-Range: bytes=4-9")
                    .with { $0.answer = "<?xml version=\"1.0\"?> " },
                done,
            ], ["1,2,3 s3-multipart complete: 2/2 {copied}"], whole: "01"),
        ScenarioRow(
            "copies beyond 63 bits",
            (1...2).map {
                part(
                    $0, "",
                    "\nX-Amz-Copy-Source: /b/j\n"
                        + "X-Amz-Copy-Source-Range: bytes=0-9223372036854775805")
            } + [done],
            [
                "1,2,3 s3-multipart partial: 9223372036854775806/? not recorded "
                    + "{unplaced (too large), copied, copied}"
            ]),
    ]

    static let completed: [ScenarioRow] = [
        ScenarioRow(
            "the first part came before", [part(2, "234"), part(3, "567"), done],
            ["1,2,3 s3-multipart partial: 0/? {parts-missing (from 1 on)}"]),
        ScenarioRow(
            "the first part came before, and is listed",
            [part(2, "234"), part(3, "567"), done(1, 2, 3)],
            ["1,2,3 s3-multipart partial: 0/? {parts-missing (from 1 on)}"]),
        ScenarioRow(
            "no part of it came", [part(1, "0").with { $0.response = "503" }, done(2)],
            ["1,2 s3-multipart partial: 0/? {parts-missing (from 2 on)}"]),
        ScenarioRow(
            "numbers with gaps, as listed", [part(2, "234"), part(9, "567"), done(2, 9)],
            ["1,2,3 s3-multipart complete: 6/6"], whole: "234567"),
        ScenarioRow(
            "a part is left out", [part(1, "012"), part(2, "345"), done(1)],
            ["1,2,3 s3-multipart complete: 3/3"], whole: "012"),
        ScenarioRow(
            "a part that nobody could read is left out",
            [part(1, "012"), part(2, "<x/>\n", chunked(3)), done(1)],
            ["1,2,3 s3-multipart complete: 3/3 {chunks-malformed (no size of a chunk)}"],
            whole: "012"),
        ScenarioRow(
            "a list that was not recorded whole",
            [part(1, "012"), part(2, "345"), done(1, 2).with { $0.recorded = 60 }],
            ["1,2,3 s3-multipart complete: 6/6"], whole: "012345"),
    ]

    @Test(arguments: parts + completed)
    func tells(_ row: ScenarioRow) throws { try row.check() }

    @Test func saysWhereThePartsWent() throws {
        let steps = [
            Self.part(2, Self.frames("45"), Self.chunked(2)), Self.part(1, "0123"), Self.done,
        ]
        let transfer = try #require(try Scenario(steps).transfers().first)
        #expect(transfer.url.text == "https://files.example/b/k")
        #expect(transfer.uploadURL?.text == "https://files.example/b/k?uploadId=U")
        #expect(transfer.parts.map(\.ranges) == [[4..<6], [0..<4], []])
        #expect(transfer.parts.map(\.bytes) == [2, 4, 4])
    }
}
