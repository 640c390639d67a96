import Base
import ContentServer
import HTTPServer
import TLS
import Testing

/// The dialects of resumable uploads, request by request.
struct ResumableUploadTests {
    /// How a version of the draft differs from the others.
    struct Version: Sendable, CustomTestStringConvertible {
        let number: Int?
        var testDescription: String { number.map { "draft \($0)" } ?? "rfc" }

        var marks: [(String, String)] {
            number.map { [("Upload-Draft-Interop-Version", String($0))] } ?? []
        }
        func complete(_ value: Bool) -> (String, String) {
            number == 3
                ? ("Upload-Incomplete", value ? "?0" : "?1")
                : ("Upload-Complete", value ? "?1" : "?0")
        }
        var type: [(String, String)] {
            (number ?? 9) >= 6 ? [("Content-Type", "application/partial-upload")] : []
        }
        var appended: Int { (number ?? 9) >= 7 ? 204 : 201 }
        var limit: String? {
            switch number ?? 9 {
            case 3...5: nil
            case 6: "max-size=1073741824, expires=86400"
            default: "max-size=1073741824, max-age=86400"
            }
        }
        var length: String? { (number ?? 9) >= 6 ? "5000" : nil }

        static let all = [3, 4, 5, 6, 7, 8, nil].map(Version.init)
    }

