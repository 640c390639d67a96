import Testing

@testable import Commands

struct VersionTests {
    /// The first line is the tool's; the second names each library with a version.
    @Test func tellsItsLibraries() async throws {
        var run = CommandRun()
        run.arguments = ["--version"]
        let result = await run.run()
        let lines = String(decoding: result.output, as: UTF8.self).split(separator: "\n")
        #expect(lines.first == "sallyport \(CommandLineTool.version)")
        let libraries = try #require(lines.last).split(separator: ", ")
        #expect(
            libraries.compactMap { $0.split(separator: " ").first } == [
                "OpenSSL", "nghttp2", "zlib", "brotli", "zstd", "SQLite", "libpsl",
            ])
        for library in libraries {
            #expect(library.wholeMatch(of: /[A-Za-z0-9]+ \d+\.\d+[\w.-]*/) != nil, "\(library)")
        }
        #expect(result.code == 0 && lines.count == 2)
    }
}
