import Base
import ContentServer
import Glibc
import HTTPServer
import Testing

/// A folder of its own for each test, with a secret beside it that must stay secret.
private final class Tree {
    let path: String
    var root: String { path + "/root" }

    init() throws {
        var template = [UInt8]("/tmp/sallyport-folder-XXXXXX".utf8) + [0]
        try unsafe template.withUnsafeMutableBytes { bytes in
            let text = unsafe bytes.bindMemory(to: CChar.self)
            let start = try unsafe #require(text.baseAddress)
            try #require(unsafe mkdtemp(start) != nil)
        }
        path = template.dropLast().text
        try Files.makeFolder(root + "/sub/inner")
        try Files.makeFolder(root + "/site")
        try Files.create(path + "/secret.txt", [UInt8]("secret".utf8))
        try Files.create(root + "/a.txt", [UInt8]("hello".utf8))
        try Files.create(root + "/b c&d.css", [UInt8]("b{}".utf8))
        try Files.create(root + "/empty", [])
        try Files.create(root + "/.hidden", [UInt8]("dot".utf8))
        try Files.create(root + "/site/index.html", [UInt8]("<p>site".utf8))
        try Files.create(root + "/sub/inner/x.bin", [1, 2, 3])
        for (target, link) in [
            ("../secret.txt", "link-out"), ("a.txt", "link-in"), ("..", "up"),
            ("sub", "link-folder"), (path + "/secret.txt", "link-absolute"),
        ] {
            try #require(unsafe symlink(target, root + "/" + link) == 0)
        }
        try #require(unsafe mkfifo(root + "/pipe", 0o600) == 0)
    }

    deinit {
        for name in [
            "link-out", "link-in", "up", "link-folder", "link-absolute", "pipe", "a.txt",
            "b c&d.css", "empty", ".hidden", "site/index.html", "sub/inner/x.bin", "sub/inner",
            "sub", "site", "new.txt", "story.txt", "story.txt.br", "story.txt.gz", "story.txt.zst",
            "",
        ] { Files.remove(root + "/" + name) }
        Files.remove(path + "/secret.txt")
        Files.remove(path)
    }

    func server() throws -> ContentServer {
        var configuration = ContentServerConfiguration()
        configuration.folder = try Folder(path: root)
        return ContentServer(configuration)
    }
}

struct FolderRoutesTests {
    /// Long after the files were made, so that their dates and tags are settled.
    private static let later: Int64 = 4_000_000_000

    @Test(arguments: [
        ("/a.txt", 200, "text/plain; charset=utf-8", "hello"),
        ("/b%20c%26d.css", 200, "text/css; charset=utf-8", "b{}"),
        ("/empty", 200, "application/octet-stream", ""),
        ("/.hidden", 200, "application/octet-stream", "dot"),
        ("/site/", 200, "text/html; charset=utf-8", "<p>site"),
        ("/site/index.html", 200, "text/html; charset=utf-8", "<p>site"),
        ("/sub/inner/x.bin", 200, "application/octet-stream", "\u{1}\u{2}\u{3}"),
        ("/a.txt?x", 200, "text/plain; charset=utf-8", "hello"),
    ])
    func serves(_ path: String, _ status: Int, _ type: String, _ text: String) async throws {
        let tree = try Tree()
        let response = try await tree.server().answer(
            try request("GET", path, at: Self.later), RequestBody([]))
        #expect(response.status == status)
        #expect(response.first("Content-Type") == type)
        #expect(try await response.content(room: 2).text == text)
        #expect(response.first("ETag")?.hasPrefix("\"") == true)
        #expect(response.first("Last-Modified") != nil)
    }

    @Test(arguments: [
        "/../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt", "/%2e%2e%2fsecret.txt",
        "/sub/../../secret.txt", "/sub/../a.txt", "/./a.txt", "/sub/./inner/x.bin", "/..", "/../",
        "/.", "/sub/..", "/a.txt%00", "/a.txt%00.html", "/%00", "/a.txt/", "/a.txt/b", "//a.txt",
        "//", "/sub//inner/x.bin", "/link-out", "/link-in", "/link-absolute", "/up/secret.txt",
        "/up/", "/link-folder/", "/link-folder/inner/x.bin", "/pipe", "/none", "/none/",
        "/sub/none", "/..\\secret.txt", "/%5c..%5csecret.txt", "/etc/passwd",
        "/root/../../etc/passwd", "/%c0%ae%c0%ae/secret.txt", "/%252e%252e/secret.txt",
    ])
    func refuses(_ path: String) async throws {
        let tree = try Tree()
        let response = try await tree.server().answer(
            try request("GET", path, at: Self.later), RequestBody([]))
        #expect(response.status == 404)
        #expect(!(try await response.content().text.contains("secret")))
    }

    @Test func refusesLongNames() async throws {
        let tree = try Tree()
        for count in [255, 256, 5000] {
            let path = "/" + String(repeating: "n", count: count)
            let response = try await tree.server().answer(
                try request("GET", path), RequestBody([]))
            #expect(response.status == 404)
        }
    }

    @Test(arguments: [
        ("/sub", "/sub/"), ("/site?a=b", "/site/?a=b"), ("/sub/inner", "/sub/inner/"),
    ])
    func addsSlashes(_ path: String, _ location: String) async throws {
        let tree = try Tree()
        let response = try await tree.server().answer(try request("GET", path), RequestBody([]))
        #expect(response.status == 301)
        #expect(response.first("Location") == location)
    }

