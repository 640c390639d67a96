import Foundation
import Testing

extension RealClientTests {
    /// What real clients fetch of `sallyport content`.
    struct ContentClientTests {
        /// An asset whose size is no multiple of anything.
        private static let asset = "/assets/7/3000001"

        @Test(.needs(.curl)) func curlRanges() async throws {
            let folder = try Folder()
            let content = try await ContentProcess(in: folder)
            let url = content.url + Self.asset
            let whole = try await Self.curl([url], in: folder)
            #expect(whole.count == 3_000_001)
            let rows: [(range: String, bytes: Range<Int>)] = [
                ("0-0", 0..<1), ("1000000-1999999", 1_000_000..<2_000_000),
                ("2999999-", 2_999_999..<3_000_001), ("-5", 2_999_996..<3_000_001),
                ("65535-65536", 65_535..<65_537), ("3000000-9000000", 3_000_000..<3_000_001),
            ]
            for row in rows {
                let part = try await Self.curl(["-r", row.range, url], in: folder)
                #expect(part == whole[row.bytes], "\(row.range)")
            }
            let several = try RawResponse(
                try await Self.curl(["-i", "-r", "7-9,-2,100-100", url], in: folder))
            #expect(several.status == 206)
            #expect(
                several.parts?.map(\.content)
                    == [whole[7...9], whole[2_999_999...], whole[100...100]])
            let behind = try await Self.curl(
                ["-o", "/dev/null", "-w", "%{http_code} %header{content-range}"]
                    + ["-r", "3000001-", url], in: folder)
            #expect(String(decoding: behind, as: UTF8.self) == "416 bytes */3000001")
            try await content.end()
        }

        /// An interrupted download goes on, and one that is complete is left as it is.
        @Test(.needs(.curl, .wget), arguments: ["curl", "wget"], [0, 1, 1_500_000, 3_000_001])
        func resumes(_ client: String, from count: Int) async throws {
            let folder = try Folder()
            let content = try await ContentProcess(in: folder)
            let url = content.url + Self.asset
            let whole = try await Self.curl([url], in: folder)
            let path = try folder.write("download", whole.prefix(count))
            if client == "curl" {
                try await Program.run(
                    .curl, ["-sS", "-C", "-", "-D", folder.path("head"), "-o", path, url],
                    in: folder)
                let head = try String(contentsOfFile: folder.path("head"), encoding: .utf8)
                let status = count == 0 ? 200 : count == whole.count ? 416 : 206
                #expect(head.hasPrefix("HTTP/1.1 \(status) "), "\(head)")
            } else {
                try await Program.run(.wget, ["-nv", "-c", "-O", path, url], in: folder)
            }
            #expect(FileManager.default.contents(atPath: path) == whole)
            try await content.end()
        }

