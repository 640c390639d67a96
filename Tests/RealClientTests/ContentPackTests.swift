import Foundation
import Testing

extension RealClientTests {
    /// Packs of `sallyport content`, fetched as an app fetches them, and what `check` says of that.
    struct ContentPackTests {
        @Test(
            .needs(.curl),
            arguments: [
                ("", []), ("duplicates", ["ECON-DUP"]), ("text", ["ECON-COMPRESS"]),
                ("media", ["ECON-IMAGE"]), ("cache", ["ECON-CACHE"]),
                (
                    "duplicates,text,media,cache",
                    ["ECON-CACHE", "ECON-COMPRESS", "ECON-DUP", "ECON-IMAGE"]
                ),
            ])
        func showsItsDefects(_ defects: String, _ rules: [String]) async throws {
            let folder = try Folder()
            let content = try await ContentProcess(in: folder)
            let query = defects.isEmpty ? "" : "?defects=\(defects)"
            let script = """
                curl -sSf --compressed -o manifest \(content.secureURL)/packs/3/manifest.json\(query)
                sed -n 's|.*"url": "\\(.*\\)".*|url = "\(content.secureURL)\\1"\\noutput = "got"|p' \\
                    manifest >list
                curl -sSf --compressed -K list
                """
            let run = try Gate(
                ["sh", "-ec", script], in: folder, ["--origin-ca", content.authorityPath])
            #expect([0, 1].contains(try await run.program.end()), "\(run.program.story)")
            try await content.end()
            let check = try Program(
                .sallyport, ["check", "--json", folder.path("run.sallyport")], in: folder)
            _ = try await check.end()
            let text = String(decoding: check.output, as: UTF8.self)
            #expect(text.contains("sallyport.findings/"), "\(check.story)")
            for rule in ["ECON-CACHE", "ECON-COMPRESS", "ECON-DUP", "ECON-IMAGE"] {
                #expect(
                    text.contains("\"\(rule)\"") == rules.contains(rule), "\(rule): \(text)")
            }
        }

        /// What the manifest says of a large asset is what a client gets, from a server that holds
        /// none of it.
        @Test(.needs(.bash, .curl, .memoryFigures)) func digestsWhatItSends() async throws {
            let folder = try Folder()
            let content = try await ContentProcess(in: folder)
            let script = """
                curl -sSf '\(content.url)/packs/5/manifest.json?large=300m' | tr -d '\\n' |
                    sed 's|.*"sha256": "\\([0-9a-f]*\\)".*|\\1|' >said
                curl -sSf '\(content.url)/packs/5/extra/film.mp4?large=300m' | sha256sum >got
                """
            try await Program.run(.bash, ["-ec", script], in: folder)
            let said = try String(contentsOfFile: folder.path("said"), encoding: .utf8)
            let got = try String(contentsOfFile: folder.path("got"), encoding: .utf8)
            #expect(said.count == 64 && got.hasPrefix(said), "\(said) \(got)")
            #expect(try content.memory.peak < 60 << 20)
            try await content.end()
        }
    }
}