    private static let whole = (0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ $0 >> 8) }
    private static let sum = "sha-256=:\(Base64.encode(Digests.sha256(whole))):"

    /// The client leaves after 2000 bytes, asks, sends 1500, and then the rest.
    @Test(arguments: Version.all)
    func goesOnWhereItBrokeOff(_ version: Version) async throws {
        let uploads = try UploadFixture()
        let first = try await uploads.send(
            "POST", "/uploads", version.marks + [version.complete(true)],
            Self.whole.prefix(2000), failing: true, length: 5000)
        let told = try #require(first.interim.first)
        #expect(told.first?.name == "Location")
        let url = try #require(told.first?.value)
        #expect(told.first { $0.name == "Upload-Limit" }?.value == version.limit)
        let echo = told.first { $0.name == "Upload-Draft-Interop-Version" }?.value
        #expect(echo == version.number.map { String($0) })
        try uploads.restart()

        let state = try await uploads.send("HEAD", url, version.marks)
        #expect(state.status == 204)
        #expect(state["Upload-Offset"] == "2000")
        #expect(state[version.complete(false).0] == version.complete(false).1)
        #expect(state["Upload-Length"] == version.length)
        #expect(state["Cache-Control"] == "no-store")

        let second = try await uploads.send(
            "PATCH", url,
            version.marks + version.type + [version.complete(false), ("Upload-Offset", "2000")],
            Self.whole[2000..<3500])
        #expect(second.status == version.appended)
        #expect(second["Upload-Offset"] == "3500")
        #expect(second[version.complete(false).0] == version.complete(false).1)
        #expect(second["Location"] == nil)

        let last = try await uploads.send(
            "PATCH", url,
            version.marks + version.type + [version.complete(true), ("Upload-Offset", "3500")],
            Self.whole[3500...])
        #expect(last.status == 200)
        #expect(last[version.complete(true).0] == version.complete(true).1)
        #expect(last["Repr-Digest"] == Self.sum)
        #expect(try await uploads.send("GET", url).content == Self.whole)
    }

    @Test(arguments: Version.all) func inOneRequest(_ version: Version) async throws {
        let uploads = try UploadFixture()
        let answer = try await uploads.send(
            "PUT", "/uploads/a.bin", version.marks + [version.complete(true)], Self.whole)
        #expect(answer.status == 201)
        #expect(answer["Location"] == "/uploads/a.bin")
        #expect(answer["Repr-Digest"] == Self.sum)
        #expect(answer.interim.count == 1)
    }

    /// What does not fit is refused, and nothing is appended.
    @Test(arguments: [
        // An upload of 4000 bytes stands at 1000.
        (
            "offset behind", ["Upload-Offset: 999", "Upload-Complete: ?0"], 409,
            "mismatching-upload-offset"
        ),
        (
            "offset ahead", ["Upload-Offset: 1001", "Upload-Complete: ?0"], 409,
            "mismatching-upload-offset"
        ),
        ("no offset", ["Upload-Complete: ?0"], 400, "blank"),
        (
            "offset beyond", ["Upload-Offset: 9223372036854775808", "Upload-Complete: ?0"], 400,
            "blank"
        ),
        ("offset negative", ["Upload-Offset: -1", "Upload-Complete: ?0"], 400, "blank"),
        ("no completion", ["Upload-Offset: 1000"], 400, "blank"),
        (
            "another length",
            ["Upload-Offset: 1000", "Upload-Complete: ?0", "Upload-Length: 4001"], 400,
            "inconsistent-upload-length"
        ),
        (
            "complete too early", ["Upload-Offset: 1000", "Upload-Complete: ?1"], 400,
            "inconsistent-upload-length"
        ),
        (
            "another type",
            ["Upload-Offset: 1000", "Upload-Complete: ?0", "Content-Type: text/plain"], 415, "blank"
        ),
        (
            "another digest",
            [
                "Upload-Offset: 1000", "Upload-Complete: ?0",
                "Content-Digest: sha-256=:\(Base64.encode([UInt8](repeating: 1, count: 32))):",
            ], 400, "blank"
        ),
    ])
    func refuses(_ name: String, _ headers: [String], _ status: Int, _ problem: String) async throws
    {
        let uploads = try UploadFixture()
        let url = try await begin(uploads)
        let standard = ["PATCH", url]
        let type =
            headers.contains { $0.hasPrefix("Content-Type") }
            ? [] : ["Content-Type: application/partial-upload"]
        let fields = (type + headers).map { line in
            (String(line.prefix { $0 != ":" }), String(line.drop { $0 != " " }.dropFirst()))
        }
        let answer = try await uploads.send(standard[0], url, fields, [1, 2, 3])
        #expect(answer.status == status)
        #expect(answer["Content-Type"] == "application/problem+json")
        #expect(answer.content.text.contains(problem))
        if status == 409 { #expect(answer["Upload-Offset"] == "1000") }
        let state = try await uploads.send("HEAD", url)
        #expect(state["Upload-Offset"] == "1000")
    }

    private func begin(_ uploads: UploadFixture) async throws -> String {
        let first = try await uploads.send(
            "POST", "/uploads", [("Upload-Complete", "?0"), ("Upload-Length", "4000")],
            Self.whole.prefix(1000))
        #expect(first.status == 201)
        return try #require(first["Location"])
    }

    /// Bytes behind the length take the upload away, however they come.
    @Test func beyondItsLength() async throws {
        let uploads = try UploadFixture()
        let url = try await begin(uploads)
        let answer = try await uploads.send(
            "PATCH", url,
            [
                ("Content-Type", "application/partial-upload"), ("Upload-Offset", "1000"),
                ("Upload-Complete", "?0"),
            ], Self.whole, failing: true)
        #expect(answer.status == 400)
        #expect(answer.content.text.contains("inconsistent-upload-length"))
        #expect(try await uploads.send("HEAD", url).status == 404)
        #expect(try await uploads.send("GET", "/uploads").content.text.contains("\"uploads\":[]"))
    }

    @Test func progressIsToldOnceItIsOnTheDisk() async throws {
        var limits = UploadStore.Limits()
        limits.interval = 2000
        let uploads = try UploadFixture(limits)
        let answer = try await uploads.send(
            "POST", "/uploads", [("Upload-Complete", "?1")], Self.whole)
        let offsets = answer.interim.dropFirst().map { $0.map { "\($0.name): \($0.value)" } }
        #expect(offsets == [["Upload-Offset: 2000"], ["Upload-Offset: 4000"]])
    }

    @Test(arguments: [true, false]) func wholeDigest(_ isRight: Bool) async throws {
        let uploads = try UploadFixture()
        let sum = Digests.sha256(isRight ? Self.whole : [])
        let answer = try await uploads.send(
            "POST", "/uploads",
            [("Upload-Complete", "?1"), ("Repr-Digest", "sha-256=:\(Base64.encode(sum)):")],
            Self.whole)
        #expect(answer.status == (isRight ? 201 : 422))
        let list = try await uploads.send("GET", "/uploads").content.text
        #expect(list.contains("\"uploads\":[]") == !isRight)
    }

    /// The first request is still under way when the client asks how far it is.
    @Test func whoAsksEndsWhatGoesOn() async throws {
        let uploads = try UploadFixture()
        let url = try await begin(uploads)
        let source = PiecesSource(Array(Self.whole[1000..<3000]), piece: 500)
        let fields = [
            ("Content-Type", "application/partial-upload"), ("Upload-Offset", "1000"),
            ("Upload-Complete", "?0"),
        ]
        let other = StateRequest(uploads.server, try request("HEAD", url))
        source.before = { await other.sendAtThird() }
        let answer = await uploads.server.answer(
            try request("PATCH", url, fields), RequestBody(length: 2000, source: source))
        #expect(answer.status == 409)
        #expect(other.offset == "2000")
        #expect(try await uploads.send("HEAD", url)["Upload-Offset"] == "2000")
        // Whoever was told may go on.
        let next = try await uploads.send(
            "PATCH", url, [fields[0], ("Upload-Offset", "2000"), ("Upload-Complete", "?1")],
            Self.whole[2000..<4000])
        #expect(next.status == 200)
    }

    @Test func deleted() async throws {
        let uploads = try UploadFixture()
        let url = try await begin(uploads)
        #expect(try await uploads.send("DELETE", url).status == 204)
        #expect(try await uploads.send("HEAD", url).status == 404)
    }

    @Test func timeIsOver() async throws {
        let uploads = try UploadFixture()
        let url = try await begin(uploads)
        let late = [("X-Sallyport-Now", "1780086401")]
        #expect(try await uploads.send("HEAD", url, late).status == 410)
        #expect(try await uploads.send("HEAD", url).status == 404)
    }

    @Test(arguments: ["2", "9", "x"]) func unknownVersion(_ version: String) async throws {
        let uploads = try UploadFixture()
        let mark = ("Upload-Draft-Interop-Version", version)
        let whole = try await uploads.send(
            "POST", "/uploads", [mark, ("Upload-Complete", "?1")], Self.whole)
        #expect(whole.status == 201)
        #expect(whole.interim.isEmpty)
        let part = try await uploads.send(
            "POST", "/uploads", [mark, ("Upload-Complete", "?0")], Self.whole)
        #expect(part.status == 400)
    }
}

/// A request that is sent in the middle of another.
private final class StateRequest {
    private let server: ContentServer
    private let request: ServerRequest
    private var count = 0
    private(set) var offset: String?

    init(_ server: ContentServer, _ request: ServerRequest) {
        self.server = server
        self.request = request
    }

    func sendAtThird() async {
        count += 1
        guard count == 3 else { return }
        offset = await server.answer(request, RequestBody([])).first("Upload-Offset")
    }
}
