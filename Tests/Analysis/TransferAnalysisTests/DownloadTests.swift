import Base
import Contents
import TLS
import Testing

@testable import TransferAnalysis

struct DownloadTests {
    private static let tag = "\nETag: \"v1\""
    private static let cut = Step(
        "GET /f", "", "200\nContent-Length: 10\nETag: \"v1\"", "01234", error: "client-closed")

    static func rest(
        _ fields: String = "\nETag: \"v1\"", _ bytes: String = "56789",
        _ range: String = "5-9/10"
    ) -> Step {
        Step("GET /f\nRange: bytes=5-", "", "206\nContent-Range: bytes \(range)\(fields)", bytes)
    }

    static let grouping: [ScenarioRow] = [
        ScenarioRow(
            "cut and resumed", [cut, rest()], ["1,2 complete: 10/10 strong-etag"],
            whole: "0123456789"),
        ScenarioRow("cut and left", [cut], ["1 partial: 5/10 missing 5-9"]),
        ScenarioRow("whole at once", [Step("GET /f", "", "200\nContent-Length: 2", "ab")], []),
        ScenarioRow(
            "in pieces out of order",
            [
                Step("GET /f\nRange: bytes=6-9", "", "206\nContent-Range: bytes 6-9/10", "6789"),
                Step("GET /f\nRange: bytes=0-2", "", "206\nContent-Range: bytes 0-2/10", "012"),
                Step("GET /f\nRange: bytes=3-5", "", "206\nContent-Range: bytes 3-5/10", "345"),
            ], ["1,2,3 complete: 10/10 none"], whole: "0123456789"),
        ScenarioRow(
            "in pieces whose places are folded",
            [
                Step("GET /f\nRange: bytes=5-", "", "206\nContent-Range:\n bytes 5-9/10", "56789"),
                Step("GET /f\nRange: bytes=0-4", "", "206\nContent-Range: bytes\n 0-4/10", "01234"),
            ], ["1,2 complete: 10/10 none"], whole: "0123456789"),
        ScenarioRow(
            "a probe first", [Step("HEAD /f", "", "200\nContent-Length: 10" + tag), cut, rest()],
            ["1,2,3 complete: 10/10 strong-etag"], whole: "0123456789"),
        ScenarioRow(
            "a probe and a whole",
            [
                Step("HEAD /f", "", "200\nContent-Length: 2"),
                Step("GET /f", "", "200\nContent-Length: 2", "ab"),
            ], []),
        ScenarioRow(
            "another whole is another transfer",
            [cut, rest(), Step("GET /f", "", "200\nContent-Length: 10" + tag, "0123456789")],
            ["1,2 complete: 10/10 strong-etag"], whole: "0123456789"),
        ScenarioRow(
            "a range after the whole",
            [
                Step("GET /f", "", "200\nContent-Length: 10" + tag, "0123456789"),
                rest(),
            ], ["1,2 complete: 10/10 strong-etag twice 5-9"], whole: "0123456789"),
        ScenarioRow(
            "asked for more than there is",
            [
                Step("GET /f", "", "200\nContent-Length: 10" + tag, "0123456789"),
                Step("GET /f\nRange: bytes=10-", "", "416\nContent-Range: bytes */10", "no"),
            ], ["1,2 complete: 10/10"], whole: "0123456789"),
        ScenarioRow(
            "beyond its end, then the whole in a coding",
            [
                Step("GET /f\nRange: bytes=9-", "", "416\nContent-Range: bytes */4", ""),
                Step("GET /f", "", "200\nContent-Encoding: gzip\nContent-Length: 4", "0123"),
            ], ["1,2 complete: 4/4"], whole: "0123"),
        ScenarioRow(
            "a failure, then the whole",
            [
                Step("GET /f", "", "503", "later"),
                Step("GET /f", "", "200\nContent-Length: 2", "ab"),
            ], ["1,2 complete: 2/2"], whole: "ab"),
        ScenarioRow("a failure alone", [Step("GET /f", "", "503", "later")], []),
        ScenarioRow(
            "no answer twice", [Step("GET /f", "", ""), Step("GET /f", "", "")],
            ["1,2 failed: 0/?"]),
        ScenarioRow("not there", [Step("GET /f", "", "404"), Step("GET /f", "", "404")], []),
        ScenarioRow(
            "two resources", [cut, cut.with { $0.request = "GET /g" }],
            ["1 partial: 5/10 missing 5-9", "2 partial: 5/10 missing 5-9"]),
        ScenarioRow(
            "two clients", [cut, rest().with { $0.client = "10.0.0.2" }],
            ["1 partial: 5/10 missing 5-9", "2 partial: 5/10 missing 0-4"]),
        ScenarioRow(
            "two programs",
            [cut.with { $0.program = "curl" }, rest().with { $0.program = "wget" }],
            ["1 partial: 5/10 missing 5-9", "2 partial: 5/10 missing 0-4"]),
        ScenarioRow(
            "a program and nobody knows", [cut.with { $0.program = "curl" }, rest()],
            ["1,2 complete: 10/10 strong-etag"], whole: "0123456789"),
        ScenarioRow(
            "an event stream that breaks off",
            [
                Step(
                    "GET /e", "", "200\nContent-Type: text/event-stream", "data",
                    error: "client-closed")
            ], []),
        ScenarioRow(
            "chunked and cut, then whole",
            [
                Step("GET /f", "", "200\nTransfer-Encoding: chunked", "0123", error: "x"),
                Step("GET /f", "", "200\nTransfer-Encoding: chunked", "0123456"),
            ], ["1,2 complete: 7/7 none twice 0-3"], whole: "0123456"),
        ScenarioRow(
            "to the end of the connection",
            [Step("GET /f\nRange: bytes=0-", "", "200", "0123")],
            ["1 complete: 4/4 {ended-by-close, range-ignored}"], whole: "0123"),
        ScenarioRow(
            "nothing to fetch",
            [Step("GET /f\nRange: bytes=0-", "", "416\nContent-Range: bytes */0")],
            ["1 complete: 0/0"], whole: ""),
        ScenarioRow(
            "several at once",
            [
                Step(
                    "GET /f\nRange: bytes=0-1,8-9", "",
                    "206\nContent-Type: multipart/byteranges; boundary=B",
                    "--B\r\nContent-Range: bytes 0-1/10\r\n\r\n01\r\n"
                        + "--B\r\nContent-Range: bytes 8-9/10\r\n\r\n89\r\n--B--\r\n"),
                Step("GET /f\nRange: bytes=2-7", "", "206\nContent-Range: bytes 2-7/10", "234567"),
            ], ["1,2 complete: 10/10 none"], whole: "0123456789"),
    ]

