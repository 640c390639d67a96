import Base
import Contents
import HTTPModel
import HTTPServer
import TLS
import Testing

@testable import ContentServer

/// An upload is complete when all of it is there, and is what its client says that it is.
struct UploadCompletionTests {
    private static let whole = (0..<100).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    private static let tus = ("Tus-Resumable", "1.0.0")
    private static let type = ("Content-Type", "application/offset+octet-stream")
    private static let right = "sha-256=:\(Base64.encode(Digests.sha256(whole))):"
    private static let wrong = "sha-256=:\(Base64.encode([UInt8](repeating: 0, count: 32))):"
    private static let wrong512 = "sha-512=:\(Base64.encode([UInt8](repeating: 0, count: 64))):"

    /// Sends all of an upload by tus, and looks at it ahead of the append's end.
    private static func append(
        _ uploads: UploadFixture, _ name: String, _ created: [(String, String)] = [],
        atEnd: @escaping () async throws -> Void
    ) async throws -> Int {
        _ = try await uploads.send(
            "POST", "/uploads/\(name)", [tus, ("Upload-Length", "100")] + created)
        let source = PiecesSource(whole, piece: 100)
        var isSent = false
        source.before = {
            do {
                if isSent { try await atEnd() }
                isSent = true
            } catch {
                Issue.record(error)
            }
        }
        let fields = [tus, type, ("Upload-Offset", "0")]
        return await uploads.server.answer(
            try request("PATCH", "/uploads/\(name)", fields),
            RequestBody(length: nil, source: source)
        ).status
    }

    private static func ask(
        _ uploads: UploadFixture, _ name: String, _ fields: [(String, String)] = []
    ) async throws -> UploadFixture.Answer {
        try await uploads.send("HEAD", "/uploads/\(name)", [tus] + fields)
    }

    // MARK: Tus

    /// In tus who is told that all is there asks no more: it is complete, also where that question has
    /// ended the append that brought the last byte, and where a server was killed behind it.
    @Test(arguments: [false, true]) func isCompleteWhenItIsTold(_ isKilled: Bool) async throws {
        var uploads = try UploadFixture()
        let first = uploads
        var told: UploadFixture.Answer?
        var copy: UploadFixture?
        let status = try await Self.append(first, "a") {
            if isKilled { copy = try UploadFixture(copying: first.folder) }
            told = try await Self.ask(copy ?? first, "a")
        }
        #expect(told?["Upload-Offset"] == "100")
        #expect(told?["Upload-Expires"] == nil)
        #expect(status == (isKilled ? 204 : 409))
        if let copy { uploads = copy }
        let got = try await uploads.send("GET", "/uploads/a")
        #expect(got.content == Self.whole)
        #expect(got["ETag"] == "\"\(Digests.sha256(Self.whole).hex)\"")
    }

    /// A page of another site completes nothing, ends nothing, and is not told that all is there.
    @Test func tellsPagesNothing() async throws {
        let uploads = try UploadFixture()
        var told: [UploadFixture.Answer] = []
        let page = [("Origin", "http://other.test")]
        let status = try await Self.append(uploads, "a") {
            told.append(try await Self.ask(uploads, "a", page))
        }
        told.append(try await Self.ask(uploads, "a", page))
        #expect(status == 204)
        #expect(told.map(\.status) == [423, 200])
        #expect(told.map { $0["Upload-Offset"] } == [nil, "100"])
    }

