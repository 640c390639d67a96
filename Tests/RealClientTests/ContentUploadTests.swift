import Foundation
import Testing

extension RealClientTests {
    /// What real clients upload to `sallyport content`, and how they go on.
    struct ContentUploadTests {
        private static let size = 10_000_001

        private static func content() -> Data {
            var word: UInt64 = 88_172_645_463_325_252
            return Data(
                (0..<size).map { _ in
                    word ^= word << 13
                    word ^= word >> 7
                    word ^= word << 17
                    return UInt8(truncatingIfNeeded: word)
                })
        }

        private static let cutOnce = """
            [rule]
            name = breaks off
            path = /uploads/*
            method = PATCH
            turn = nth 2
            fault = upload-cut:4700000:rst

            """

        /// The connection breaks in the second chunk; the client asks and goes on from there, or,
        /// where the chunk has a checksum, from its beginning.
        @Test(.needs(.tus), arguments: ["yes", "no"])
        func tusGoesOn(_ checksum: String) async throws {
            let folder = try Folder()
            let path = try folder.write("movie.bin", Self.content())
            let scenario = try folder.write("s.scenario", Self.cutOnce)
            let content = try await ContentProcess(
                in: folder, options: ["--uploads", folder.path("kept"), "--scenario", scenario])
            let script = Peer.script("tus-upload.py")
            try await Program.run(
                .python, [script, "\(content.url)/uploads", path, "4000000", checksum], in: folder)
            #expect(
                FileManager.default.contents(atPath: folder.path("kept/movie.bin"))
                    == Self.content())
            let program = try Program(
                .sallyport,
                ["content", "journal", "--server", content.url.replacing("http://", with: "")],
                in: folder)
            #expect(try await program.end() == 0)
            let journal = String(decoding: program.output, as: UTF8.self)
            #expect(journal.contains("from 4000000  700000 bytes received"), "\(journal)")
            let next = checksum == "yes" ? "from 4000000  4000000 bytes" : "from 4700000  "
            #expect(journal.contains(next), "\(journal)")
            try await content.end()
        }

        /// The server is killed in the middle: what it told is there.
        @Test(.needs(.curl)) func goesOnAfterAKill() async throws {
            let folder = try Folder()
            let whole = Self.content()
            let path = try folder.write("movie.bin", whole)
            let options = ["--uploads", folder.path("kept")]
            let first = try await ContentProcess(in: folder, options: options)
            let head = folder.path("head")
            let upload = try Program(
                .curl,
                ["-sS", "-D", head, "-H", "Upload-Complete: ?1", "-H", "Expect:"]
                    + ["--limit-rate", "4M", "-T", path, "\(first.url)/uploads/"], in: folder)
            _ = try await eventually("an offset") { () -> Bool? in
                guard let told = FileManager.default.contents(atPath: head) else { return nil }
                let text = String(decoding: told, as: UTF8.self)
                return text.contains("Upload-Offset: 4194304") ? true : nil
            }
            first.kill()
            _ = try await upload.end()
            let second = try await ContentProcess(in: folder, options: options)
            let url = "\(second.url)/uploads/movie.bin"
            let asked = try Program(
                .curl, ["-sS", "-I", "-o", "/dev/null", "-w", "%header{upload-offset}", url],
                in: folder)
            #expect(try await asked.end() == 0)
            let offset = try #require(Int(String(decoding: asked.output, as: UTF8.self)))
            #expect(offset >= 4_194_304 && offset < Self.size)
            let rest = try folder.write("rest", whole.dropFirst(offset))
            let appended = try Program(
                .curl,
                ["-sS", "-X", "PATCH", "-H", "Upload-Complete: ?1"]
                    + ["-H", "Upload-Offset: \(offset)"]
                    + ["-H", "Content-Type: application/partial-upload"]
                    + ["-w", "%{http_code}", "-o", "/dev/null", "-T", rest, url], in: folder)
            #expect(try await appended.end() == 0)
            #expect(String(decoding: appended.output, as: UTF8.self) == "200")
            #expect(FileManager.default.contents(atPath: folder.path("kept/movie.bin")) == whole)
            try await second.end()
        }

        /// By PUT and by a form, over both versions; a temporary folder goes with the server.
        @Test(.needs(.curl), arguments: ["--http1.1", "--http2-prior-knowledge"])
        func curlUploads(_ version: String) async throws {
            let folder = try Folder()
            let whole = Self.content()
            let path = try folder.write("movie.bin", whole)
            let content = try await ContentProcess(in: folder)
            for options in [
                ["-T", path, "\(content.url)/uploads/put.bin"],
                ["-F", "file=@\(path);filename=form.bin", "\(content.url)/uploads"],
                ["-H", "Upload-Complete: ?1", "-T", path, "\(content.url)/uploads/draft.bin"],
            ] {
                let program = try Program(
                    .curl, ["-sS", version, "-w", "%{http_code}", "-o", "/dev/null"] + options,
                    in: folder)
                #expect(try await program.end() == 0, "\(program.story)")
                #expect(String(decoding: program.output, as: UTF8.self) == "201")
            }
            for name in ["put", "form", "draft"] {
                let back = folder.path("back")
                try await Program.run(
                    .curl, ["-sS", version, "-o", back, "\(content.url)/uploads/\(name).bin"],
                    in: folder)
                #expect(FileManager.default.contents(atPath: back) == whole)
            }
            try await content.end()
        }
    }
}