    static let versions: [ScenarioRow] = [
        ScenarioRow(
            "another strong tag", [cut, rest("\nETag: \"v2\"")],
            ["1,2 changed: 5/10 missing 5-9 | 5/10 missing 0-4 {changed (ETag)}"]),
        ScenarioRow(
            "another weak tag",
            [
                cut.with { $0.response = "200\nContent-Length: 10\nETag: W/\"a\"" },
                rest("\nETag: W/\"b\""),
            ], ["1,2 changed: 5/10 missing 5-9 | 5/10 missing 0-4 {changed (ETag)}"]),
        ScenarioRow(
            "the same weak tag",
            [
                cut.with { $0.response = "200\nContent-Length: 10\nETag: W/\"a\"" },
                rest("\nETag: W/\"a\""),
            ], ["1,2 complete: 10/10 weak-etag"], whole: "0123456789"),
        ScenarioRow(
            "another date",
            [
                cut.with {
                    $0.response =
                        "200\nContent-Length: 10\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT"
                },
                rest("\nLast-Modified: Sun, 06 Nov 1994 08:49:38 GMT"),
            ], ["1,2 changed: 5/10 missing 5-9 | 5/10 missing 0-4 {changed (Last-Modified)}"]),
        ScenarioRow(
            "another date under the same tag",
            [
                cut.with { $0.response += "\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT" },
                rest("\nETag: \"v1\"\nLast-Modified: Sun, 06 Nov 1994 08:49:38 GMT"),
            ], ["1,2 complete: 10/10 strong-etag"], whole: "0123456789"),
        ScenarioRow(
            "another size", [cut, rest("", "56789a", "5-10/11")],
            ["1,2 changed: 5/10 missing 5-9 | 6/11 missing 0-4 {changed (size)}"]),
        ScenarioRow(
            "it has shrunk",
            [cut, Step("GET /f\nRange: bytes=5-", "", "416\nContent-Range: bytes */4")],
            ["1,2 changed: 5/10 missing 5-9 | 0/4 missing 0-3 {changed (size)}"]),
        ScenarioRow(
            "another coding", [cut, rest("\nETag: \"v1\"\nContent-Encoding: gzip")],
            [
                "1,2 changed: 5/10 missing 5-9 | 5/10 missing 0-4 {changed (Content-Encoding)}"
            ]),
        ScenarioRow(
            "no validator at all",
            [cut.with { $0.response = "200\nContent-Length: 10" }, rest("")],
            ["1,2 complete: 10/10 none"], whole: "0123456789"),
        ScenarioRow(
            "the condition brought the new version",
            [
                cut,
                Step(
                    "GET /f\nRange: bytes=5-\nIf-Range: \"v1\"", "",
                    "200\nContent-Length: 3\nETag: \"v2\"", "abc"),
            ],
            [
                "1,2 changed: 5/10 missing 5-9 | 3/3 {changed (size), range-ignored}"
            ], whole: "abc"),
        ScenarioRow(
            "fetched anew, with other bytes",
            [
                Step("GET /f", "", "200\nContent-Length: 4", "ab", error: "x"),
                Step("GET /f", "", "200\nContent-Length: 4", "aXcd"),
            ], ["1,2 changed: 2/4 missing 2-3 | 4/4 {changed (content)}"], whole: "aXcd"),
        ScenarioRow(
            "two edges with two versions in turn",
            [
                cut, rest("\nETag: \"v2\""), rest("\nETag: \"v1\""),
            ],
            ["1,2,3 changed: 10/10 strong-etag | 5/10 missing 0-4 {changed (ETag)}"],
            whole: "0123456789"),
        ScenarioRow(
            "another version in a probe is no change by itself",
            [cut, Step("HEAD /f", "", "200\nContent-Length: 10\nETag: \"v0\""), rest()],
            ["1,2,3 complete: 10/10 strong-etag"], whole: "0123456789"),
        ScenarioRow(
            "overlap with the same bytes", [cut, rest("\nETag: \"v1\"", "3456789", "3-9/10")],
            ["1,2 complete: 10/10 strong-etag twice 3-4 {range-differs}"], whole: "0123456789"),
        ScenarioRow(
            "overlap with other bytes",
            [
                cut,
                Step(
                    "GET /f\nRange: bytes=3-", "",
                    "206\nContent-Range: bytes 3-9/10\nETag: \"v1\"", "3X56789"),
            ], ["1,2 conflicting: 10/10 strong-etag twice 3-4 conflicting 4-4"]),
        ScenarioRow(
            "overlap with other bytes in several places",
            [
                Step("GET /f", "", "200\nContent-Length: 20" + tag, "0123456789abcdefghij"),
                Step(
                    "GET /f\nRange: bytes=1-18", "",
                    "206\nContent-Range: bytes 1-18/20\nETag: \"v1\"", "12X456789abcdefXhi"),
            ],
            ["1,2 conflicting: 20/20 strong-etag twice 1-18 conflicting 3-3,16-16"]),
        ScenarioRow(
            "more than was recorded",
            [
                cut,
                rest().with {
                    $0.answer = "56"
                    $0.unrecorded = 3
                },
            ], ["1,2 complete: 10/10 strong-etag not recorded"]),
    ]

