import Base
import CaptureStore
import Foundation
import TLS
import Testing
import Traffic

@testable import Commands

/// What was recorded in part: contents whose head never came, and contents that were cut.
struct PartialRecordTests {
    /// As a full disk leaves it: parts of a response that came, and nothing of its exchange.
    private static let withoutHead: [TrafficEvent] = [
        .bodyChunk(exchange: 1, direction: .response, sequence: 0, bytes: Array("secret ".utf8)),
        .bodyChunk(exchange: 1, direction: .response, sequence: 1, bytes: Array("words".utf8)),
    ]

    @Test func listsWhatHasNoHeadAsThat() async throws {
        let table = try await run(["flows", "list", "x"], on: Self.withoutHead)
        #expect(table.code == 0)
        #expect(table.output.text.contains("head-missing"))
        #expect(!table.output.text.contains("http"))
        let line = try await run(["flows", "list", "x", "--json"], on: Self.withoutHead)
        for member in [
            #""scheme":null"#, #""url":null"#, #""protocol":null"#, #""responseBytes":12"#,
            #""responseCut":true"#, #""error":"head-missing""#,
        ] {
            #expect(line.output.text.contains(member), "\(member)")
        }
        for filter in ["scheme=http", "scheme=https"] {
            let none = try await run(
                ["flows", "list", "x", "--filter", filter, "--json"], on: Self.withoutHead)
            #expect(none.output.isEmpty)
        }
    }

    @Test func doesNotJudgeWhatHasNoHead() async throws {
        let check = try await run(["check", "x", "--json"], on: Self.withoutHead)
        #expect(check.output.text.contains(#""findings":[]"#))
        #expect(check.output.text.contains(#""missingHeads":1"#))
        #expect(check.output.text.contains(#""clearExchanges":0"#))
        let text = try await run(["check", "x"], on: Self.withoutHead)
        #expect(text.output.text.contains("1 without a recorded head and not judged"))
        let filtered = try await run(
            ["flows", "list", "x", "--filter", "severity>=info", "--json"], on: Self.withoutHead)
        #expect(filtered.output.isEmpty)
    }

    @Test func showsTheContentOfWhatHasNoHead() async throws {
        let all = try await run(["flows", "show", "x", "1"], on: Self.withoutHead)
        #expect(
            all.output.text
                == "== no head: only a part of its content was recorded, and nothing else\n"
                + "== response content: 12 of 12 bytes recorded, shown as recorded\nsecret words\n")
        let part = try await run(
            ["flows", "show", "x", "1", "--part", "response-body"], on: Self.withoutHead)
        #expect(part.output.text == "secret words")
        #expect(part.code == 3)
    }

    @Test(arguments: ["har", "mitmproxy", "pcapng"])
    func exportsWhatHasNoHead(format: String) async throws {
        let export = try await run(["export", "x", "--format", format], on: Self.withoutHead)
        #expect(export.code == 0)
    }

    /// Two megabytes and a half, of which one and a half were recorded.
    private static let cut: [TrafficEvent] = {
        var exchange = ExchangeRecord(
            id: 1, connection: 0, startedAt: SampleCapture.start, scheme: .http, authority: "a.test"
        )
        exchange.requestHead = [UInt8]("GET / HTTP/1.1\r\n\r\n".utf8)
        exchange.responseHead = [UInt8]("HTTP/1.1 200 OK\r\n\r\n".utf8)
        exchange.status = 200
        exchange.durationMicroseconds = 1
        exchange.responseBody.bytes = [UInt8](repeating: UInt8(ascii: "a"), count: 3 << 19)
        exchange.responseBody.size = 5 << 19
        exchange.responseBody.isTruncated = true
        return [.exchange(exchange)]
    }()

    @Test func tellsHowMuchOfACutContentThereIs() async throws {
        let all = try await run(["flows", "show", "x", "1"], on: Self.cut)
        #expect(
            all.output.text.contains(
                "== response content: 1572864 of 2621440 bytes recorded, the first 1048576 shown,"))
        #expect(
            all.output.text.contains(
                "== cut: 1572864 bytes of the content were recorded; --part shows them"))
        let part = try await run(
            ["flows", "show", "x", "1", "--part", "response-body"], on: Self.cut)
        #expect(part.output.count == 3 << 19)
        #expect(part.code == 3)
    }

    @Test func marksCutContentsInLists() async throws {
        let table = try await run(["flows", "list", "x"], on: Self.cut)
        #expect(table.output.text.contains("response cut"))
        let line = try await run(["flows", "list", "x", "--json"], on: Self.cut)
        #expect(line.output.text.contains(#""requestCut":false,"responseCut":true"#))
    }

    @Test func doesNotClearWhatAKilledRecorderLeft() async throws {
        var exchange = ExchangeRecord(
            id: 1, connection: 0, startedAt: SampleCapture.start, scheme: .https,
            authority: "a.test")
        exchange.requestHead = [UInt8]("GET / HTTP/1.1\r\n\r\n".utf8)
        exchange.responseHead = [UInt8]("HTTP/1.1 204 No Content\r\n\r\n".utf8)
        exchange.status = 204
        exchange.durationMicroseconds = 1
        for isKilled in [false, true] {
            let check = try await run(["check", "x"], on: [.exchange(exchange)], isKilled)
            #expect(check.code == (isKilled ? 3 : 0))
            #expect(check.output.text.contains("the recorder ended without") == isKilled)
        }
    }

    /// - Parameter isKilled: whether the capture is as a recorder leaves it that is killed.
    private func run(
        _ arguments: [String], on events: [TrafficEvent], _ isKilled: Bool = false
    ) async throws -> CommandRun.Result {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
        let path = folder.appendingPathComponent("a").path
        let configuration = CaptureConfiguration(digest: Digests.sha256)
        let writer = try CaptureWriter(path: path, configuration: configuration)
        writer.submit(events)
        try writer.close()
        guard isKilled else { return await CommandRun(arguments: arguments, capture: path).run() }
        let killed = try CaptureWriter(path: path, configuration: configuration)
        let left = path + "-left"
        for end in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: path + end, toPath: left + end)
        }
        try killed.close()
        return await CommandRun(arguments: arguments, capture: left).run()
    }
}
