import Base
import Foundation
import Testing

@testable import Launching
@testable import Runs

/// Audits of commands that are stopped before the command is started.
@Suite struct AuditServiceTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let words: [String]
        var port: Int64?
        var isNeverConfined = false
        let told: [String]
        var testDescription: String { name }
    }

    private static let words = ["true", "--allow-insecure-host", "{host}:{port}", "{url}"]

    static let rows = [
        Row(
            name: "a URL without a port", words: words,
            told: [
                "{url} names no port, so that what the command is told of www.shop.test:443 may"
                    + " not apply to it",
                "audit it with --port 8443 as well",
            ]),
        Row(name: "a URL with a port", words: words, port: 8443, told: []),
        Row(name: "told of no port", words: ["true", "{url}"], told: []),
        Row(name: "a port beside it", words: words, isNeverConfined: true, told: []),
    ]

    @Test(arguments: rows)
    func tellsOfAPortThatTheURLDoesNotName(_ row: Row) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("sallyport-runs-\(UUID().uuidString)").path
        try Files.makeFolder(folder)
        var options = AuditConfiguration()
        options.way = .command(row.words)
        options.port = row.port
        options.isNeverConfined = row.isNeverConfined
        options.trust = .none
        options.probes = ["control-good-ecdsa"]
        options.proxy.capture = folder + "/session.sallyport"
        options.proxy.loopCount = 1
        let events = RunEvents()
        let subscription = events.subscribe()
        let audit = try AuditService(
            options, variables: ["XDG_STATE_HOME": folder], events: events)
        _ = try await audit.run {
            audit.stop(StopSignal(number: 15, isFromTerminal: false))
        }
        events.finish()
        var told: [String] = []
        while let batch = await subscription.next() {
            for event in batch {
                switch event {
                case .note(let text), .hint(let text): told.append(text)
                default: break
                }
            }
        }
        #expect(told == row.told)
        try FileManager.default.removeItem(atPath: folder)
    }
}
