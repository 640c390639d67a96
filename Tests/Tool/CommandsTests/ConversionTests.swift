import Base
import CaptureStore
import Foundation
import HTTPCodecs
import Testing
import Traffic

@testable import Commands
@testable import Formats
@testable import Runs

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

    /// No report of a file that breaks off says that all is well.
    @Test func reportsNoCleanVerdictOfAPartOfAFile() async throws {
        try await inFolder { folder in
            let file = folder + "/a.har"
            let entry =
                #"{"startedDateTime":"2026-03-09T07:05:01.250Z","time":5,"request":{"method":"GET","#
                + #""url":"https://shop.example/a","httpVersion":"HTTP/1.1","headers":[],"#
                + #""queryString":[],"cookies":[],"headersSize":-1,"bodySize":0},"response":{"#
                + #""status":200,"statusText":"OK","httpVersion":"HTTP/1.1","headers":[],"#
                + #""cookies":[],"content":{"size":0,"mimeType":""},"redirectURL":"","#
                + #""headersSize":-1,"bodySize":0},"cache":{},"timings":{"send":1,"wait":1,"#
                + #""receive":1}}"#
            let text = #"{"log":{"version":"1.2","creator":{"name":"x","version":"1"},"entries":["#
            try Data((text + entry + "," + entry.dropLast(80)).utf8).write(
                to: URL(fileURLWithPath: file))
            let names = ["junit", "sarif", "html", "output"].map { ($0, "\(folder)/\($0)") }
            let run = await run(
                ["check", file] + names.flatMap { ["--\($0.0)", $0.1] }, capture: file)
            #expect(run.code == 4)
            let said = ["unfinished", "to its end"]
            for (name, path) in names {
                let report = try String(contentsOfFile: path, encoding: .utf8)
                #expect(said.contains { report.contains($0) }, "\(name)")
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
            #expect(result.diagnostics.text.contains("hint: make one of it: sallyport import "))
        }
    }

    // MARK: Contents that unpack to very much

    /// A capture with a response of a few hundred bytes that would be 80 MiB.
    private func recordBomb(to path: String) throws {
        let encoder = ContentEncoder(.gzip)
        let zeros = [UInt8](repeating: 0, count: 1 << 20)
        let packed = (0..<80).flatMap { _ in encoder.encode(zeros.span) } + encoder.finish()
        var exchange = ExchangeRecord(
            id: 1, connection: 0, startedAt: SampleCapture.start, scheme: .http, authority: "a.test"
        )
        exchange.requestHead = [UInt8]("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n".utf8)
        exchange.responseHead = [UInt8](
            "HTTP/1.1 200 OK\r\nContent-Encoding: gzip, gzip\r\n\r\n".utf8)
        exchange.status = 200
        exchange.responseBody.bytes = ContentEncoder.encode(packed)
        exchange.responseBody.size = Int64(exchange.responseBody.bytes.count)
        let writer = try CaptureWriter(path: path, configuration: CaptureConfiguration { $0 })
        writer.submit([.exchange(exchange)])
        try writer.close()
    }

    @Test(arguments: ["har", "bodies", "mitmproxy"])
    func leavesPackedWhatWouldGrowTooMuch(format: String) async throws {
        try await inFolder { folder in
            let (first, out) = (folder + "/a", folder + "/out")
            try recordBomb(to: first)
            let export = await run(
                ["export", "x", "--format", format, "--output", out, "--with-secrets"],
                capture: first)
            #expect(export.code == 0)
            let names =
                format == "bodies" ? try FileManager.default.contentsOfDirectory(atPath: out) : []
            let content = names.first { $0 != "index.json" }.map { "\(out)/\($0)" } ?? out
            let size = try FileManager.default.attributesOfItem(atPath: content)[.size] as? Int
            #expect(try #require(size) < 10_000)
            guard format != "mitmproxy" else { return }
            #expect(export.diagnostics.text.contains("once: a content stays in its"))
            guard format == "har" else { return }
            // It comes back as it was.
            let second = folder + "/b"
            #expect(await run(["import", out, "--capture", second]).code == 0)
            let part = ["flows", "show", "x", "1", "--part", "response-body"]
            let (before, after) = (
                await run(part, capture: first), await run(part, capture: second)
            )
            #expect(before.output == after.output)
            #expect(!before.output.isEmpty)
        }
    }

    /// A file of some 80 KB that would be 80 MiB.
    @Test func importsNothingOfAPackedFileOfZeros() async throws {
        try await inFolder { folder in
            let (file, capture) = (folder + "/a.har.gz", folder + "/a")
            let encoder = ContentEncoder(.gzip)
            let zeros = [UInt8](repeating: 0, count: 1 << 20)
            let packed = (0..<80).flatMap { _ in encoder.encode(zeros.span) } + encoder.finish()
            try Data(packed).write(to: URL(fileURLWithPath: file))
            let result = await run(["import", file, "--capture", capture])
            #expect(result.code == 4)
            #expect(
                result.diagnostics.text
                    == "sallyport: error: the file is no whole HAR: unexpected byte, at byte 0\n")
            #expect(!FileManager.default.fileExists(atPath: capture))
        }
    }

    @Test func stopsInsideOfAContent() async throws {
        try await inFolder { folder in
            let path = folder + "/a"
            try recordBomb(to: path)
            for limit in [0, 1, 100] {
                let pieces = Countdown(from: limit)
                var options = ExportOptions()
                options.checkpoint = { try pieces.step() }
                let capture = try CaptureReader(path: path)
                #expect(throws: CancellationError.self) {
                    try HARExporter().export(capture, options) { _ in }
                }
                #expect(pieces.left == -1)
            }
            for limit in [0, 1, 5] {
                let visits = Countdown(from: limit)
                let source = InterruptibleSource(SampleContents.source()) { try visits.step() }
                #expect(throws: CancellationError.self) {
                    try HARExporter().export(source, ExportOptions()) { _ in }
                }
                #expect(visits.left == -1)
            }
        }
    }

    /// A capture with a content that a format reads in many parts, and twice if it has to look.
    private func recordLong(to path: String, size: Int) throws {
        var exchange = ExchangeRecord(
            id: 1, connection: 1, startedAt: SampleCapture.start, scheme: .http, authority: "a.test"
        )
        exchange.requestHead = [UInt8]("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n".utf8)
        exchange.responseHead = [UInt8](
            "HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n".utf8)
        exchange.status = 200
        exchange.durationMicroseconds = 1
        exchange.responseBody.size = Int64(size)
        var connection = ConnectionRecord(
            id: 1, openedAt: SampleCapture.start, client: "127.0.0.1:1", listener: "127.0.0.1:2",
            mode: .explicit)
        connection.exchangeCount = 1
        connection.outcome = .completed
        let step = 256 << 10
        exchange.responseBody.chunkCount = size / step
        let writer = try CaptureWriter(
            path: path, configuration: CaptureConfiguration { Array($0.prefix(4)) })
        writer.submit([.connection(connection)])
        for index in 0..<size / step {
            let chunk = [UInt8](repeating: UInt8(index), count: step)
            writer.submit([
                .bodyChunk(exchange: 1, direction: .response, sequence: index, bytes: chunk)
            ])
        }
        writer.submit([.exchange(exchange)])
        try writer.close()
    }

    @Test(arguments: ExportRun.Format.allCases)
    func leavesNothingOfAnExportThatIsStopped(_ format: ExportRun.Format) async throws {
        try await inFolder { folder in
            try recordLong(to: folder + "/a", size: 9 << 20)
            let before = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
            for limit in [1, 5, 37] {
                let visits = Countdown(from: limit)
                let capture = try CaptureReader(path: folder + "/a")
                let source = InterruptibleSource(capture) { try visits.step() }
                var options = ExportOptions()
                options.withSecrets = true
                #expect(throws: CancellationError.self) {
                    _ = try ExportRun(format, to: folder + "/out").write(source, options) { _ in }
                }
            }
            let after = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
            #expect(after.filter { !$0.hasPrefix("a-") } == before.filter { !$0.hasPrefix("a-") })
        }
    }

    /// One content may take minutes.
    @Test(arguments: ExportRun.Format.allCases, [true, false])
    func tellsHowFarAContentHasCome(_ format: ExportRun.Format, withSecrets: Bool) async throws {
        try await inFolder { folder in
            try recordLong(to: folder + "/a", size: 9 << 20)
            let capture = try CaptureReader(path: folder + "/a")
            var told: [Int64] = []
            let progress = try ExportProgress(of: capture, as: format, withSecrets: withSecrets) {
                done, total in
                #expect(done <= total)
                told.append(done)
            }
            let source = InterruptibleSource(capture, progress: progress) {}
            var options = ExportOptions()
            options.withSecrets = withSecrets
            options.progress = { try progress.pass($0) }
            _ = try ExportRun(format, to: folder + "/out").write(source, options) { _ in }
            #expect(told == told.sorted())
            let hasContents = format != .pcapng || withSecrets
            #expect(Set(told).count > (hasContents ? 30 : 0))
            #expect(told.last ?? 0 > (hasContents ? 8 << 20 : 0))
        }
    }

    /// Throws when it is asked once more than it was told.
    private final class Countdown {
        private(set) var left: Int

        init(from count: Int) { left = count }

        func step() throws {
            left -= 1
            if left < 0 { throw CancellationError() }
        }
    }

    /// A cookie that lives until before or behind all times.
    @Test(arguments: [
        "-9223372036854775808", "9223372036854775807", "-100000000000", "100000000000", "1",
    ])
    func exportsAnyCookie(age: String) async throws {
        try await inFolder { folder in
            let path = folder + "/a"
            for start in [Int64.min, 0, .max] {
                var exchange = ExchangeRecord(
                    id: 1, connection: 0, startedAt: Timestamp(microseconds: start), scheme: .http,
                    authority: "a.test")
                exchange.requestHead = [UInt8]("GET / HTTP/1.1\r\n\r\n".utf8)
                exchange.responseHead = [UInt8](
                    "HTTP/1.1 200 OK\r\nSet-Cookie: a=b; Max-Age=\(age)\r\n\r\n".utf8)
                exchange.status = 200
                let writer = try CaptureWriter(
                    path: path, configuration: CaptureConfiguration { $0 })
                writer.submit([.exchange(exchange)])
                try writer.close()
                let result = await run(["export", "x", "--format", "har"], capture: path)
                #expect(result.code == 0)
                #expect(result.output.text.contains(#""name":"a""#))
            }
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
