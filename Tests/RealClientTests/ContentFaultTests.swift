import Foundation
import Testing

extension RealClientTests {
    /// Real clients meet faults of `sallyport content`, and its journal tells what they made of them.
    struct ContentFaultTests {
        private static let scenario = """
            [rule]
            name = first download
            path = /assets/*
            range = no
            turn = first
            fault = cut:400000:rst

            """

        /// A download breaks off and goes on; with If-Range the journal finds nothing to object to.
        @Test(
            .needs(.curl),
            arguments: [
                (nil, 1, "without If-Range"), ("\"generated-1-7-1048576\"", 0, "passed  if-range"),
                ("\"other\"", 1, "with If-Range \"other\""),
            ])
        func judgesResumptions(_ tag: String?, _ code: Int32, _ words: String) async throws {
            let folder = try Folder()
            let path = try folder.write("s.scenario", Self.scenario)
            let content = try await ContentProcess(
                in: folder, options: ["--scenario", path, "--seed", "7"])
            let download = folder.path("download")
            let url = "\(content.url)/assets/7/1m"
            let first = try Program(.curl, ["-sS", "-o", download, url], in: folder)
            #expect(try await first.end() == 56)
            let condition = tag.map { ["-H", "If-Range: \($0)"] } ?? []
            let second = try Program(
                .curl, ["-sS", "-C", "-", "-o", download] + condition + [url], in: folder)
            // A tag of another version brings the whole, which curl refuses to go on with.
            #expect(try await second.end() == (tag == "\"other\"" ? 33 : 0))
            let (judged, said) = try await Self.journal(
                content, ["--path", "/assets/*", "--assert", "if-range"], in: folder)
            #expect(judged == code)
            #expect(said.contains(words), "\(said)")
            #expect(try await Self.journal(content, ["--reset"], in: folder).code == 0)
            #expect(
                try await Self.journal(content, ["--assert", "whole"], in: folder).code == 3)
            try await content.end()
        }

        /// What curl says of faults in a URL, over both versions.
        @Test(
            .needs(.curl),
            arguments: [
                ("cut:1000", 18, 18), ("length:%2B5", 18, 92), ("no-last-chunk", 18, 92),
                ("rst-stream:1000:8", 56, 92), ("goaway:1000", 0, 0), ("redirect:3", 0, 0),
                ("drip:20k:5ms%7Cjitter:5ms", 0, 0), ("withhold:0:10ms", 0, 0),
            ])
        func curlNotices(_ faults: String, _ http1: Int32, _ http2: Int32) async throws {
            let folder = try Folder()
            let content = try await ContentProcess(in: folder)
            for (option, expected) in [("--http1.1", http1), ("--http2", http2)] {
                let program = try Program(
                    .curl,
                    [
                        "-sS", "-L", option, "--cacert", content.authorityPath, "-o", "/dev/null",
                        "\(content.secureURL)/faults/\(faults)/assets/1/100k",
                    ], in: folder)
                #expect(try await program.end() == expected, "\(program.story)")
            }
            try await content.end()
        }

        private static func journal(
            _ content: ContentProcess, _ options: [String], in folder: Folder
        ) async throws -> (code: Int32, said: String) {
            let program = try Program(
                .sallyport,
                ["content", "journal", "--server", "127.0.0.1:\(content.port)"] + options,
                in: folder)
            let code = try await program.end()
            return (code, String(decoding: program.output, as: UTF8.self))
        }
    }
}
