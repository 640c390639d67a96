import Base
import TLS
import Testing
import Traffic

@testable import Transfers

struct S3UploadTests {
    static let parts: [ScenarioRow] = [
        ScenarioRow(
            "numbered parts, one of them twice",
            [
                Step("POST /b/k?uploads", "", "200"),
                Step("PUT /b/k?partNumber=2&uploadId=U", "4567", "200"),
                Step("PUT /b/k?partNumber=1&uploadId=U", "01", "", error: "client-closed"),
                Step("PUT /b/k?partNumber=1&uploadId=U", "0123", "200"),
                Step("PUT /b/k?partNumber=3&uploadId=U", "89", "200"),
                Step("POST /b/k?uploadId=U", "<x/>", "200"),
            ], ["2,3,4,5,6 s3-multipart complete: 10/10"], whole: "0123456789"),
        ScenarioRow(
            "a numbered part is missing",
            [
                Step("PUT /b/k?partNumber=1&uploadId=U", "01", "200"),
                Step("PUT /b/k?partNumber=3&uploadId=U", "45", "200"),
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
                done.with {
                    $0.answer =
                        "\n <?xml version=\"1.0\"?>\n<Error><Code>InternalError</Code></Error>"
                },
                done,
            ],
            ["1,2,3 s3-multipart complete: 4/4 {error-document (InternalError)}"], whole: "0123"),
        ScenarioRow(
            "not put together although the status says so",
            [part(1, "0123"), done.with { $0.answer = "<Error/>" }],
            ["1,2 s3-multipart partial: 4/? {error-document}"]),
    ]

    static let framed: [ScenarioRow] = [
        ScenarioRow(
            "parts in chunks",
            [
                part(2, frames("4567"), chunked(4)),
                part(1, frames("01", "23"), chunked(4)),
                part(3, "89"), done,
            ], ["1,2,3,4 s3-multipart complete: 10/10"], whole: "0123456789"),
        ScenarioRow(
            "in chunks without a length, as the hash says",
            [
                part(
                    1, frames("0123"), "\nX-Amz-Content-SHA256: STREAMING-UNSIGNED-PAYLOAD-TRAILER"),
                done,
            ], ["1,2 s3-multipart complete: 4/4"], whole: "0123"),
        ScenarioRow(
            "no chunks although it says so",
            [part(1, "<x/>\n", chunked(4)), part(2, "45"), done],
            [
                "1,2,3 s3-multipart complete: 6/6 not recorded {chunks-malformed (no size of a chunk)}"
            ]),
        ScenarioRow(
            "chunks without an end", [part(1, "4\r\n0123\r\n", chunked(4)), done],
            ["1,2 s3-multipart complete: 4/4 not recorded {chunks-malformed (no last chunk)}"]),
        ScenarioRow(
            "no chunks, and no length",
            [part(1, "<x/>\n", "\nContent-Encoding: gzip, AWS-Chunked"), done],
            [
                "1,2 s3-multipart partial: 0/? not recorded {chunks-malformed (no size of a chunk)}"
            ]),
        ScenarioRow(
            "more in the chunks than was told", [part(1, frames("0123"), chunked(3)), done],
            ["1,2 s3-multipart complete: 4/4 {too-long}"], whole: "0123"),
        ScenarioRow(
            "less in the chunks than was told", [part(1, frames("0123"), chunked(9)), done],
            ["1,2 s3-multipart complete: 4/4"], whole: "0123"),
        ScenarioRow(
            "a whole in chunks, cut and sent again with other signatures",
            [
                Step(
                    "PUT /f" + chunked(10), String(frames("01234", "56789", sign: "a").prefix(30)),
                    "",
                    error: "client-closed"),
                Step("PUT /f" + chunked(10), frames("0123", "456", "789", sign: "b"), "200"),
            ], ["1,2 complete: 10/10"], whole: "0123456789"),
        ScenarioRow(
            "a whole in chunks, failed and sent again with other bytes",
            [
                Step("PUT /f" + chunked(10), frames("01234", "56789"), "503"),
                Step("PUT /f" + chunked(10), frames("01234", "5678X"), "200"),
            ], []),
        ScenarioRow(
            "a whole, then the same in chunks",
            [
                Step("PUT /f\nContent-Length: 4", "0123", "503"),
                Step("PUT /f" + chunked(4), frames("0", "123"), "200"),
            ], ["1,2 complete: 4/4"], whole: "0123"),
        ScenarioRow(
            "in chunks, cut and left",
            [Step("PUT /f" + chunked(10), "8\r\n0123", "", error: "client-closed")],
            ["1 partial: 4/10 missing 4-9"]),
    ]

