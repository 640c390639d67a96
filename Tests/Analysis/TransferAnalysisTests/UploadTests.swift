import Base
import TLS
import Testing
import Traffic

@testable import TransferAnalysis

struct UploadTests {
    private static let length = "\nContent-Length: 10"

    static let tus: [ScenarioRow] = [
        ScenarioRow(
            "created, cut, asked for, gone on with",
            [
                Step(
                    "POST /files\nTus-Resumable: 1.0.0\nUpload-Length: 10", "",
                    "201\nLocation: https://FILES.example:443/files/7"),
                patch(0, "012345", "", announced: 10),
                Step(
                    "HEAD /files/7\nTus-Resumable: 1.0.0", "",
                    "200\nUpload-Offset: 4\nUpload-Length: 10"),
                patch(4, "456789", "204\nUpload-Offset: 10"),
            ], ["1,2,3,4 tus complete: 10/10"], whole: "0123456789"),
        ScenarioRow(
            "with the first bytes",
            [
                Step(
                    "POST /files\nTus-Resumable: 1.0.0\nUpload-Length: 4", "ab",
                    "201\nLocation: 7\nUpload-Offset: 2"),
                patch(2, "cd", "204\nUpload-Offset: 4", to: "/7"),
            ], ["1,2 tus complete: 4/4"], whole: "abcd"),
        ScenarioRow(
            "at another offset than the server", [create(), patch(3, "3456789", "409")],
            ["1,2 tus failed: 0/10 missing 0-9 {offset-mismatch}"]),
        ScenarioRow(
            "sent without an answer",
            [create(), patch(0, "0123456789", "")],
            ["1,2 tus partial: 10/10"]),
        ScenarioRow(
            "given up",
            [
                create(), patch(0, "01", "204\nUpload-Offset: 2"),
                Step("DELETE /files/7\nTus-Resumable: 1.0.0", "", "204"),
            ], ["1,2,3 tus cancelled: 2/10 missing 2-9"]),
        ScenarioRow(
            "the length comes later",
            [
                Step(
                    "POST /files\nTus-Resumable: 1.0.0\nUpload-Defer-Length: 1", "",
                    "201\nLocation: /files/7"),
                patch(0, "01", "204\nUpload-Offset: 2"),
                patch(2, "23", "204\nUpload-Offset: 4\nX: y").with {
                    $0.request += "\nUpload-Length: 4"
                },
            ], ["1,2,3 tus complete: 4/4"], whole: "0123"),
        ScenarioRow(
            "an offset beyond everything", [create(), patch(.max, "01", "204")],
            ["1,2 tus failed: 0/10 missing 0-9 {unplaced (too large)}"]),
        ScenarioRow(
            "by another method",
            [
                create(),
                patch(0, "0123456789", "204\nUpload-Offset: 10").with {
                    $0.request =
                        "POST"
                        + $0.request.dropFirst(5) + "\nX-HTTP-Method-Override: PATCH"
                },
            ], ["1,2 tus complete: 10/10"], whole: "0123456789"),
        ScenarioRow(
            "sent again with other bytes",
            [
                create(), patch(0, "01234", "204"), patch(3, "XX56789", "204\nUpload-Offset: 10"),
            ], ["1,2,3 tus conflicting: 10/10 twice 3-4 conflicting 3-4"]),
    ]

    static let draft: [ScenarioRow] = [
        ScenarioRow(
            "all at once, cut, and the rest",
            [
                Step(
                    "POST /up\nUpload-Complete: ?1\nContent-Length: 10", "0123456", "",
                    error: "client-closed"
                ).with { $0.interims = ["104 Upload Resumption Supported\nLocation: /up/9"] },
                Step(
                    "HEAD /up/9\nUpload-Draft-Interop-Version: 8", "",
                    "204\nUpload-Offset: 5\nUpload-Complete: ?0"),
                Step(
                    "PATCH /up/9\nUpload-Offset: 5\nUpload-Complete: ?1\nContent-Length: 5\n"
                        + "Content-Type: application/partial-upload", "56789",
                    "200\nUpload-Complete: ?1"),
            ], ["1,2,3 resumable-upload complete: 10/10"], whole: "0123456789"),
        ScenarioRow(
            "carefully, in the first version of the draft",
            [
                Step(
                    "POST /up\nUpload-Incomplete: ?1\nUpload-Draft-Interop-Version: 3", "",
                    "201\nLocation: /up/9"),
                Step(
                    "PATCH /up/9\nUpload-Offset: 0\nUpload-Incomplete: ?0\nContent-Length: 4",
                    "abcd", "201"),
            ], ["1,2 resumable-upload complete: 4/4"], whole: "abcd"),
        ScenarioRow(
            "the server is elsewhere",
            [
                Step("POST /up\nUpload-Complete: ?0", "abcd", "201\nLocation: /up/9"),
                Step(
                    "PATCH /up/9\nUpload-Offset: 4\nUpload-Complete: ?1\nContent-Length: 2",
                    "ef", "409\nUpload-Offset: 2"),
            ],
            ["1,2 resumable-upload partial: 2/6 missing 2-5 {offset-mismatch}"]),
        ScenarioRow(
            "whole at the first attempt",
            [Step("POST /up\nUpload-Complete: ?1\nContent-Length: 2", "ab", "200")], []),
    ]

