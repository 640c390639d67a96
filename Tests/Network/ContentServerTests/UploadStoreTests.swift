import Base
import Foundation
import HTTPModel
import HTTPServer
import TLS
import Testing

@testable import ContentServer

/// What is on the disk for uploads: nothing that is not theirs, and nothing that nobody owns.
struct UploadStoreTests {
    // MARK: What lies in the folder

    /// What somebody has put where an upload's files would be.
    enum Planted: String, CaseIterable, Sendable {
        case stateLink, danglingStateLink, dataLink, danglingDataLink, statePipe, dataFolder

        func plant(in folder: String, pointingTo victim: String) throws {
            let files = FileManager.default
            switch self {
            case .stateLink:
                try files.createSymbolicLink(
                    atPath: folder + "/.foo.upload", withDestinationPath: victim)
            case .danglingStateLink:
                try files.createSymbolicLink(
                    atPath: folder + "/.foo.upload", withDestinationPath: victim + "-new")
            case .dataLink:
                try files.createSymbolicLink(atPath: folder + "/foo", withDestinationPath: victim)
            case .danglingDataLink:
                try files.createSymbolicLink(
                    atPath: folder + "/foo", withDestinationPath: victim + "-new")
            case .statePipe:
                let made = unsafe mkfifo(folder + "/.foo.upload", 0o600)
                #expect(made == 0)
            case .dataFolder:
                try files.createDirectory(
                    atPath: folder + "/foo", withIntermediateDirectories: false)
            }
        }
    }

    /// A folder of somebody else's making leads to no file outside of it.
    @Test(arguments: Planted.allCases, [false, true])
    func leadsNowhere(_ planted: Planted, _ isThereAtStart: Bool) async throws {
        let outside = try Outside()
        let uploads = try UploadFixture()
        try planted.plant(in: uploads.folder, pointingTo: outside.victim)
        if isThereAtStart { try uploads.restart() }
        let created = try await uploads.send(
            "POST", "/uploads/foo",
            [
                ("Tus-Resumable", "1.0.0"), ("Upload-Length", "5"),
                ("Upload-Metadata", "alias $(touch /tmp/x); x"),
            ])
        #expect(created["Location"] == "/uploads/foo-2")
        let put = try await uploads.send("PUT", "/uploads/foo", [], [1, 2, 3])
        #expect(put.status == 201)
        #expect(put["Location"] == "/uploads/foo-3")
        #expect(try outside.files == ["victim"])
        #expect(try Files.read(outside.victim) == [7])
        // What is there is not taken away either.
        #expect(try await uploads.send("DELETE", "/uploads/foo").status == 404)
        let names = try FileManager.default.contentsOfDirectory(atPath: uploads.folder)
        #expect(names.count == 5)
    }

    /// The same where the link comes later, in the place of a file of ours.
    @Test func followsNoLinkThatComesLater() async throws {
        let outside = try Outside()
        let uploads = try UploadFixture()
        let tus = ("Tus-Resumable", "1.0.0")
        _ = try await uploads.send("POST", "/uploads/foo", [tus, ("Upload-Length", "3")])
        try FileManager.default.removeItem(atPath: uploads.folder + "/.foo.upload")
        try Planted.stateLink.plant(in: uploads.folder, pointingTo: outside.victim)
        let sent = try await uploads.send(
            "PATCH", "/uploads/foo",
            [tus, ("Upload-Offset", "0"), ("Content-Type", "application/offset+octet-stream")],
            [1, 2, 3])
        #expect(sent.status == 204)
        #expect(try await uploads.send("PUT", "/uploads/foo", [], [4]).status == 201)
        #expect(try Files.read(outside.victim) == [7])
        #expect(try await uploads.send("GET", "/uploads/foo").content == [4])
    }

    @Test(arguments: ["", "/", "//"]) func refusesALink(_ end: String) throws {
        let outside = try Outside()
        let link = outside.folder + "/link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: ".")
        let failure = #expect(throws: Failure.self) { try UploadStore(path: link + end) }
        #expect(failure?.detail.hasSuffix("it is a link") == true)
        #expect(failure?.hint != nil)
    }

