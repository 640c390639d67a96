import Base
import ContentServer
import HTTPServer
import TLS
import Testing

/// One request at a time writes to an upload: what another of them had begun does not count.
struct UploadTurnTests {
    private static let whole = (0..<100).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    private static let tus = ("Tus-Resumable", "1.0.0")
    private static let tusType = ("Content-Type", "application/offset+octet-stream")
    private static let type = ("Content-Type", "application/partial-upload")
    private static let wrong = ("Upload-Checksum", "sha1 AAAAAAAAAAAAAAAAAAAAAAAAAAA=")

    /// A request whose content comes in pieces of 10 bytes, with another one in its midst.
    ///
    /// - Parameter number: of the piece ahead of which the other one is sent.
    private static func send(
        _ uploads: UploadFixture, _ method: String, _ path: String, _ headers: [(String, String)],
        _ content: some Sequence<UInt8>, length: UInt64?, ahead number: Int,
        _ other: @escaping () async -> Void
    ) async throws -> Int {
        let source = PiecesSource(Array(content), piece: 10)
        var count = 0
        source.before = {
            count += 1
            if count == number { await other() }
        }
        let body = RequestBody(length: length, source: source)
        return await uploads.server.answer(try request(method, path, headers), body).status
    }

    private static func offset(_ uploads: UploadFixture) async throws -> String? {
        try await uploads.send("HEAD", "/uploads/a", [tus])["Upload-Offset"]
    }

    private static func append(
        _ uploads: UploadFixture, _ offset: Int, _ content: some Sequence<UInt8>
    ) async throws -> UploadFixture.Answer {
        try await uploads.send(
            "PATCH", "/uploads/a", [tus, tusType, ("Upload-Offset", "\(offset)")], content)
    }

    // MARK: Checksums

    /// Bytes whose checksum nobody has compared are neither told nor gone on behind, whether the
    /// server is killed or not; what takes their place stays.
    @Test(arguments: [30, 100]) func doesNotCountUnchecked(_ size: Int) async throws {
        let uploads = try UploadFixture()
        _ = try await uploads.send("POST", "/uploads/a", [Self.tus, ("Upload-Length", "100")])
        var told: String?
        var statuses: [Int] = []
        var offsets: [String?] = []
        let first = [Self.tus, Self.tusType, Self.wrong, ("Upload-Offset", "0")]
        let status = try await Self.send(
            uploads, "PATCH", "/uploads/a", first, [UInt8](repeating: 1, count: 50), length: 50,
            ahead: 3
        ) {
            do {
                told = try await Self.offset(uploads)
                offsets.append(
                    try await Self.offset(try UploadFixture(copying: uploads.folder)))
                for offset in [20, 0] {
                    let answer = try await Self.append(uploads, offset, Self.whole.prefix(size))
                    statuses.append(answer.status)
                }
                offsets.append(
                    try await Self.offset(try UploadFixture(copying: uploads.folder)))
            } catch {
                Issue.record(error)
            }
        }
        #expect(status == 409)
        #expect(told == "0")
        #expect(statuses == [409, 204])
        #expect(offsets == ["0", "\(size)"])
        #expect(try await Self.offset(uploads) == "\(size)")
        if size < 100 {
            #expect(try await Self.append(uploads, size, Self.whole[size...]).status == 204)
        }
        try uploads.restart()
        let whole = try await uploads.send("GET", "/uploads/a")
        #expect(whole.content == Self.whole)
        #expect(whole["ETag"] == "\"\(Digests.sha256(Self.whole).hex)\"")
    }

    /// Nothing is taken from what is complete, whatever its state file says of what was checked.
    @Test func startsWithWhatIsComplete() async throws {
        let uploads = try UploadFixture()
        #expect(try await uploads.send("PUT", "/uploads/a", [], Self.whole).status == 201)
        let path = uploads.folder + "/.a.upload"
        let state = try Files.read(path).text.dropLast("end\n".utf8.count)
        Files.remove(path)
        try Files.create(path, [UInt8]((state + "checked 0\nend\n").utf8))
        try uploads.restart()
        #expect(try await uploads.send("GET", "/uploads/a").content == Self.whole)
    }

    // MARK: Completion