    /// Nor is it refused for ever: where nobody else is about to complete it, it is done for the page.
    @Test func completesForPagesWhatNobodyElseDoes() async throws {
        let uploads = try UploadFixture()
        var copy: UploadFixture?
        _ = try await Self.append(uploads, "a") {
            copy = try UploadFixture(copying: uploads.folder)
        }
        let told = try await Self.ask(
            try #require(copy), "a", [("Origin", "http://other.test")])
        #expect(told["Upload-Offset"] == "100")
        #expect(try await copy?.send("GET", "/uploads/a").content == Self.whole)
    }

    /// An append that was let in before the upload was complete takes it away from nobody.
    @Test func staysWhateverComesBehindIt() async throws {
        let uploads = try UploadFixture()
        let fields = [("Upload-Complete", "?0"), ("Upload-Length", "100")]
        _ = try await uploads.send("POST", "/uploads/a", fields, Self.whole)
        let source = PiecesSource([1], piece: 1)
        source.before = {
            do {
                let upload = try #require(uploads.store?[Array("a".utf8)])
                try upload.change(turn: nil) { $0.sha256 = Digests.sha256(Self.whole).hex }
            } catch {
                Issue.record(error)
            }
        }
        let answer = await uploads.server.answer(
            try request(
                "PATCH", "/uploads/a",
                [
                    ("Upload-Offset", "100"), ("Upload-Complete", "?1"),
                    ("Content-Type", "application/partial-upload"),
                ]),
            RequestBody(length: nil, source: source))
        #expect(answer.status == 400)
        #expect(try await uploads.send("GET", "/uploads/a").content == Self.whole)
    }

    /// Nobody is told that all is there where it is not what it should be.
    @Test func tellsNothingOfWhatIsWrong() async throws {
        let uploads = try UploadFixture()
        var told: UploadFixture.Answer?
        let status = try await Self.append(uploads, "a", [("Repr-Digest", Self.wrong)]) {
            told = try await Self.ask(uploads, "a")
        }
        #expect(told?.status == 422)
        #expect(told?["Upload-Offset"] == nil)
        #expect(status == 410)
        #expect(try await Self.ask(uploads, "a").status == 404)
    }

    /// One request at a time has an upload digested.
    @Test func isDigestedForOneAtATime() async throws {
        let uploads = try UploadFixture()
        var told: [Int] = []
        let status = try await Self.append(uploads, "a") {
            let upload = try #require(uploads.store?[Array("a".utf8)])
            #expect(upload.beginDigest())
            let locked = try await Self.ask(uploads, "a")
            told.append(locked.status)
            #expect(locked["Retry-After"] == "1")
            upload.endDigest()
            told.append(try await Self.ask(uploads, "a").status)
        }
        #expect(told == [423, 200])
        #expect(status == 409)
    }

    /// What one request brings is nobody else's before it is complete, for tus either.
    @Test func isNotCompletedForAnother() async throws {
        let uploads = try UploadFixture()
        let source = PiecesSource(Self.whole, piece: 100)
        var count = 0
        source.before = {
            count += 1
            guard count == 2 else { return }
            do {
                #expect(try await Self.ask(uploads, "a")["Upload-Offset"] == "100")
                #expect(try await uploads.send("GET", "/uploads/a").status == 409)
            } catch {
                Issue.record(error)
            }
        }
        let answer = await uploads.server.answer(
            try request("PUT", "/uploads/a"), RequestBody(length: 100, source: source))
        #expect(answer.status == 201)
        var joined = UploadRecord(dialect: UploadDialect.tus.name, expiry: 1)
        joined.isJoined = true
        let record = try #require(UploadRecord([UInt8](joined.text.utf8)))
        #expect(record == joined)
        let upload = StoredUpload(name: "b", folder: uploads.folder, record: record, size: 0)
        #expect(upload.takeOver() == nil)
    }

    // MARK: Digests

    /// What is said of a whole that is complete is compared too, and takes nothing away.
    @Test(arguments: [wrong, wrong512, right])
    func comparesWhatIsToldBehindTheEnd(_ digest: String) async throws {
        let uploads = try UploadFixture()
        #expect(try await Self.append(uploads, "a") {} == 204)
        let fields = [
            Self.tus, Self.type, ("Upload-Offset", "100"), ("Repr-Digest", digest),
        ]
        let expected = digest == Self.right ? 204 : 422
        for _ in 0..<2 {
            #expect(try await uploads.send("PATCH", "/uploads/a", fields).status == expected)
        }
        #expect(try await uploads.send("GET", "/uploads/a").content == Self.whole)
    }

    /// All lines of a field are one list, and parameters are no part of a digest (RFC 9110 §5.3, RFC
    /// 9530 §2).
    @Test(arguments: [
        ([right, wrong512], 422), ([wrong512 + ", " + right], 422), ([wrong + ";x=1"], 422),
        (["md5=:AAAA:", wrong], 422), ([right, wrong], 400), ([right + ";x=1", right], 201),
        ([(0..<20).map { "x\($0)=:AAAA:" }.joined(separator: ",") + "," + wrong], 422),
    ])
    func comparesEachOfSeveral(_ lines: [String], _ expected: Int) async throws {
        for (name, other) in [("Repr-Digest", expected), ("Content-Digest", min(expected, 400))] {
            let uploads = try UploadFixture()
            let answer = try await uploads.send(
                "PUT", "/uploads/a", lines.map { (name, $0) }, Self.whole)
            #expect(answer.status == other)
            #expect(
                try await uploads.send("GET", "/uploads/a").status == (other == 201 ? 200 : 404))
        }
    }

    /// Of a form nothing is complete before all has come and was compared.
    @Test func formsAreCompleteAtTheirEnd() async throws {
        let uploads = try UploadFixture()
        let part = "--x\r\nContent-Disposition: form-data; name=f; filename=f\r\n\r\nabc\r\n"
        let form = [UInt8]((part + part + "--x--\r\n").utf8)
        let source = PiecesSource(form, piece: part.utf8.count + 30)
        var count = 0
        source.before = {
            count += 1
            guard count == 2 else { return }
            do {
                #expect(try await uploads.send("GET", "/uploads/f").status == 409)
                let next = try UploadFixture(copying: uploads.folder)
                #expect(try await next.send("GET", "/uploads/f").status == 404)
            } catch {
                Issue.record(error)
            }
        }
        let type = ("Content-Type", "multipart/form-data; boundary=x")
        let answer = await uploads.server.answer(
            try request("POST", "/uploads", [type, ("Content-Digest", Self.wrong)]),
            RequestBody(length: UInt64(form.count), source: source))
        #expect(answer.status == 400)
        #expect(count > 2)
        #expect(try Files.names(inFolder: uploads.folder, countLimit: 10) == [])
    }

