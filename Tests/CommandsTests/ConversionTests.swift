import Base
import Foundation
import Testing

@testable import Commands

/// Exports and imports of files, as they are run.
struct ConversionTests {
    @Test func bringsACaptureThroughHAR() async throws {
        try await inFolder { folder in
            let (first, file, second) = (folder + "/a", folder + "/a.har", folder + "/b")
            try RecordedCaptureTests.record(SampleCapture.source(), to: first)
            let export = await run(
                ["export", "x", "--output", file, "--with-secrets"], capture: first)
            #expect(export.code == 0)
            #expect(export.diagnostics == [])
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions]
            #expect(mode as? Int == 0o600)
            let read = await run(["import", file, "--capture", second, "--json"])
            #expect(read.code == 0)
            #expect(
                read.output.text
                    == #"{"schema":"sallyport.import/1","file":"\#(second)","connections":5,"#
                    + #""exchanges":6,"messages":0,"losses":[]}"# + "\n")
            for command in [
                ["flows", "list", "x", "--json", "--with-secrets"],
                ["flows", "show", "x", "1", "--with-secrets"],
                ["flows", "show", "x", "3", "--with-secrets"],
                ["flows", "show", "x", "2", "--part", "request-body"],
                ["connections", "x", "--json"], ["connections", "x", "2", "--json"],
                ["check", "x", "--json"],
            ] {
                let before = await run(command, capture: first)
                let after = await run(command, capture: second)
                #expect(before.output.text == after.output.text)
                #expect(before.code == after.code)
            }
        }
    }

    @Test func bringsACaptureThroughMitmproxy() async throws {
        try await inFolder { folder in
            let (first, file, second) = (folder + "/a", folder + "/a.mitm", folder + "/b")
            try RecordedCaptureTests.record(SampleCapture.source(), to: first)
            let export = await run(
                ["export", "x", "--format", "mitmproxy", "--output", file, "--with-secrets"],
                capture: first)
            #expect(export.code == 0)
            #expect(export.diagnostics.text.contains("3 times: a connection on which nothing"))
            let read = await run(["import", file, "--capture", second, "--json"])
            #expect(read.code == 0)
            #expect(
                read.output.text
                    == #"{"schema":"sallyport.import/1","file":"\#(second)","connections":3,"#
                    + #""exchanges":6,"messages":0,"losses":[]}"# + "\n")
            for command in [
                ["flows", "show", "x", "1", "--with-secrets"],
                ["flows", "show", "x", "2", "--with-secrets"],
                ["flows", "show", "x", "3", "--with-secrets"],
                ["flows", "show", "x", "4"], ["flows", "show", "x", "5"],
                ["flows", "show", "x", "2", "--part", "request-body"],
            ] {
                let before = await run(command, capture: first)
                let after = await run(command, capture: second)
                #expect(before.output.text == after.output.text)
                #expect(before.code == after.code)
            }
        }
    }

    @Test func writesContentsToANewFolder() async throws {
        try await inFolder { folder in
            let path = folder + "/contents"
            let arguments = [
                "export", "session.sallyport", "--format", "bodies", "--output", path,
            ]
            let result = await run(arguments)
            #expect(result.code == 0)
            let names = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
            #expect(names.contains("index.json"))
            #expect(names.contains("1-response-items.json"))
            let again = await run(arguments)
            #expect(again.code == 4)
            #expect(again.diagnostics.text.contains("it is there"))
        }
    }

    @Test func refusesAFileThatIsThere() async throws {
        try await inFolder { folder in
            let file = folder + "/a.har"
            try Data("mine".utf8).write(to: URL(fileURLWithPath: file))
            let result = await run(["export", "session.sallyport", "--output", file])
            #expect(result.code == 4)
            #expect(result.diagnostics.text.contains("file exists"))
            #expect(try String(contentsOfFile: file, encoding: .utf8) == "mine")
        }
    }

    @Test func keepsWhatComesBeforeAFlaw() async throws {
        try await inFolder { folder in
            let (file, capture) = (folder + "/a.har", folder + "/a")
            let exported = await run([
                "export", "session.sallyport", "--filter", "host=api.example.com",
            ])
            let text = exported.output.text
            let cut = try #require(text.range(of: "/v1/items/7")).lowerBound
            try Data(text[..<cut].utf8).write(to: URL(fileURLWithPath: file))
            let result = await run(["import", file, "--capture", capture])
            #expect(result.code == 4)
            let count = text[..<cut].utf8.count
            #expect(result.diagnostics.text.contains("ends in the middle, at byte \(count)"))
            #expect(result.diagnostics.text.contains("the 2 entries before it were imported"))
            let flows = await run(["flows", "list", "x"], capture: capture)
            #expect(flows.output.text.split(separator: "\n").count == 3)
        }
    }

    struct Flawed: CustomTestStringConvertible, Sendable {
        let name: String
        let content: String
        var options: [String] = []
        let code: Int32
        let told: String
        var leavesCapture = false

        var testDescription: String { name }
    }

    static let flawed = [
        Flawed(name: "nothing", content: "", code: 4, told: "is empty"),
        Flawed(
            name: "a picture", content: "\u{89}PNG", code: 4, told: "is in no format that is known"),
        Flawed(
            name: "a capture", content: "SQLite format 3\0", code: 4,
            told: "hint: name a capture to the other commands as it is"),
        Flawed(name: "other JSON", content: #"{"a":1}"#, code: 4, told: "it has no log"),
        Flawed(
            name: "nothing of use", content: #"{"log":{"version":"1.2","entries":[{}]}}"#, code: 3,
            told: "note: there is nothing in", leavesCapture: true),
        Flawed(
            name: "keys for what has none", content: #"{"log":{"version":"1.2","entries":[]}}"#,
            options: ["--key-log", "keys"], code: 4, told: "hint: leave --key-log out"),
    ]

    @Test(arguments: flawed)
    func leavesNoCaptureOfWhatItCannotRead(_ row: Flawed) async throws {
        try await inFolder { folder in
            let (file, capture) = (folder + "/a.har", folder + "/a")
            try Data(row.content.utf8).write(to: URL(fileURLWithPath: file))
            let result = await run(["import", file, "--capture", capture] + row.options)
            #expect(result.code == row.code)
            #expect(result.diagnostics.text.contains(row.told))
            #expect(FileManager.default.fileExists(atPath: capture) == row.leavesCapture)
        }
    }

    @Test(arguments: ["origin", "client"])
    func refusesToRecordIntoWhatIsReplayed(_ command: String) async throws {
        try await inFolder { folder in
            let capture = folder + "/a"
            try Data("mine".utf8).write(to: URL(fileURLWithPath: capture))
            let result = await run(["replay", command, capture, "--capture", folder + "/./a"])
            #expect(result.code == 2)
            #expect(result.diagnostics.text.contains("is the capture that is replayed"))
        }
    }

    @Test func namesTheWayOfWhatIsNoCapture() async throws {
        try await inFolder { folder in
            let file = folder + "/a.har"
            try Data(#"{"log":{}}"#.utf8).write(to: URL(fileURLWithPath: file))
            let result = await run(["flows", "list", file], capture: file)
            #expect(result.code == 4)
            #expect(result.diagnostics.text.contains("hint: make one of it: sallyport import '"))
        }
    }

    private func run(_ arguments: [String], capture: String? = nil) async -> CommandRun.Result {
        await CommandRun(arguments: arguments, capture: capture).run()
    }

    private func inFolder(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
        try await body(folder.path)
    }
}
