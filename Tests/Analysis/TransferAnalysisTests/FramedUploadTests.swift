import Base
import Contents
import TLS
import Testing

@testable import TransferAnalysis

struct FramedUploadTests: S3Steps {
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

    @Test(arguments: framed + unrecorded)
    func tells(_ row: ScenarioRow) throws { try row.check() }

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
}