    /// What a server that was killed has left half done goes; what is somebody's stays.
    @Test func sweepsAtTheStart() async throws {
        let uploads = try UploadFixture()
        #expect(try await uploads.send("PUT", "/uploads/a", [], [1]).status == 201)
        #expect(try await uploads.send("PUT", "/uploads/b", [], [2]).status == 201)
        try FileManager.default.removeItem(atPath: uploads.folder + "/b")
        for name in [".c.upload.1x.new", "mine", ".mine.upload", "mine.upload.1.new"] {
            try Files.create(uploads.folder + "/" + name, [3])
        }
        try uploads.restart()
        let names = try FileManager.default.contentsOfDirectory(atPath: uploads.folder).sorted()
        #expect(names == [".a.upload", ".mine.upload", "a", "mine", "mine.upload.1.new"])
        #expect(try await uploads.send("GET", "/uploads/a").content == [1])
        #expect(try await uploads.send("PUT", "/uploads/b", [], [2]).status == 201)
    }

    /// What has the name that an upload is to get.
    enum Replaced: CaseIterable, Sendable { case nothing, begun, whole }

    /// A server that is killed behind any step of a renaming has one upload or the other under the
    /// name, and nothing that is nobody's.
    @Test(arguments: Replaced.allCases, 0...3)
    func isKilledWhileReplacing(_ replaced: Replaced, _ steps: Int) async throws {
        let uploads = try UploadFixture()
        switch replaced {
        case .nothing: break
        case .begun:
            _ = try await uploads.send(
                "POST", "/uploads/x", [("Tus-Resumable", "1.0.0"), ("Upload-Length", "5")])
        case .whole: _ = try await uploads.send("PUT", "/uploads/x", [], [1, 2, 3])
        }
        let renaming = try await Self.renaming(uploads)
        try renaming.perform(0..<steps)
        let next = try UploadFixture(copying: uploads.folder)
        let isMoved = steps >= 2
        let x: [UInt8]? = isMoved ? [4, 5, 6] : replaced == .whole ? [1, 2, 3] : nil
        let y: [UInt8]? = isMoved ? nil : [4, 5, 6]
        for (name, content) in [("x", x), ("y", y)] {
            let got = try await next.send("GET", "/uploads/\(name)")
            guard let content else {
                #expect(got.status == (name == "x" && replaced == .begun ? 409 : 404))
                continue
            }
            #expect(got.content == content)
            #expect(got["ETag"] == "\"\(Digests.sha256(content).hex)\"")
        }
        let put = try await next.send("PUT", "/uploads/x", [], [7])
        #expect(put["Location"] == "/uploads/x")
        #expect(try await next.send("GET", "/uploads/x").content == [7])
        try await leavesNothing(next)
    }

    /// The state of what was removed does not become another's.
    @Test func doesNotRenameWhatWasRemoved() async throws {
        let uploads = try UploadFixture()
        _ = try await uploads.send("PUT", "/uploads/x", [], [1, 2, 3])
        try await Self.renaming(uploads).perform(0..<1)
        Files.remove(uploads.folder + "/y")
        try uploads.restart()
        #expect(try await uploads.send("GET", "/uploads/x").content == [1, 2, 3])
        try await leavesNothing(uploads)
    }

