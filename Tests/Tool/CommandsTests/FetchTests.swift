import Base
import Foundation
import Testing

@testable import Commands
@testable import Refresh
@testable import Runs

/// The commands that need neither a server nor a daemon.
struct FetchTests {
    private static func run(
        _ arguments: [String], _ files: [String: [UInt8]] = [:]
    ) async -> CommandRun.Result {
        var run = CommandRun()
        run.arguments = ["fetch"] + arguments
        run.files = files
        return await run.run()
    }

    @Test func simulatesTheSameForOneSeed() async {
        let arguments = ["simulate", "--person", "rare", "--seed"]
        let first = await Self.run(arguments + ["7"])
        let second = await Self.run(arguments + ["7"])
        let other = await Self.run(arguments + ["8"])
        #expect(first.code == 0)
        #expect(first.output == second.output)
        #expect(first.output != other.output)
        #expect(first.output.count { $0 == 0x0A } > 1000)
    }

    /// What is written as a trace is played as one, and gives what the person's own gives.
    @Test func playsWhatItWrites() async throws {
        let trace = await Self.run(["trace", "--person", "weekend", "--weeks", "2", "--seed", "3"])
        #expect(trace.code == 0)
        let played = await Self.run(
            ["simulate", "trace.jsonl", "--seed", "3"], ["trace.jsonl": trace.output])
        let person = TracePerson.named("weekend").map {
            RefreshTraceGenerator.generate($0, seed: 3, weeks: 2)
        }
        var log: [UInt8] = []
        if let person {
            log = DecisionLog.head(person, seed: 3) + [0x0A]
            _ = try RefreshSimulation.play(person, seed: 3) { log += $0.line + [0x0A] }
        }
        #expect(played.output == log)
    }

    @Test(arguments: TracePerson.all.map(\.name))
    func beatsTheTimer(_ person: String) async {
        let told = await Self.run(["simulate", "--person", person, "--report"])
        #expect(told.code == 0)
        #expect(told.output.text.hasPrefix("\(person): 42 days, seed 1\n"))
        #expect(told.output.text.hasSuffix("\nthe scheduler beats the timer\n"))
        // What the verdict is not about stands beside it.
        #expect(told.output.text.contains("keep the radio up longer") == (person == "heavy"))
    }

    /// The decisions go to the file, in place of what it had, and the report to where reports go.
    @Test func writesTheLogBesideTheReport() async throws {
        let folder = "/tmp/sallyport-fetch-\(UUID().uuidString.prefix(8))"
        try Files.makeFolder(folder)
        let arguments = ["simulate", "--person", "rare"]
        let told = await Self.run(arguments + ["--report", "--log", folder + "/log"])
        #expect(told.output.text.contains("wakes"))
        #expect(try Files.read(folder + "/log") == (await Self.run(arguments)).output)
        try FileManager.default.removeItem(atPath: folder)
    }

    /// Items as they are kept, also those that came while the device was locked; secrets in URLs are
    /// not shown.
    @Test func listsItems() async throws {
        let folder = "/tmp/sallyport-fetch-\(UUID().uuidString.prefix(8))"
        let store = try RefreshStore(folder: folder)
        let url = "https://example.org/feed?access_token=kW8vQ2rT5yU1iO4pA7sD"
        var entry = FeedEntry(
            id: "1", title: "one\u{1B}[31m", date: Timestamp(microseconds: 1_772_409_600_000_000))
        try store.commit(FeedState(url), [KeptItem(entry, of: url)], aside: false)
        entry.id = "2"
        entry.title = ""
        entry.date = nil
        try store.commit(FeedState(url), [KeptItem(entry, of: url)], aside: true)
        let text = await Self.run(["items", "--store", folder]).output.text
        let json = await Self.run(["items", "--store", folder, "--json"]).output.text
        #expect(text.contains("2026-03-02T00:00Z"))
        #expect(text.contains("one") && !text.contains("\u{1B}"))
        #expect(json.split(separator: "\n").count == 2)
        #expect(json.contains("\"publishedAt\":\"2026-03-02T00:00:00.000Z\""))
        #expect(json.contains("\"publishedAt\":null"))
        for output in [text, json] { #expect(!output.contains("kW8v") && output.contains("***")) }
        try FileManager.default.removeItem(atPath: folder)
    }

    /// What is not there is not made.
    @Test func listsNothingWhereNothingWasFetched() async {
        let folder = "/tmp/sallyport-fetch-\(UUID().uuidString.prefix(8))"
        let told = await Self.run(["items", "--store", folder])
        #expect(told.code == 0 && told.output.isEmpty)
        #expect(!Files.exists(folder))
    }

    // MARK: The device's events

    private static func lines(_ pieces: [String]) throws -> [DeviceEvent] {
        var reader = DeviceEventLines("events", app: "news")
        return try (pieces + [""]).flatMap { try reader.read([UInt8]($0.utf8)) }
    }

    @Test func readsEventsHoweverTheyCome() throws {
        let text = """
            {"event":"open","app":"news"}

            {"event":"power","charging":true,"level":7}
            {"event":"consent","app":"news","granted":true}
            {"event":"lock"}
            """
        let wanted: [DeviceEvent] = [
            .opened("news"), .power(isCharging: true, level: 7),
            .consent("news", isGranted: true), .locked,
        ]
        #expect(try Self.lines([text]) == wanted)
        #expect(try Self.lines(text.map { String($0) }) == wanted)
    }

    @Test(arguments: [
        (#"{"event":"open","app":"mail"}"#, "line 1: app is none"),
        (#"{"event":"open","app":"news","at":3}"#, "line 1: unknown member at"),
        (#"{"event":"publish","app":"news"}"#, "line 1: publish does not happen to a device"),
        ("lock", "line 1: no JSON object"), ("{}", "line 1: no event"),
        (String(repeating: "x", count: 70_000), "line 1: longer than"),
        ("\n\n{}", "line 3: no event"),
    ])
    func refusesOtherLines(_ text: String, _ what: String) {
        do {
            _ = try Self.lines([text])
            Issue.record("it was read")
        } catch {
            #expect((error as? Failure)?.code == "trace-invalid")
            #expect("\(error)".contains(what), "\(error)")
        }
    }
}