        @Test(.needs(.curl)) func compresses() async throws {
            let folder = try Folder()
            let text = (1...5000).map { "line \($0) of a story\n" }.joined()
            try folder.write("www/story.txt", text)
            try folder.write("www/story.bin", text)
            let content = try await ContentProcess(in: folder, root: folder.path("www"))
            let rows: [(name: String, options: [String], coding: String)] = [
                ("story.txt", ["--compressed", "-H", "Accept-Encoding: gzip"], "gzip"),
                ("story.txt", ["--compressed", "-H", "Accept-Encoding: br"], "br"),
                ("story.txt", ["--compressed", "-H", "Accept-Encoding: zstd"], "zstd"),
                ("story.txt", ["--compressed", "-H", "Accept-Encoding: deflate"], "deflate"),
                ("story.txt", ["--compressed", "-H", "Accept-Encoding: gzip;q=0"], ""),
                ("story.txt", [], ""),
                ("story.txt", ["--compressed", "--http1.0", "-H", "Accept-Encoding: br"], "br"),
                ("story.bin", ["--compressed"], ""),
                ("story.txt", ["--compressed", "-r", "0-"], ""),
            ]
            for row in rows {
                let path = folder.path("fetched")
                let facts = try await Self.curl(
                    row.options + ["-o", path, "-w", "%header{content-encoding}|%{size_download}"]
                        + ["\(content.url)/\(row.name)"], in: folder)
                let words = String(decoding: facts, as: UTF8.self)
                    .split(separator: "|", omittingEmptySubsequences: false)
                #expect(String(words[0]) == row.coding, "\(row)")
                #expect(
                    FileManager.default.contents(atPath: path) == Data(text.utf8), "\(row)")
                let size = try #require(Int(words[1]))
                #expect((size < text.utf8.count / 2) == !row.coding.isEmpty, "\(row)")
            }
            try await content.end()
        }

        /// HEAD tells what GET would, and the connection goes on behind it.
        @Test(.needs(.curl)) func headAndKeepAlive() async throws {
            let folder = try Folder()
            let content = try await ContentProcess(in: folder)
            let url = content.url + Self.asset
            let head = try await Self.curl(["-I", url], in: folder)
            let get = try await Self.curl(
                ["-D", "-", "-o", "/dev/null", url], in: folder)
            #expect(Self.withoutDate(head) == Self.withoutDate(get))
            #expect(Self.withoutDate(head).contains("Content-Length: 3000001"))
            let connects = try await Self.curl(
                ["-w", "%{http_code} %{num_connects}\n", "-o", "/dev/null", "-o", "/dev/null"]
                    + ["-o", "/dev/null", url, "\(content.url)/none", "\(content.url)/stream/5"],
                in: folder)
            #expect(String(decoding: connects, as: UTF8.self) == "200 1\n404 0\n200 0\n")
            try await content.end()
        }

        /// A part of the old version must never be joined with one of the new.
        @Test(.needs(.curl)) func ifRangeAfterAChange() async throws {
            let folder = try Folder()
            let path = try folder.write("www/a.txt", "first version")
            let content = try await ContentProcess(in: folder, root: folder.path("www"))
            let url = "\(content.url)/a.txt"
            let first = try RawResponse(try await Self.curl(["-i", url], in: folder))
            let tag = try #require(first["ETag"])
            let resume = ["-i", "-r", "6-", "-H", "If-Range: \(tag)", url]
            let rest = try RawResponse(try await Self.curl(resume, in: folder))
            #expect(rest.status == 206)
            #expect(rest.body == Data("version".utf8))

            // Of the same length, within the same second, first in place and then as a new file.
            for text in ["other versio!", "third version"] {
                if text.hasPrefix("other") {
                    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
                    try file.write(contentsOf: Data(text.utf8))
                    try file.close()
                } else {
                    try folder.write("www/new.txt", text)
                    try #require(unsafe rename(folder.path("www/new.txt"), path) == 0)
                }
                let changed = try RawResponse(try await Self.curl(resume, in: folder))
                #expect(changed.status == 200)
                #expect(changed.body == Data(text.utf8))
                #expect(changed["ETag"] != tag)
                let unmatched = try RawResponse(
                    try await Self.curl(["-i", "-H", "If-Match: \(tag)", url], in: folder))
                #expect(unmatched.status == 412)
            }
            try await content.end()
        }

        /// Dates are whole seconds: only one whose second is over is told, and serves as a strong
        /// validator.
        @Test(.needs(.curl), arguments: [(-3600, 206), (3600, 200)])
        func ifRangeByADate(_ age: TimeInterval, _ status: Int) async throws {
            let folder = try Folder()
            let path = try folder.write("www/a.txt", "first version")
            let date = Date(timeIntervalSinceNow: age)
            try FileManager.default.setAttributes(
                [.modificationDate: date], ofItemAtPath: path)
            let content = try await ContentProcess(in: folder, root: folder.path("www"))
            let rest = try RawResponse(
                try await Self.curl(
                    ["-i", "-r", "6-", "-H", "If-Range: \(Self.text(date))"]
                        + ["\(content.url)/a.txt"],
                    in: folder))
            #expect(rest.status == status)
            #expect(rest["Last-Modified"] == (status == 206 ? Self.text(date) : nil))
            try await content.end()
        }

        private static func text(_ date: Date) -> String {
            let format = DateFormatter()
            format.locale = Locale(identifier: "en_US_POSIX")
            format.timeZone = TimeZone(identifier: "GMT")
            format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
            return format.string(from: date)
        }

        private static func curl(_ arguments: [String], in folder: Folder) async throws -> Data {
            try await Program.run(.curl, ["-sS"] + arguments, in: folder)
        }

        private static func withoutDate(_ head: Data) -> String {
            String(decoding: head, as: UTF8.self).components(separatedBy: "\r\n")
                .filter { !$0.hasPrefix("Date: ") }.joined(separator: "\n")
        }
    }
}