    // MARK: The next start

    /// What one request was bringing goes with the server that took it; what was complete stays.
    @Test func startsWithWhatWasComplete() async throws {
        let uploads = try UploadFixture()
        #expect(try await uploads.send("PUT", "/uploads/a", [], Self.whole).status == 201)
        let source = PiecesSource(Self.whole, piece: 50)
        var count = 0
        var next: UploadFixture?
        source.before = {
            count += 1
            guard count == 2 else { return }
            do {
                next = try UploadFixture(copying: uploads.folder)
            } catch {
                Issue.record(error)
            }
        }
        let answer = await uploads.server.answer(
            try request("PUT", "/uploads/b"), RequestBody(length: 100, source: source))
        #expect(answer.status == 201)
        let server = try #require(next)
        #expect(try await server.send("GET", "/uploads/a").content == Self.whole)
        #expect(
            try Files.names(inFolder: server.folder, countLimit: 10).sorted() == [".a.upload", "a"])
    }

    /// Who has changed the file has changed what the digest is of: nobody is told of it, goes on with
    /// it or joins it, and it stays.
    @Test(arguments: [0, 60, 101], [false, true])
    func tellsNothingOfWhatWasAltered(_ size: Int, _ isPartial: Bool) async throws {
        let uploads = try UploadFixture()
        _ = try await uploads.send(
            "POST", "/uploads/a",
            [Self.tus, Self.type, ("Upload-Length", "100")]
                + (isPartial ? [("Upload-Concat", "partial")] : []), Self.whole)
        #expect(try await uploads.send("GET", "/uploads/a").status == 200)
        let other = [UInt8](repeating: 1, count: size)
        Files.remove(uploads.folder + "/a")
        try Files.create(uploads.folder + "/a", other)
        try uploads.restart()
        #expect(try await uploads.send("GET", "/uploads/a").status == 409)
        let digest = Digests.sha256(Self.whole).hex
        #expect(uploads.store?.holds(sha256: digest) == false)
        #expect(try await !uploads.send("GET", "/uploads").content.text.contains(digest))
        #expect(try await Self.ask(uploads, "a").status == 409)
        #expect(try await uploads.send("HEAD", "/uploads/a").status == 409)
        let offset = ("Upload-Offset", String(size))
        for content in [[], [UInt8](repeating: 2, count: max(1, 100 - size))] {
            let fields = [Self.tus, Self.type, offset]
            #expect(try await uploads.send("PATCH", "/uploads/a", fields, content).status == 409)
        }
        let joined = [Self.tus, ("Upload-Concat", "final;/uploads/a")]
        #expect(try await uploads.send("POST", "/uploads/b", joined).status == 400)
        #expect(try Files.read(uploads.folder + "/a") == other)
    }

    /// What is taken away while the server runs is not filled up, with zeros or by who goes on.
    @Test(arguments: [10, 100])
    func fillsNothingUp(_ count: Int) async throws {
        let uploads = try UploadFixture()
        _ = try await uploads.send(
            "POST", "/uploads/a", [Self.tus, Self.type, ("Upload-Length", "100")],
            Array(Self.whole.prefix(count)))
        Files.remove(uploads.folder + "/a")
        try Files.create(uploads.folder + "/a", [1, 2])
        let fields = [Self.tus, Self.type, ("Upload-Offset", String(count))]
        let rest = Array(Self.whole.dropFirst(count))
        #expect(try await uploads.send("PATCH", "/uploads/a", fields, rest).status == 409)
        #expect(try await uploads.send("GET", "/uploads/a").status == 409)
        #expect(try await Self.ask(uploads, "a").status == 409)
        #expect(try Files.read(uploads.folder + "/a") == [1, 2])
    }

    /// Nor does one go on that has more than its length.
    @Test func goesOnWithNothingThatIsTooLong() async throws {
        let uploads = try UploadFixture()
        _ = try await uploads.send(
            "POST", "/uploads/a", [Self.tus, Self.type, ("Upload-Length", "100")], [1])
        Files.remove(uploads.folder + "/a")
        try Files.create(uploads.folder + "/a", [UInt8](repeating: 1, count: 101))
        try uploads.restart()
        let fields = [Self.tus, Self.type, ("Upload-Offset", "101")]
        #expect(try await uploads.send("PATCH", "/uploads/a", fields).status == 409)
        #expect(try await uploads.send("GET", "/uploads/a").status == 409)
    }
}
