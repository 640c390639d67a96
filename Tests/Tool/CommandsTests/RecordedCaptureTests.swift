import Base
import CaptureStore
import Foundation
import Testing
import Traffic

@testable import Commands

/// The commands on a capture file, which must say what they say of the same records in memory.
struct RecordedCaptureTests {
    static let commands = [
        ["flows", "list"],
        ["flows", "list", "--json", "--with-secrets"],
        ["flows", "show", "1"],
        ["flows", "show", "2", "--part", "request-body"],
        ["flows", "show", "3"],
        ["connections"],
        ["connections", "--json"],
        ["check"],
        ["check", "--json"],
    ]

    static let messageCommands = [
        ["messages", "6", "--full"],
        ["messages", "7", "--json", "--with-secrets"],
        ["messages", "8"],
        ["messages", "--exchange", "13"],
        ["connections"],
        ["connections", "6"],
        ["connections", "6", "--json"],
        ["flows", "list", "--json"],
    ]

    @Test(arguments: commands)
    func saysTheSameOfAFile(_ command: [String]) async throws {
        try await compare(command, "session.sallyport", SampleCapture.source())
    }

    @Test(arguments: [["flows", "list"], ["flows", "list", "--json"]])
    func saysTheSameOfCallsInAFile(_ command: [String]) async throws {
        try await compare(command, "calls.sallyport", SampleCalls.source())
    }

    @Test(arguments: messageCommands)
    func saysTheSameOfMessagesInAFile(_ command: [String]) async throws {
        try await compare(command, "messages.sallyport", SampleMessages.source())
    }

    private func compare(
        _ command: [String], _ name: String, _ source: FakeTrafficSource
    ) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
        let path = folder.appendingPathComponent(name).path
        try Self.record(source, to: path)

        let words = command.prefix { !$0.hasPrefix("-") && Int64($0) == nil }
        let options = command.dropFirst(words.count)
        var run = CommandRun(arguments: words + [name] + options)
        let expected = await run.run()
        run.capture = path
        let result = await run.run()
        #expect(result.output.text == expected.output.text)
        #expect(result.diagnostics.text == expected.diagnostics.text)
        #expect(result.code == expected.code)
        #expect(!expected.output.isEmpty)
    }

    static func record(_ source: FakeTrafficSource, to path: String) throws {
        // Equal digests count as equal content, which these contents are not.
        let writer = try CaptureWriter(
            path: path, configuration: CaptureConfiguration { $0 + [UInt8]("\($0.count)".utf8) })
        writer.submit(source.connectionRecords.map { .connection($0) })
        for exchange in source.exchangeRecords {
            var exchange = exchange
            exchange.requestBody.bytes =
                source.contents[.init(exchange: exchange.id, direction: .request)] ?? []
            exchange.responseBody.bytes =
                source.contents[.init(exchange: exchange.id, direction: .response)] ?? []
            writer.submit([.exchange(exchange)])
        }
        writer.submit(source.messageRecords.map { .message($0) })
        try writer.close()
    }
}
