import Base
import Findings
import Foundation
import OutputCollector
import Presentation
import Terminal
import Testing
import Traffic

@testable import Commands

/// What the tool writes unless it is told to write secrets: listings, exports, comparisons, the log.
struct SecretListingTests {
    private static let exchanges = PlantedCapture.source().exchangeRecords.map(\.id)
    private static let dialogues = PlantedCapture.source().connectionRecords.map(\.id)

    /// What is told of the whole capture.
    private static let listings: [[String]] = [
        ["flows", "list", "x"], ["flows", "list", "x", "--json"],
        ["flows", "list", "x", "--transfers"], ["flows", "list", "x", "--transfers", "--json"],
        ["connections", "x"], ["connections", "x", "--json"],
        ["check", "x"], ["check", "x", "--verbose"], ["check", "x", "--json"],
        ["replay", "diff", "x", "other"], ["replay", "diff", "x", "other", "--json"],
        ["replay", "diff", "x", "other", "--format", "html"],
        ["replay", "learn", "x", "other"], ["replay", "client", "x", "--list-substitutions"],
        ["replay", "client", "x", "--list-substitutions", "--json"],
        ["export", "x"], ["export", "x", "--format", "pcapng"],
        ["export", "x", "--format", "mitmproxy"],
    ]

    private static let commands = listings + exchanges.flatMap(shows) + dialogues.flatMap(says)

    private static func shows(_ exchange: Int64) -> [[String]] {
        let options: [[String]] = [
            [], ["--part", "request-head"], ["--part", "response-head"], ["--as", "curl"],
            ["--as", "httpie"], ["--as", "fetch"], ["--as", "urlsession"],
        ]
        return options.map { ["flows", "show", "x", "\(exchange)"] + $0 }
    }

    private static func says(_ connection: Int64) -> [[String]] {
        let id = "\(connection)"
        return [
            ["messages", "x", id], ["messages", "x", id, "--full"],
            ["messages", "x", id, "--json"], ["connections", "x", id],
            ["connections", "x", id, "--json"],
        ]
    }

    @Test(arguments: commands)
    func showsNoSecret(_ command: [String]) async {
        let names = ["x": "planted.sallyport", "other": "session.sallyport"]
        let result = await CommandRun(arguments: command.map { names[$0] ?? $0 }).run()
        #expect(result.code != 2 && result.code != 4, "\(result.diagnostics.text)")
        Self.expect(noneIn: result.output + result.diagnostics, command.joined(separator: " "))
    }

    @Test(arguments: ReportFormat.allCases)
    func reportsNoSecret(_ format: ReportFormat) async throws {
        try await inFolder { folder in
            let path = folder + "/report"
            let isOfGitHub = format == .annotations || format == .summary
            let options = isOfGitHub ? ["--github"] : ["--\(format.rawValue)", path]
            var run = CommandRun(arguments: ["check", "planted.sallyport"] + options)
            run.variables = ["GITHUB_STEP_SUMMARY": path]
            let result = await run.run()
            #expect(result.code == (format == .baseline ? 3 : 1))
            let written = try Files.read(path, byteLimit: 64 << 20)
            Self.expect(noneIn: written + result.diagnostics, options[0])
        }
    }

    @Test func exportsNoSecretAsFiles() async throws {
        try await inFolder { folder in
            let path = folder + "/contents"
            let run = CommandRun(
                arguments: [
                    "export", "planted.sallyport", "--format", "bodies", "--output", path,
                ])
            #expect(await run.run().code == 0)
            for name in try FileManager.default.contentsOfDirectory(atPath: path) {
                let content = try Files.read(path + "/" + name, byteLimit: 64 << 20)
                Self.expect(noneIn: content, name)
            }
        }
    }

    @Test func logsNoSecret() {
        let source = PlantedCapture.source()
        let log = LiveLog(for: Collector().stream(), .plain)
        let lines =
            source.exchangeRecords.map { log.line(for: $0) }
            + source.connectionRecords.compactMap { log.line(for: $0) }
        Self.expect(noneIn: Array(lines.joined(separator: "\n").utf8), "the log")
    }

    /// The search itself finds what is shown where secrets are asked for.
    @Test func findsASecretThatIsShown() {
        for form in Self.forms(of: PlantedCapture.password) {
            #expect(Self.found(in: Array("a \(form) b".utf8)) != [])
        }
    }

    // MARK: The search

    private static func expect(noneIn bytes: [UInt8], _ what: String) {
        let found = found(in: bytes)
        #expect(found == [], "\(what)")
    }

    /// By their first four bytes.
    private static let allForms = Dictionary(
        grouping: PlantedCapture.secrets.flatMap(forms).map { Array($0.utf8) }
    ) { $0.prefix(4).reduce(0) { $0 << 8 | UInt32($1) } }

    private static func found(in bytes: [UInt8]) -> [String] {
        var found: [String] = []
        var last: UInt32 = 0
        for (index, byte) in bytes.enumerated() {
            last = last << 8 | UInt32(byte)
            guard index > 2, let forms = allForms[last] else { continue }
            let rest = bytes[(index - 3)...]
            for form in forms where rest.starts(with: form) {
                found.append(bytes[max(0, index - 60)..<min(bytes.count, index + 40)].text)
            }
        }
        return found
    }

    /// As itself, percent-encoded, in Base64 at every alignment, in hexadecimal digits, as escapes,
    /// reversed, and in halves.
    private static func forms(of secret: String) -> [String] {
        let bytes = Array(secret.utf8)
        var forms = [
            secret, bytes.map { "%" + [$0].hex }.joined(), bytes.hex, bytes.hex.uppercased(),
            bytes.map { "\\u00" + [$0].hex }.joined(), String(secret.reversed()),
        ]
        for offset in 0..<3 {
            let text = Base64.encode([UInt8](repeating: 0, count: offset) + bytes)
            forms.append(
                String(
                    text.dropFirst((offset * 8 + 5) / 6).prefix((offset + bytes.count) * 8 / 6 - 4))
            )
        }
        let half = secret.count / 2
        if half >= 6 { forms += [String(secret.prefix(half)), String(secret.suffix(half))] }
        return forms
    }

    private func inFolder(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
        try await body(folder.path)
    }
}
