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
        ScenarioRow(
            "an answer that was cut before it said anything",
            [
                part(1, "0123"),
                done.with {
                    $0.answer = "<?xml version=\"1.0\"?>\n  \n"
                    $0.error = "origin-closed"
                },
            ], ["1,2 s3-multipart partial: 4/?"]),
        ScenarioRow(
            "an answer that says nothing", [part(1, "0123"), done.with { $0.answer = " \n" }],
            ["1,2 s3-multipart partial: 4/?"]),
        ScenarioRow(
            "an answer that was cut later on",
            [
                part(1, "0123"),
                done.with {
                    $0.answer = "<Result><Location>"
                    $0.error = "origin-closed"
                },
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
            "a whole in no chunks although it says so",
            ["503", "200"].map { Step("PUT /f" + chunked(4), "<x/>\n", $0) },
            [
                "1,2 complete: 4/4 not recorded {chunks-malformed (no size of a chunk), "
                    + "chunks-malformed (no size of a chunk)}"
            ]),
        ScenarioRow(
            "a whole in chunks without an end",
            ["503", "200"].map { Step("PUT /f" + chunked(4), "4\r\n0123\r\n", $0) },
            [
                "1,2 complete: 4/4 not recorded {chunks-malformed (no last chunk), "
                    + "chunks-malformed (no last chunk)}"
            ]),
        ScenarioRow(
            "no chunks at a place although it says so",
            [Step("PUT /f\nContent-Range: bytes 0-3/4" + chunked(4), "<x/>\n", "200")],
            ["1 content-range complete: 4/4 not recorded {chunks-malformed (no size of a chunk)}"]),
        ScenarioRow(
            "events are framed otherwise",
            [
                part(
                    1, "0123", "\nX-Amz-Content-SHA256: STREAMING-AWS4-HMAC-SHA256-EVENTS"), done,
            ], ["1,2 s3-multipart complete: 4/4"], whole: "0123"),
        ScenarioRow(
            "in chunks, cut and left",
            [Step("PUT /f" + chunked(10), "8\r\n0123", "", error: "client-closed")],
            ["1 partial: 4/10 missing 4-9"]),
    ]

    @Test(arguments: parts + completed + framed + unrecorded)
    func tells(_ row: ScenarioRow) throws { try row.check() }

    static let unrecorded: [ScenarioRow] = [
        ScenarioRow(
            "as long as the client said",
            [
                part(1, frames("0123456789"), chunked(10)).with { $0.recorded = 7 },
                part(2, "ab"), done,
            ], ["1,2,3 s3-multipart complete: 12/12 not recorded"]),
        ScenarioRow(
            "the client did not say how long",
            [part(1, frames("0123456789"), framing).with { $0.recorded = 7 }, done],
            ["1,2 s3-multipart partial: 0/? not recorded"]),
        ScenarioRow(
            "nothing of it",
            [part(1, frames("0123456789"), framing).with { $0.recorded = 0 }, done],
            ["1,2 s3-multipart partial: 0/? not recorded"]),
        ScenarioRow(
            "longer than the client said",
            [part(1, frames("0123456789"), chunked(3)).with { $0.recorded = 9 }, done],
            ["1,2 s3-multipart partial: 0/? not recorded {too-long}"]),
        ScenarioRow(
            "shorter than the client said",
            [part(1, frames("0123456789"), chunked(999)).with { $0.recorded = 9 }, done],
            ["1,2 s3-multipart partial: 0/? not recorded"]),
        ScenarioRow(
            "a whole of which nobody says how long it is",
            [
                Step("PUT /f" + framing, frames("0123456789"), "503").with { $0.recorded = 7 },
                Step("PUT /f" + framing, frames("0123456789"), "200").with { $0.recorded = 7 },
            ], ["1,2 partial: 0/? not recorded"]),
    ]

    /// A content in chunks that came over what had come byte by byte, or before it.
    @Test(arguments: [
        Array(0..<300), Array(0..<300).reversed(), Array(stride(from: 0, to: 300, by: 2)),
    ])
    func readsChunksAboutOnce(_ places: [Int]) throws {
        func put(_ range: ClosedRange<Int>, _ fields: String, _ content: String) -> Step {
            let place = "bytes \(range.lowerBound)-\(range.upperBound)/300"
            return Step("PUT /f\nContent-Range: \(place)\(fields)", content, "200")
        }
        let bytes = places.map { put($0...$0, "", "x") }
        let tens = Array(repeating: String(repeating: "x", count: 10), count: 30)
        let whole = put(0...299, Self.chunked(300), Self.frames(tens))
        for steps in [bytes + [whole], [whole] + bytes] {
            let scenario = Scenario(steps)
            let transfer = try #require(try scenario.transfers().first)
            #expect(transfer.sha256 == Digests.sha256(Array(repeating: 0x78, count: 300)))
            #expect(scenario.reads.bytes < 300 * 30)
        }
    }

    /// A content of one piece is looked at in steps of 16 KiB.
    @Test func findsPlacesInLargePieces() throws {
        let text = (0..<10_000).map { String($0 % 7) + "abc" }.joined()
        let bytes = [UInt8](text.utf8)
        let single = [39_999, 20_000, 16_384, 9].map {
            Step("PUT /f\nContent-Range: bytes \($0)-\($0)/40000", [bytes[$0]].text, "200")
        }
        let whole = Step(
            "PUT /f\nContent-Range: bytes 0-39999/40000" + Self.chunked(40_000),
            Self.frames(text), "200")
        for steps in [single + [whole], [whole] + single] {
            var scenario = Scenario(steps)
            scenario.pieceSize = 1 << 20
            let transfer = try #require(try scenario.transfers().first)
            #expect(transfer.sha256 == Digests.sha256(bytes))
            #expect(transfer.state == .complete)
        }
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
        ("\nContent-Digest: sha-256=:%:", "", "content-digest sha-256 match"),
        (
            "\nContent-Digest: sha-256=:G+LkUrRteg2WVrux92joJI66G3W67WX12Z6vqUiJmmo=:", "",
            "content-digest sha-256 mismatch"
        ),
        ("\nContent-MD5: 62L2uTBttXXC1ZaxJ5YnpA==", "", "content-md5 md5 match"),
    ])
    func checksPartsAsStored(_ fields: String, _ trailer: String, _ checks: String) throws {
        let content = "4\r\n0123\r\n0\r\n\(trailer)\r\n\r\n"
        let framed = Base64.encode(Digests.sha256([UInt8](content.utf8)))
        let named = fields.replacing("%", with: framed)
        let steps = [Self.part(1, content, Self.chunked(4) + named), Self.done]
        let transfer = try #require(try Scenario(steps).transfers().first)
        let found = transfer.parts[0].digests.map {
            "\($0.field.rawValue) \($0.algorithm.name) \($0.outcome.rawValue)"
        }
        #expect(found.joined(separator: ", ") == checks)
    }

    private static let done = Step("POST /b/k?uploadId=U", "<x/>", "200", "<Result/>")

    private static func done(_ numbers: Int...) -> Step {
        let parts = numbers.map {
            "<Part>\n<PartNumber> \($0) </PartNumber><ETag>&quot;e&quot;</ETag></Part>"
        }
        return done.with {
            $0.content =
                "<CompleteMultipartUpload xmlns=\"x\">\(parts.joined())</CompleteMultipartUpload>"
        }
    }

    private static func part(_ number: Int, _ bytes: String, _ fields: String = "") -> Step {
        Step("PUT /b/k?partNumber=\(number)&uploadId=U" + fields, bytes, "200")
    }

    private static func chunked(_ count: Int) -> String {
        framing + "\nX-Amz-Decoded-Content-Length: \(count)"
    }

    private static let framing = "\nContent-Encoding: aws-chunked"

    /// - Parameter sign: repeated, the signature of each chunk; unsigned if it is empty.
    private static func frames(_ chunks: String..., sign: String = "") -> String {
        frames(chunks, sign: sign)
    }

    private static func frames(_ chunks: [String], sign: String = "") -> String {
        let signature = sign.isEmpty ? "" : ";chunk-signature=" + String(repeating: sign, count: 8)
        return chunks.map {
            String($0.utf8.count, radix: 16) + signature + "\r\n" + $0 + "\r\n"
        }.joined() + "0\(signature)\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n"
    }
}