    /// Whoever has lost the upload does not complete it, and does not take it away.
    @Test(arguments: [2, 3])
    func doesNotCompleteAnothers(_ number: Int) async throws {
        let marks = [("Upload-Complete", "?1")]
        let uploads = try UploadFixture()
        var told: [String?] = []
        let offset = (number - 1) * 10
        let status = try await Self.send(
            uploads, "PUT", "/uploads/a", marks, Self.whole.prefix(20), length: nil, ahead: number
        ) {
            do {
                let fields = [
                    Self.type, ("Upload-Offset", "\(offset)"), ("Upload-Complete", "?0"),
                ]
                let content = Self.whole[offset..<(offset + 5)]
                told.append(
                    try await uploads.send("PATCH", "/uploads/a", fields, content)["Upload-Offset"])
            } catch {
                Issue.record(error)
            }
        }
        #expect(status == 409)
        #expect(told == ["\(offset + 5)"])
        #expect(try await uploads.send("GET", "/uploads/a").status == 409)
        let last = try await uploads.send(
            "PATCH", "/uploads/a",
            [Self.type, ("Upload-Offset", "\(offset + 5)"), ("Upload-Complete", "?1")],
            Self.whole[(offset + 5)...])
        #expect(last.status == 200)
        #expect(try await uploads.send("GET", "/uploads/a").content == Self.whole)
    }

    /// The same where another completes it as it is: nothing was done by whoever had lost it.
    @Test func doesNotTellAnothersCompletion() async throws {
        let uploads = try UploadFixture()
        var other: Int?
        let status = try await Self.send(
            uploads, "PUT", "/uploads/a", [("Upload-Complete", "?1")], Self.whole.prefix(20),
            length: nil, ahead: 3
        ) {
            do {
                let fields = [Self.type, ("Upload-Offset", "20"), ("Upload-Complete", "?1")]
                other = try await uploads.send("PATCH", "/uploads/a", fields).status
            } catch {
                Issue.record(error)
            }
        }
        #expect(other == 200)
        #expect(status == 409)
    }

    /// Whoever brings an upload by one request could not go on: nobody takes it over. A page of
    /// another site takes none.
    @Test(arguments: [
        ([], [], 409), ([], [("Sec-Fetch-Site", "cross-site")], 409),
        ([("Upload-Complete", "?1")], [("Sec-Fetch-Site", "cross-site")], nil),
    ])
    func isNotTakenOver(
        _ marks: [(String, String)], _ asked: [(String, String)], _ appended: Int?
    ) async throws {
        let uploads = try UploadFixture()
        var offset: String?
        var other: Int?
        let status = try await Self.send(
            uploads, "PUT", "/uploads/a", marks, Self.whole, length: nil, ahead: 3
        ) {
            do {
                offset = try await uploads.send("HEAD", "/uploads/a", asked)["Upload-Offset"]
                guard appended != nil else { return }
                let fields = [Self.type, ("Upload-Offset", "20"), ("Upload-Complete", "?1")]
                other = try await uploads.send("PATCH", "/uploads/a", fields, [1]).status
            } catch {
                Issue.record(error)
            }
        }
        #expect(offset == "20")
        #expect(other == appended)
        #expect(status == 201)
        #expect(try await uploads.send("GET", "/uploads/a").content == Self.whole)
    }

    /// An upload may be taken over before the first byte of the request that made it has come.
    @Test func isTakenOverAheadOfItsContent() async throws {
        let uploads = try UploadFixture()
        let source = PiecesSource(Array(Self.whole.prefix(10)), piece: 10)
        var statuses: [Int] = []
        source.beforeInform = {
            do {
                let fields = [Self.type, ("Upload-Offset", "0"), ("Upload-Complete", "?0")]
                statuses.append(
                    try await uploads.send("PATCH", "/uploads/a", fields, [1, 2, 3]).status)
            } catch {
                Issue.record(error)
            }
        }
        let answer = await uploads.server.answer(
            try request("POST", "/uploads/a", [("Upload-Complete", "?1")]),
            RequestBody(length: nil, source: source))
        #expect(statuses == [204])
        #expect(answer.status == 409)
        #expect(try await uploads.send("HEAD", "/uploads/a")["Upload-Offset"] == "3")
    }

    /// An empty append to what is complete is answered from its record: it is not digested again.
    @Test func isDigestedOnce() async throws {
        let uploads = try UploadFixture()
        #expect(try await uploads.send("PUT", "/uploads/a", [], Self.whole).status == 201)
        Files.remove(uploads.folder + "/a")
        try Files.create(uploads.folder + "/a", [UInt8](repeating: 0, count: 100))
        let answer = try await Self.append(uploads, 100, [])
        #expect(answer.status == 204)
        let sum = Base64.encode(Digests.sha256(Self.whole))
        #expect(answer["Repr-Digest"] == "sha-256=:\(sum):")
    }
}