    static let hostile: [ScenarioRow] = [
        ScenarioRow(
            "backwards", [cut, rest(tag, "56789", "9-5/10")],
            ["1,2 partial: 5/10 missing 5-9 {unplaced (Content-Range backwards)}"]),
        ScenarioRow(
            "behind the end", [cut, rest(tag, "56789", "5-10/10")],
            ["1,2 partial: 5/10 missing 5-9 {unplaced (Content-Range behind the end)}"]),
        ScenarioRow(
            "beyond 63 bits", [cut, rest(tag, "56789", "5-9223372036854775807/*")],
            ["1,2 partial: 5/10 missing 5-9 {unplaced (Content-Range too large)}"]),
        ScenarioRow(
            "another unit",
            [Step("GET /f\nRange: bytes=5-", "", "206\nContent-Range: items 5-9/10", "56789")],
            ["1 failed: 0/? {unplaced (Content-Range another unit than bytes)}"]),
        ScenarioRow(
            "no Content-Range", [cut, Step("GET /f\nRange: bytes=5-", "", "206" + tag, "56789")],
            ["1,2 partial: 5/10 missing 5-9 {unplaced (no Content-Range)}"]),
        ScenarioRow(
            "nobody asked", [Step("GET /f", "", "206\nContent-Range: bytes 5-9/10", "56789")],
            ["1 partial: 5/10 missing 0-4 {range-unasked}"]),
        ScenarioRow(
            "16 bytes late", [cut, rest(tag, "789", "7-9/10")],
            ["1,2 partial: 8/10 strong-etag missing 5-6 {range-differs}"]),
        ScenarioRow(
            "more bytes than the range has", [cut, rest(tag, "56789XX")],
            ["1,2 complete: 10/10 strong-etag {too-long}"], whole: "0123456789"),
        ScenarioRow(
            "fewer bytes than the range has", [cut, rest(tag, "567")],
            ["1,2 partial: 8/10 strong-etag missing 8-9"]),
        ScenarioRow(
            "a size that is not known", [cut, rest(tag, "56789", "5-9/*")],
            ["1,2 complete: 10/10 strong-etag"], whole: "0123456789"),
        ScenarioRow(
            "the largest there can be",
            [
                rest(
                    "", "X",
                    "9223372036854775805-9223372036854775805/9223372036854775806")
            ],
            [
                "1 partial: 1/9223372036854775806 missing 0-9223372036854775804 {range-differs}"
            ]),
        ScenarioRow(
            "parts of different sizes",
            [
                Step(
                    "GET /f\nRange: bytes=0-1,8-9", "",
                    "206\nContent-Type: multipart/byteranges; boundary=B",
                    "--B\r\nContent-Range: bytes 0-1/10\r\n\r\n01\r\n"
                        + "--B\r\nContent-Range: bytes 8-9/11\r\n\r\n89\r\n--B--\r\n")
            ], ["1 failed: 0/10 missing 0-9 {multipart-malformed (parts of different sizes)}"]),
        ScenarioRow(
            "a weak condition",
            [cut, rest().with { $0.request += "\nIf-Range: W/\"v1\"" }],
            ["1,2 complete: 10/10 strong-etag {weak-condition}"], whole: "0123456789"),
    ]

