import Base
import ContentServer
import HTTPServer
import TLS
import Testing

/// tus 1.0 and uploads that are not resumable.
struct TusUploadTests {
    private static let whole = (0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 11) }
    private static let mark = ("Tus-Resumable", "1.0.0")
    private static let type = ("Content-Type", "application/offset+octet-stream")

    @Test func goesOnWhereItBrokeOff() async throws {
        let uploads = try UploadFixture()
        let name = Base64.encode("my movie.mp4".utf8)
        let made = try await uploads.send(
            "POST", "/uploads",
            [Self.mark, ("Upload-Length", "5000"), ("Upload-Metadata", "a,filename \(name)")])
        #expect(made.status == 201)
        let url = try #require(made["Location"])
        #expect(url == "/uploads/my_movie.mp4")
        #expect(made["Tus-Resumable"] == "1.0.0")
        #expect(made["Upload-Expires"] == "Fri, 29 May 2026 20:26:40 GMT")
        _ = try await uploads.send(
            "PATCH", url, [Self.mark, Self.type, ("Upload-Offset", "0")], Self.whole.prefix(1234),
            failing: true)
        try uploads.restart()
        let state = try await uploads.send("HEAD", url, [Self.mark])
        #expect(state.status == 200)
        #expect(state["Upload-Offset"] == "1234")
        #expect(state["Upload-Length"] == "5000")
        #expect(state["Upload-Metadata"] == "a,filename \(name)")
        #expect(state["Cache-Control"] == "no-store")
        // As clients say it that know few methods.
        let rest = try await uploads.send(
            "POST", url,
            [Self.mark, Self.type, ("Upload-Offset", "1234"), ("X-HTTP-Method-Override", "PATCH")],
            Self.whole[1234...])
        #expect(rest.status == 204)
        #expect(rest["Upload-Offset"] == "5000")
        #expect(try await uploads.send("GET", url).content == Self.whole)
    }

    @Test(arguments: [
        (["POST", "/uploads", "Tus-Resumable: 0.2.2", "Upload-Length: 5"], 412),
        (["POST", "/uploads", "Tus-Resumable: 1.0.0"], 400),
        (["POST", "/uploads", "Tus-Resumable: 1.0.0", "Upload-Length: -5"], 400),
        (["POST", "/uploads", "Tus-Resumable: 1.0.0", "Upload-Length: 9223372036854775808"], 413),
        (["POST", "/uploads", "Tus-Resumable: 1.0.0", "Upload-Length: 99999999999999999999"], 400),
        (["POST", "/uploads", "Tus-Resumable: 1.0.0", "Upload-Concat: final;/uploads/none"], 400),
        (["PATCH", "/uploads/none", "Tus-Resumable: 1.0.0", "Upload-Offset: 0"], 404),
        (["HEAD", "/uploads/none", "Tus-Resumable: 1.0.0"], 404),
        (["DELETE", "/uploads/none", "Tus-Resumable: 1.0.0"], 404),
        (["PUT", "/uploads/.hidden"], 400),
        (["PUT", "/uploads/%2e%2e"], 400),
        (["PUT", "/uploads/a%2fb"], 400),
        (["PUT", "/uploads/a%00b"], 400),
        (["PUT", "/uploads/a/b"], 404), (["PUT", "/uploads//"], 404), (["PUT", "/uploads/"], 201),
        (["POST", "/uploads/", "Tus-Resumable: 1.0.0", "Upload-Length: 5"], 201),
        (["OPTIONS", "/uploads", "Tus-Resumable: 0.2.2"], 204),
        (["PATCH", "/uploads"], 405),
    ])
    func refuses(_ row: [String], _ status: Int) async throws {
        let answer = try await UploadFixture().send(row)
        #expect(answer.status == status)
        if status == 412 { #expect(answer["Tus-Version"] == "1.0.0") }
    }

    /// A wrong checksum takes its bytes back, and one that is never compared does after a restart.
    @Test func checksum() async throws {
        let uploads = try UploadFixture()
        let made = try await uploads.send(
            "POST", "/uploads", [Self.mark, ("Upload-Length", "5000")])
        let url = try #require(made["Location"])
        let hash = RunningHash(.sha1)
        hash.update(Array(Self.whole.prefix(2000)))
        let right = ("Upload-Checksum", "sha1 \(Base64.encode(hash.finish()))")
        let fields = [Self.mark, Self.type, right]
        let wrong = try await uploads.send(
            "PATCH", url, fields + [("Upload-Offset", "0")], Self.whole.prefix(1999))
        #expect(wrong.status == 460)
        #expect(try await uploads.send("HEAD", url, [Self.mark])["Upload-Offset"] == "0")
        let first = try await uploads.send(
            "PATCH", url, fields + [("Upload-Offset", "0")], Self.whole.prefix(2000))
        #expect(first.status == 204)
        let unknown = try await uploads.send(
            "PATCH", url,
            [Self.mark, Self.type, ("Upload-Offset", "2000"), ("Upload-Checksum", "crc32 AAAA")],
            [1])
        #expect(unknown.status == 400)
        #expect(try await uploads.send("HEAD", url, [Self.mark])["Upload-Offset"] == "2000")
    }

    /// Each digest that is told is compared.
    @Test func comparesAllDigests() async throws {
        let uploads = try UploadFixture()
        let sum = Base64.encode(Digests.sha256(Self.whole))
        let wrong = "sha-256=:\(Base64.encode([UInt8](repeating: 0, count: 32))):"
        let checksum = ("Upload-Checksum", "sha256 \(sum)")
        for (fields, status) in [
            ([checksum, ("Content-Digest", wrong)], 460), ([("Repr-Digest", wrong)], 422),
            ([checksum, ("Content-Digest", "sha-256=:\(sum):")], 204),
            ([("Repr-Digest", "sha-256=:\(sum):")], 204),
        ] {
            let made = try await uploads.send(
                "POST", "/uploads", [Self.mark, ("Upload-Length", "5000")])
            let sent = try await uploads.send(
                "PATCH", try #require(made["Location"]),
                [Self.mark, Self.type, ("Upload-Offset", "0")] + fields, Self.whole)
            #expect(sent.status == status)
        }
        let told = try await uploads.send(
            "POST", "/uploads",
            [Self.mark, ("Upload-Length", "5000"), ("Repr-Digest", "sha-256=:\(sum):")])
        let other = try await uploads.send(
            "PATCH", try #require(told["Location"]),
            [Self.mark, Self.type, ("Upload-Offset", "0"), ("Repr-Digest", wrong)], Self.whole)
        #expect(other.status == 400)
    }

    /// Of a form, that is the content with all that is around its parts.
    @Test(arguments: ["Content-Digest", "Repr-Digest"])
    func comparesDigestsOfForms(_ field: String) async throws {
        let uploads = try UploadFixture()
        let form = [UInt8](
            "--x\r\nContent-Disposition: form-data; name=f; filename=f\r\n\r\nabc\r\n--x--\r\nrest"
                .utf8)
        let type = ("Content-Type", "multipart/form-data; boundary=x")
        for (content, status, count) in [(form.dropLast(), 400, 0), (form[...], 201, 2)] {
            let digest = "sha-256=:\(Base64.encode(Digests.sha256(form))):"
            let sent = try await uploads.send(
                "POST", "/uploads", [type, (field, digest)], content, piece: 7)
            #expect(sent.status == status)
            #expect(try Files.names(inFolder: uploads.folder, countLimit: 10).count == count)
        }
    }

    /// What is already longer keeps its length open.
    @Test func refusesALengthBelowTheOffset() async throws {
        let uploads = try UploadFixture()
        _ = try await uploads.send(
            "POST", "/uploads/a", [Self.mark, ("Upload-Defer-Length", "1")])
        for (offset, length, content, status) in [
            ("0", nil, [1, 2, 3, 4, 5], 204), ("5", "3", [], 400), ("5", "8", [6, 7, 8], 204),
        ] as [(String, String?, [UInt8], Int)] {
            let fields = [Self.mark, Self.type, ("Upload-Offset", offset)]
            let sent = try await uploads.send(
                "PATCH", "/uploads/a", fields + (length.map { [("Upload-Length", $0)] } ?? []),
                content)
            #expect(sent.status == status)
        }
        #expect(try await uploads.send("GET", "/uploads/a").content == Array(1...8))
    }

    @Test func laterLengthAndJoining() async throws {
        let uploads = try UploadFixture()
        var urls: [String] = []
        for part in [Self.whole.prefix(2000), Self.whole.dropFirst(2000)] {
            let made = try await uploads.send(
                "POST", "/uploads",
                [Self.mark, ("Upload-Defer-Length", "1"), ("Upload-Concat", "partial")])
            let url = try #require(made["Location"])
            #expect(
                try await uploads.send("HEAD", url, [Self.mark])["Upload-Defer-Length"] == "1")
            let sent = try await uploads.send(
                "PATCH", url,
                [
                    Self.mark, Self.type, ("Upload-Offset", "0"),
                    ("Upload-Length", String(part.count)),
                ], part)
            #expect(sent.status == 204)
            urls.append(url)
        }
        let joined = try await uploads.send(
            "POST", "/uploads",
            [Self.mark, ("Upload-Concat", "final;\(urls.joined(separator: " "))")])
        #expect(joined.status == 201)
        let url = try #require(joined["Location"])
        #expect(try await uploads.send("GET", url).content == Self.whole)
    }

    // MARK: Not resumable

    @Test func replaces() async throws {
        let uploads = try UploadFixture()
        for content in [Self.whole, [1, 2, 3]] {
            let put = try await uploads.send("PUT", "/uploads/a.txt", [], content)
            #expect(put.status == 201)
            #expect(put["Location"] == "/uploads/a.txt")
            #expect(try await uploads.send("GET", "/uploads/a.txt").content == content)
        }
        // What breaks off leaves what was there.
        let cut = try await uploads.send("PUT", "/uploads/a.txt", [], [9], failing: true)
        #expect(cut.status == 400)
        try uploads.restart()
        #expect(try await uploads.send("GET", "/uploads/a.txt").content == [1, 2, 3])
    }

    /// What lies in the folder and was never uploaded stays.
    @Test func leavesOtherFiles() async throws {
        let uploads = try UploadFixture()
        try Files.create(uploads.folder + "/Makefile", [7])
        let put = try await uploads.send("PUT", "/uploads/Makefile", [], Self.whole)
        #expect(put["Location"] == "/uploads/Makefile-2")
        #expect(try Files.read(uploads.folder + "/Makefile") == [7])
        #expect(try await uploads.send("GET", "/uploads/Makefile").status == 404)
    }

    @Test(arguments: [1, 2, 7, 64, 1000]) func form(_ piece: Int) async throws {
        let uploads = try UploadFixture()
        let content: [UInt8] =
            Array(
                """
                preamble\r
                --xyz\r
                Content-Disposition: form-data; name="note"\r
                \r
                a \r
                --xy b\r
                --xyz\r
                Content-Disposition: form-data; name="f"; filename="../../a b.bin"\r
                Content-Type: application/octet-stream\r
                \r\n
                """.utf8) + Self.whole + Array("\r\n--xyz--\r\nrest".utf8)
        let answer = try await uploads.send(
            "POST", "/uploads", [("Content-Type", "multipart/form-data; boundary=xyz")], content,
            piece: piece)
        #expect(answer.status == 201)
        #expect(answer.content.text.contains(#""name":"note","value":"a \r\n--xy b""#))
        #expect(try await uploads.send("GET", "/uploads/_.._a_b.bin").content == Self.whole)
        // Nothing need follow the last delimiter (RFC 2046 §5.1.1).
        let bare = try await uploads.send(
            "POST", "/uploads", [("Content-Type", "multipart/form-data; boundary=xyz")],
            content.dropLast("\r\nrest".utf8.count), piece: piece)
        #expect(bare.status == 201)
        let kept = try await uploads.send("GET", "/uploads").content
        let cut = try await uploads.send(
            "POST", "/uploads", [("Content-Type", "multipart/form-data; boundary=xyz")],
            content.dropLast("--\r\nrest".utf8.count), piece: piece)
        #expect(cut.status == 400)
        // Who sends the form again does not have its file twice.
        #expect(try await uploads.send("GET", "/uploads").content == kept)
    }

    @Test func bounds() async throws {
        var limits = UploadStore.Limits()
        limits.byteCount = 6000
        limits.count = 3
        let uploads = try UploadFixture(limits)
        #expect(try await uploads.send("PUT", "/uploads/a", [], Self.whole).status == 201)
        let over = try await uploads.send("PUT", "/uploads/b", [], Self.whole)
        #expect(over.status == 413)
        #expect(over.content.text.contains("--uploads-limit"))
        for name in ["b", "c"] {
            #expect(try await uploads.send("PUT", "/uploads/\(name)", [], [1]).status == 201)
        }
        #expect(try await uploads.send("PUT", "/uploads/d", [], [1]).status == 413)
        #expect(try await uploads.send("DELETE", "/uploads/a").status == 204)
        #expect(try await uploads.send("PUT", "/uploads/d", [], Self.whole).status == 201)
    }

    /// A second server would write into the same files.
    @Test func oneServerOneFolder() throws {
        let uploads = try UploadFixture()
        #expect(throws: Failure.self) { try UploadStore(path: uploads.folder) }
    }

    // MARK: Faults

    @Test(arguments: [
        ("upload-cut:1500", "1500", ["Upload-Offset: 1000"]),
        ("upload-cut:1500|no-interim", "1500", []),
        ("upload-offset:+7|upload-cut:1500", "1500", ["Upload-Offset: 1007"]),
    ])
    func faults(_ faults: String, _ offset: String, _ told: [String]) async throws {
        var limits = UploadStore.Limits()
        limits.interval = 1000
        let uploads = try UploadFixture(limits)
        let cut = try await uploads.send(
            "POST", "/faults/\(faults)/uploads/a", [("Upload-Complete", "?1")], Self.whole)
        let offsets = cut.interim.joined().filter { $0.name == "Upload-Offset" }
        #expect(offsets.map { "\($0.name): \($0.value)" } == told)
        #expect(try await uploads.send("HEAD", "/uploads/a")["Upload-Offset"] == offset)
        let lie = try await uploads.send("HEAD", "/faults/upload-offset:-500/uploads/a")
        #expect(lie["Upload-Offset"] == "1000")
        let journal = uploads.server.journal.contents().records
        #expect(journal[0].received == 1500)
        #expect(journal[0].faults.contains("upload-cut@1500 finish"))
        #expect(journal[1].toldOffset == "1500")
    }

    /// An upload breaks off where so much of it has come, whichever request brings that.
    @Test func cutCountsOverTheUpload() async throws {
        let uploads = try UploadFixture()
        let made = try await uploads.send(
            "POST", "/uploads", [Self.mark, ("Upload-Length", "5000")])
        let url = "/faults/upload-cut:1500" + (try #require(made["Location"]))
        for (from, to, offset) in [(0, 1000, "1000"), (1000, 2000, "1500"), (1500, 5000, "5000")] {
            _ = try await uploads.send(
                "PATCH", url, [Self.mark, Self.type, ("Upload-Offset", "\(from)")],
                Self.whole[from..<to])
            #expect(try await uploads.send("HEAD", url, [Self.mark])["Upload-Offset"] == offset)
        }
        let faults = uploads.server.journal.contents().records.map(\.faults)
        #expect(faults.filter { !$0.isEmpty } == [["upload-cut@1500 finish"]])
    }
}