    /// A field's value is ASCII, and so is a URL: bytes that a lenient client sent as they are.
    @Test func addsSlashesToNamesBeyondASCII() async throws {
        let tree = try Tree()
        try Files.makeFolder(tree.root + "/ü")
        defer { Files.remove(tree.root + "/ü") }
        let response = try await tree.server().answer(
            try request("GET", "/ü?ä=%20"), RequestBody([]))
        #expect(response.status == 301)
        #expect(response.first("Location") == "/%C3%BC/?%C3%A4=%20")
    }

    @Test func listsFoldersWithoutLinks() async throws {
        let tree = try Tree()
        let response = try await tree.server().answer(try request("GET", "/"), RequestBody([]))
        let page = try await response.content().text
        #expect(
            page == """
                <!doctype html>
                <meta charset=utf-8>
                <title>/</title>
                <h1>/</h1>
                <ul>
                <li><a href="./.hidden">.hidden</a>
                <li><a href="./a.txt">a.txt</a>
                <li><a href="./b%20c%26d.css">b c&amp;d.css</a>
                <li><a href="./empty">empty</a>
                <li><a href="./site/">site/</a>
                <li><a href="./sub/">sub/</a>
                </ul>

                """)
    }

    @Test func tagsByContent() async throws {
        let tree = try Tree()
        let server = try tree.server()
        let first = await server.answer(
            try request("GET", "/a.txt", at: Self.later), RequestBody([]))
        #expect(first.first("ETag") == "\"2cf24dba5fb0a30e26e83b2ac5b9e29e\"")
        Files.remove(tree.root + "/a.txt")
        try Files.create(tree.root + "/a.txt", [UInt8]("hallo".utf8))
        let second = await server.answer(
            try request("GET", "/a.txt", at: Self.later), RequestBody([]))
        #expect(second.first("ETag") != first.first("ETag"))
        let cached = await server.answer(
            try request("GET", "/a.txt", at: Self.later), RequestBody([]))
        #expect(cached.first("ETag") == second.first("ETag"))
    }

    /// A date that a later change could bear too is not sent; the content's digest always holds.
    @Test func withholdsYoungDates() async throws {
        let tree = try Tree()
        let response = try await tree.server().answer(
            try request("GET", "/a.txt", at: 1_000_000_000), RequestBody([]))
        #expect(response.first("Last-Modified") == nil)
        #expect(response.first("ETag") == "\"2cf24dba5fb0a30e26e83b2ac5b9e29e\"")
    }

    @Test(arguments: [(Int64(4_000_000_000), false), (1_000_000_000, true)])
    func tagsLargeFilesByMetadata(_ now: Int64, _ isWeak: Bool) async throws {
        let tree = try Tree()
        var configuration = ContentServerConfiguration()
        configuration.folder = try Folder(path: tree.root)
        configuration.tagDigestByteLimit = 4
        let response = await ContentServer(configuration).answer(
            try request("GET", "/a.txt", at: now), RequestBody([]))
        let tag = try #require(response.first("ETag"))
        #expect(tag.hasPrefix(isWeak ? "W/\"file-" : "\"file-"))
    }

    @Test func cutsWhenAFileShrinks() async throws {
        let tree = try Tree()
        let response = try await tree.server().answer(
            try request("GET", "/a.txt"), RequestBody([]))
        #expect(response.body.length == 5)
        try #require(unsafe truncate(tree.root + "/a.txt", 2) == 0)
        await #expect(throws: ResponseInterruption.self) { try await response.content() }
    }

    @Test func servesRangesOfFiles() async throws {
        let tree = try Tree()
        let response = try await tree.server().answer(
            try request("GET", "/a.txt", [("Range", "bytes=1-2,-1")]), RequestBody([]))
        #expect(response.status == 206)
        let text = try await response.content(room: 3).text
        #expect(text.contains("Content-Range: bytes 1-2/5\r\n\r\nel\r\n--"))
        #expect(text.contains("Content-Range: bytes 4-4/5\r\n\r\no\r\n--"))
    }

    @Test func namesAMissingFolder() {
        #expect(throws: Failure.self) { try Folder(path: "/none/such") }
    }

    /// A file in a coding beside another is sent for it, with its own tag and parts.
    @Test(
        arguments: [
            ("br", [], 200, "br", "packed with br"),
            ("gzip", [], 200, "gzip", "packed with gz"),
            ("gzip, br, zstd", [], 200, "br", "packed with br"),
            ("br", [("Range", "bytes=-2")], 206, "br", "br"),
            ("identity", [], 200, nil, "plain"),
            ("", [], 200, nil, "plain"),
        ] as [(String, [(String, String)], Int, String?, String)])
    func servesCodedFiles(
        _ accepted: String, _ headers: [(String, String)], _ status: Int, _ coding: String?,
        _ text: String
    ) async throws {
        let tree = try Tree()
        for (ending, text) in [
            ("", "plain"), (".br", "packed with br"), (".gz", "packed with gz"), (".zst", "old"),
        ] { try Files.create(tree.root + "/story.txt" + ending, [UInt8](text.utf8)) }
        // Older than what it should be a copy of.
        var times = [timeval](repeating: timeval(tv_sec: 1_000_000_000, tv_usec: 0), count: 2)
        try #require(unsafe utimes(tree.root + "/story.txt.zst", &times) == 0)
        let server = try tree.server()
        let response = await server.answer(
            try request(
                "GET", "/story.txt", [("Accept-Encoding", accepted)] + headers, at: Self.later),
            RequestBody([]))
        #expect(response.status == status)
        #expect(response.first("Content-Encoding") == coding)
        #expect(try await response.content().text == text)
        #expect(response.first("Content-Type") == "text/plain; charset=utf-8")
        let plain = await server.answer(
            try request("GET", "/story.txt", at: Self.later), RequestBody([]))
        #expect((plain.first("ETag") == response.first("ETag")) == (coding == nil))
    }
}