    @Test(arguments: grouping + versions + hostile)
    func tells(_ row: ScenarioRow) throws { try row.check() }

    /// Field, digest of what, and how the check of the whole and that of the part end.
    @Test(arguments: [
        ("Repr-Digest: sha-256=:%:", "0123456789", "repr-digest match", ""),
        ("Repr-Digest: sha-256=:%:, md5=:bad:", "0123456780", "repr-digest mismatch", ""),
        ("Digest: SHA-256=%", "0123456789", "digest match", ""),
        ("Content-Digest: sha-256=:%:;a=1", "56789", "", "content-digest match"),
        ("Content-Digest: sha-256=:%:", "0123456789", "", "content-digest mismatch"),
        ("Repr-Digest: sha-256=%", "0123456789", "", ""),
        ("Repr-Digest: sha-256=:AAAA:", "", "", ""),
    ])
    func checksDigests(
        _ field: String, _ digested: String, _ whole: String, _ part: String
    ) throws {
        let digest = Base64.encode(Digests.sha256([UInt8](digested.utf8)))
        let line = field.replacing("%", with: digest)
        let transfers = try Scenario([Self.cut, Self.rest(Self.tag + "\n" + line)]).transfers()
        let transfer = try #require(transfers.first)
        func text(_ checks: [DigestCheck]) -> String {
            checks.map { "\($0.field.rawValue) \($0.outcome.rawValue)" }.joined()
        }
        #expect(text(transfer.current.digests) == whole)
        #expect(text(transfer.parts[1].digests) == part)
    }

    @Test func readsDigestsInTrailers() throws {
        let digest = Base64.encode(Digests.sha256([UInt8]("0123".utf8)))
        var step = Step(
            "GET /f\nRange: bytes=0-", "", "200\nTransfer-Encoding: chunked", "0123")
        step.trailers = "Repr-Digest: sha-256=:\(digest):\r\n\r\n"
        let transfer = try #require(try Scenario([step]).transfers().first)
        #expect(transfer.current.digests.map(\.outcome) == [.match])
    }

    /// Digests that differ prove another version, whatever the tag says.
    @Test func digestsTellVersionsApart() throws {
        func line(_ text: String) -> String {
            "\nRepr-Digest: sha-256=:\(Base64.encode(Digests.sha256([UInt8](text.utf8)))):"
        }
        let first = Self.cut.with { $0.response += line("0123456789") }
        let other = Self.rest(Self.tag + line("another"))
        #expect(try Scenario([first, other]).transfers().first?.state == .changed)
        let plain = Self.cut.with {
            $0.response = "200\nContent-Length: 10" + line("0123456789")
        }
        let same = Self.rest(line("0123456789"))
        #expect(try Scenario([plain, same]).transfers().first?.current.sameness == .digest)
    }
}