    /// Of an upload `y` to the name `x`.
    private static func renaming(_ uploads: UploadFixture) async throws -> UploadRenaming {
        _ = try await uploads.send("PUT", "/uploads/y", [], [4, 5, 6])
        let record = try UploadRecord(Files.read(uploads.folder + "/.y.upload"))
        let upload = StoredUpload(
            name: "y", folder: uploads.folder, record: try #require(record), size: 3)
        return try UploadRenaming(upload, to: "x", in: uploads.folder)
    }

    // MARK: Races

    /// Whoever removes what is just made leaves nothing that nobody owns.
    @Test func removesWhatIsBeingMade() async throws {
        var limits = UploadStore.Limits()
        limits.count = 20
        let uploads = try UploadFixture(limits)
        let server = uploads.server
        for number in 0..<100 {
            let path = "/uploads/a\(number)"
            let status = try await Self.put(server, path, [1, 2], whileRemoving: path)
            #expect([201, 404, 409, 410].contains(status), "\(status)")
        }
        try await leavesNothing(uploads)
    }

    /// The same while an upload gets another's name; what was counted is free again.
    @Test func removesWhatIsBeingNamed() async throws {
        var limits = UploadStore.Limits()
        limits.byteCount = 100_000
        let uploads = try UploadFixture(limits)
        let server = uploads.server
        let content = [UInt8](repeating: 1, count: 20_000)
        for number in 0..<100 {
            let path = "/uploads/b\(number)"
            #expect(try await uploads.send("PUT", path, [], [1]).status == 201)
            let status = try await Self.put(server, path, content, whileRemoving: path + "-2")
            #expect([201, 409, 410].contains(status), "\(status)")
            #expect(try await uploads.send("DELETE", path).status == 204)
        }
        try await leavesNothing(uploads)
        let whole = [UInt8](repeating: 2, count: 100_000)
        #expect(try await uploads.send("PUT", "/uploads/all", [], whole).status == 201)
        #expect(try await uploads.send("PUT", "/uploads/more", [], [1]).status == 413)
    }

    private static func put(
        _ server: ContentServer, _ path: String, _ content: [UInt8], whileRemoving removed: String
    ) async throws -> Int {
        try await withThrowingTaskGroup(of: Int?.self) { group in
            group.addTask { try await server.put(path, content) }
            for _ in 0..<2 {
                group.addTask {
                    while !Task.isCancelled {
                        _ = await server.answer(try request("DELETE", removed), RequestBody([]))
                        await Task.yield()
                    }
                    return nil
                }
            }
            let status = try await group.next()
            group.cancelAll()
            return status.flatMap(\.self) ?? 0
        }
    }

    private func leavesNothing(_ uploads: UploadFixture) async throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: uploads.folder)
        where !name.hasPrefix(".") {
            #expect(try await uploads.send("DELETE", "/uploads/\(name)").status == 204)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: uploads.folder).isEmpty)
    }

    /// While a name is replaced there is always one whole upload under it, with its own tag; or none
    /// that is whole, if somebody removes it meanwhile.
    @Test(arguments: [false, true]) func replacesAtOnce(_ isRemoved: Bool) async throws {
        let uploads = try UploadFixture()
        let server = uploads.server
        #expect(try await server.put("/uploads/foo", [0]) == 201)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for size in [3000, 5000, 7000] {
                group.addTask {
                    for number in 0..<60 {
                        let byte = UInt8(truncatingIfNeeded: number)
                        let content = [UInt8](repeating: byte, count: size)
                        let status = try await server.put("/uploads/foo", content)
                        #expect(status == 201 || isRemoved && [404, 409, 410].contains(status))
                    }
                    return true
                }
            }
            for _ in 0..<2 {
                group.addTask {
                    while !Task.isCancelled { try await Self.expectOwnTag(server, isRemoved) }
                    return false
                }
            }
            if isRemoved {
                group.addTask {
                    while !Task.isCancelled {
                        let removal = try request("DELETE", "/uploads/foo")
                        _ = await server.answer(removal, RequestBody([]))
                        await Task.yield()
                    }
                    return false
                }
            }
            var left = 3
            while left > 0, let isDone = try await group.next() { left -= isDone ? 1 : 0 }
            group.cancelAll()
        }
        try await leavesNothing(uploads)
    }

    private static func expectOwnTag(_ server: ContentServer, _ isRemoved: Bool) async throws {
        let response = await server.answer(try request("GET", "/uploads/foo"), RequestBody([]))
        await Task.yield()
        if isRemoved, [404, 409].contains(response.status) { return }
        #expect(response.status == 200)
        let tag = response.first("ETag")
        let sum = Digests.sha256(try await response.content()).hex
        #expect(tag == "\"\(sum)\"")
    }
}

/// A folder beside the uploads' with a file that is nobody's business.
private final class Outside {
    let folder: String
    var victim: String { folder + "/victim" }

    init() throws {
        folder =
            FileManager.default.temporaryDirectory
            .appendingPathComponent("sallyport-outside-\(UUID().uuidString)").path
        try Files.makeFolder(folder)
        try Files.create(victim, [7])
    }

    deinit {
        do {
            try FileManager.default.removeItem(atPath: folder)
        } catch {
            Issue.record("cannot remove \(folder): \(error)")
        }
    }

    var files: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder) }
    }
}

extension ContentServer {
    /// - Returns: the status.
    fileprivate func put(_ path: String, _ content: [UInt8]) async throws -> Int {
        let source = PiecesSource(content, piece: 1000)
        let body = RequestBody(length: UInt64(content.count), source: source)
        return await answer(try request("PUT", path), body).status
    }
}