    static let stores: [ScenarioRow] = [
        ScenarioRow(
            "a session, 308 and the rest",
            [
                Step(
                    "POST /u?uploadType=resumable\nX-Upload-Content-Length: 10", "{}",
                    "200\nLocation: /u?uploadType=resumable&upload_id=x"),
                Step(
                    "PUT /u?uploadType=resumable&upload_id=x\nContent-Range: bytes 0-5/10",
                    "012345", "308\nRange: bytes=0-3"),
                Step(
                    "PUT /u?uploadType=resumable&upload_id=x\nContent-Range: bytes */10", "",
                    "308\nRange: bytes=0-3"),
                Step(
                    "PUT /u?uploadType=resumable&upload_id=x\nContent-Range: bytes 4-9/10",
                    "456789", "200"),
            ], ["1,2,3,4 content-range complete: 10/10"], whole: "0123456789"),
        ScenarioRow(
            "kept although it failed",
            [
                Step("PUT /s\nContent-Range: bytes 0-3/8", "0123", "503"),
                Step("PUT /s\nContent-Range: bytes */8", "", "308\nRange: bytes=0-3"),
                Step("PUT /s\nContent-Range: bytes 4-7/8", "4567", "200"),
            ], ["1,2,3 content-range complete: 8/8"], whole: "01234567"),
        ScenarioRow(
            "nothing was kept",
            [
                Step("PUT /s\nContent-Range: bytes 0-3/*", "0123", "308"),
                Step("PUT /s\nContent-Range: bytes 0-3/4", "0123", "201"),
            ], ["1,2 content-range complete: 4/4"], whole: "0123"),
        ScenarioRow(
            "another size than before",
            [
                Step("PUT /s\nContent-Range: bytes 0-3/8", "0123", "202"),
                Step("PUT /s\nContent-Range: bytes 4-5/6", "45", "201"),
            ], ["1,2 content-range complete: 6/6 {changed (size)}"], whole: "012345"),
        ScenarioRow(
            "nonsense", [Step("PUT /s\nContent-Range: bytes 9-3/8", "0123", "400")],
            ["1 content-range failed: 0/? {unplaced (Content-Range backwards)}"]),
    ]

    static let whole: [ScenarioRow] = [
        ScenarioRow(
            "sent again after a failure",
            [
                Step("PUT /f" + length, "0123456789", "503"),
                Step("PUT /f" + length, "0123456789", "201"),
            ], ["1,2 complete: 10/10"], whole: "0123456789"),
        ScenarioRow(
            "sent again after a cut",
            [
                Step("POST /f" + length, "0123", "", error: "client-closed"),
                Step("POST /f" + length, "0123456789", "200"),
            ], ["1,2 complete: 10/10"], whole: "0123456789"),
        ScenarioRow(
            "cut and left", [Step("POST /f" + length, "0123", "", error: "client-closed")],
            ["1 partial: 4/10 missing 4-9"]),
        ScenarioRow(
            "the same with other bytes is no retry",
            [
                Step("POST /f" + length, "0123456789", "503"),
                Step("POST /f" + length, "012345678X", "200"),
            ], []),
        ScenarioRow(
            "twice with success is no retry",
            [
                Step("POST /f" + length, "0123456789", "200"),
                Step("POST /f" + length, "0123456789", "200"),
            ], []),
    ]

    @Test(arguments: tus + draft + stores + whole)
    func tells(_ row: ScenarioRow) throws {
        try row.check()
        #expect(try Scenario(row.steps).transfers().allSatisfy { $0.direction == .request })
    }

    @Test func checksWhatTheClientSaysOfIt() throws {
        let digest = Base64.encode(Digests.sha256([UInt8]("0123456789".utf8)))
        let md5 = Base64.encode(Digests.md5([UInt8]("0123456789".utf8)))
        let fields = "\nRepr-Digest: sha-256=:\(digest):\nContent-MD5: \(md5)"
        let steps = [
            Step("PUT /f" + Self.length + fields, "0123456789", "503"),
            Step("PUT /f" + Self.length + fields, "0123456789", "201"),
        ]
        let transfer = try #require(try Scenario(steps).transfers().first)
        #expect(transfer.current.digests.map(\.outcome) == [.match])
        #expect(transfer.parts.map { $0.digests.map(\.outcome) } == [[.match], [.match]])
    }

    private static func create() -> Step {
        Step(
            "POST /files\nTus-Resumable: 1.0.0\nUpload-Length: 10", "", "201\nLocation: /files/7")
    }

    private static func patch(
        _ offset: Int64, _ bytes: String, _ response: String, announced: Int? = nil,
        to path: String = "/files/7"
    ) -> Step {
        Step(
            "PATCH \(path)\nTus-Resumable: 1.0.0\nUpload-Offset: \(offset)\n"
                + "Content-Length: \(announced ?? bytes.utf8.count)", bytes, response)
    }
}