    @Test(arguments: parts + framed)
    func tells(_ row: ScenarioRow) throws {
        let transfers = try Scenario(row.steps).transfers()
        #expect(transfers.map(\.story) == row.stories)
        #expect(transfers.last?.sha256 == row.hash)
        // Contents that are compared in several blocks tell the same.
        var limits = TransferLimits()
        limits.comparedBlock = 2
        #expect(try Scenario(row.steps).transfers(limits).map(\.story) == row.stories)
    }

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

    /// What the capture left out of the frames is told by the client's own count.
    @Test func placesWhatWasNotRecordedWhole() throws {
        var scenario = Scenario([
            Self.part(1, Self.frames("0123456789"), Self.chunked(10)), Self.part(2, "ab"),
            Self.done,
        ])
        scenario.exchanges[0].requestBody.bytes = Array(Self.frames("0123456789").utf8.prefix(7))
        scenario.exchanges[0].requestBody.isTruncated = true
        let stories = try scenario.transfers().map(\.story)
        #expect(stories == ["1,2,3 s3-multipart complete: 12/12 not recorded"])
    }

    /// Fields, a trailer within the frames, and how their checks end.
    @Test(arguments: [
        ("", "x-amz-checksum-crc32:pmadfQ==", "x-amz-checksum crc32 match"),
        ("", "X-Amz-Checksum-CRC32: AAAAAA==", "x-amz-checksum crc32 mismatch"),
        ("", "x-amz-checksum-crc32:AAAA", ""),
        (
            "\nX-Amz-Checksum-SHA256: G+LkUrRteg2WVrux92joJI66G3W67WX12Z6vqUiJmmo=", "a:b",
            "x-amz-checksum sha-256 match"
        ),
        (
            "\nRepr-Digest: crc32c=:AAAAAA==:\nContent-Digest: crc32c=:AAAAAA==:", "",
            "content-digest crc32c mismatch"
        ),
    ])
    func checksPartsAsStored(_ fields: String, _ trailer: String, _ checks: String) throws {
        let content = "4\r\n0123\r\n0\r\n\(trailer)\r\n\r\n"
        let steps = [Self.part(1, content, Self.chunked(4) + fields), Self.done]
        let transfer = try #require(try Scenario(steps).transfers().first)
        let found = transfer.parts[0].digests.map {
            "\($0.field.rawValue) \($0.algorithm.name) \($0.outcome.rawValue)"
        }
        #expect(found.joined(separator: ", ") == checks)
    }

    private static let done = Step("POST /b/k?uploadId=U", "<x/>", "200", "<Result/>")

    private static func part(_ number: Int, _ bytes: String, _ fields: String = "") -> Step {
        Step("PUT /b/k?partNumber=\(number)&uploadId=U" + fields, bytes, "200")
    }

    private static func chunked(_ count: Int) -> String {
        "\nContent-Encoding: aws-chunked\nX-Amz-Decoded-Content-Length: \(count)"
    }

    /// - Parameter sign: repeated, the signature of each chunk; unsigned if it is empty.
    private static func frames(_ chunks: String..., sign: String = "") -> String {
        let signature = sign.isEmpty ? "" : ";chunk-signature=" + String(repeating: sign, count: 8)
        return chunks.map {
            String($0.utf8.count, radix: 16) + signature + "\r\n" + $0 + "\r\n"
        }.joined() + "0\(signature)\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n"
    }
}
