import Base
import ContentServer
import Contents
import HTTPClient
import HTTPModel
import Origins
import Sockets
import Testing

@testable import Refresh

/// The whole client against the content server.
struct RefreshClientTests {
    /// Silent push, wake, conditional request, items, handover, acknowledgement; and the server's
    /// own account of it.
    @Test func wakesForASilentPush() async throws {
        let outcome = try await withLaboratory { laboratory in
            try await Outcome.play(laboratory, pushes: 2)
        }
        #expect(outcome.wakes == ["push", "push"])
        #expect(outcome.results == ["finished 1 news newData", "finished 2 news newData"])
        #expect(outcome.statuses == [200, 200])
        #expect(outcome.itemCount == 12)
        #expect(outcome.assets.count == 12)
        #expect(outcome.assets.allSatisfy { $0.isDiscretionary })
        #expect(outcome.fates == ["acknowledged", "acknowledged"])
        #expect(outcome.problems.isEmpty, "\(outcome.problems)")
    }
}

/// `@unchecked Sendable`: filled on one loop, and read behind it.
private final class Outcome: @unchecked Sendable {
    var decisions: [RefreshDecision] = []
    var reports: [FeedReport] = []
    var itemCount = 0
    var assets: [HandedAsset] = []
    var fates: [String] = []
    var problems: [String] = []

    var wakes: [String] {
        decisions.compactMap { if case .wake(let wake) = $0 { wake.cause.rawValue } else { nil } }
    }
    var results: [String] {
        decisions.filter { if case .finished = $0 { true } else { false } }
            .map(SchedulerScript.words)
    }
    var statuses: [Int] { reports.compactMap(\.status) }

    static func play(
        _ laboratory: RefreshLaboratory, pushes: Int
    ) async throws -> Outcome {
        let outcome = Outcome()
        let store = try laboratory.store()
        var app = RefreshApp("news")
        app.interval = .minimum
        let url = "\(laboratory.origin)/feeds/json/news?steps=new&media=1"
        let socket = try DeviceSocket(
            laboratory.client,
            DeviceSocket.Configuration(
                service: laboratory.origin, device: "phone", topics: ["news"]),
            on: laboratory.loop)
        let signal = LoopWakeup(laboratory.loop)
        let client = RefreshClient(
            [RefreshClient.App(app, urls: [url])], laboratory.refresher(store), store,
            socket: socket, seed: 1, on: laboratory.loop,
            clock: { Timestamp.now().microseconds / 1000 },
            tell: { event in
                switch event {
                case .decision(let decision, _): outcome.decisions.append(decision)
                case .report(let report, _): outcome.reports.append(report)
                case .socket, .merged, .failed: break
                }
                signal.wake()
            })
        async let running: Void = client.run()
        // Whatever goes wrong, it ends.
        defer { client.stop() }
        // A provider's token is good for an hour, and a new one each time is refused.
        let bearer = try await laboratory.control("/push/token").split(separator: "\n").joined()
        for number in 1...pushes {
            try await wait(on: signal) { socket.tokens["news"] != nil }
            try await push(to: socket.tokens["news"] ?? "", bearer, laboratory)
            try await wait(on: signal) { outcome.results.count >= number }
        }
        outcome.fates = try await acknowledged(laboratory, count: pushes)
        client.stop()
        await running
        outcome.itemCount = try RefreshStore.items(in: store.folder).count
        outcome.assets = laboratory.handover.assets
        outcome.problems = problems(in: laboratory.content.journal)
        return outcome
    }

    private static func wait(
        on signal: LoopWakeup, until isSo: () -> Bool
    ) async throws {
        for _ in 0..<100 where !isSo() {
            _ = await signal.wait(until: signal.loop.now + 200)
        }
        try #require(isSo())
    }

    /// What the server's journal says against the client.
    private static func problems(in journal: Journal) -> [String] {
        let records = journal.contents().records
        let feeds = records.filter { $0.target.hasPrefix("/feeds/") }
        let pictures = records.filter { $0.target.hasPrefix("/gallery/") }
        let files = records.filter { $0.target.hasPrefix("/assets/") }
        var problems = files.map { "\($0.target) was fetched in a wake" }
        // The first fetch has nothing to compare with; all others have.
        if feeds.map(\.conditions.isEmpty) != [true, false] {
            problems.append("conditions: \(feeds.map(\.conditions))")
        }
        if pictures.count != 12 { problems.append("\(pictures.count) pictures") }
        let rules: [JournalAssertion] = [
            .noByteTwice, .coversWhole, .retries(atMost: 0, milliseconds: 0),
        ]
        for rule in rules {
            let verdict = rule.judge(pictures)
            if verdict.outcome != .passed { problems += ["\(rule)"] + verdict.explanations }
        }
        return problems
    }

    /// As the app's server sends it.
    private static func push(
        to token: String, _ bearer: String, _ laboratory: RefreshLaboratory
    ) async throws {
        let location = try OriginLocation("\(laboratory.origin)/3/device/\(token)")
        let payload = [UInt8](#"{"aps":{"content-available":1}}"#.utf8)
        let head = """
            POST \(location.path) HTTP/1.1\r
            Host: \(location.target.authority)\r
            apns-topic: news\r
            apns-push-type: background\r
            apns-priority: 5\r
            authorization: bearer \(bearer)\r
            Content-Length: \(payload.count)\r
            \r

            """
        var request = ClientRequest(
            target: location.target, method: .post, isSafe: false, head: [UInt8](head.utf8),
            content: .bytes(payload), isChunked: false)
        request.prefersHTTP2 = true
        let response = try await laboratory.client.send(request)
        #expect(response.head.status == 200, "\(response.content.text)")
    }

    /// What became of the pushes, as soon as all are acknowledged.
    private static func acknowledged(
        _ laboratory: RefreshLaboratory, count: Int
    ) async throws -> [String] {
        var fates: [String] = []
        for _ in 0..<1000 {
            let text = try await laboratory.control("/push/notifications")
            let row = try #require(JSONObject([UInt8](text.utf8)))
            fates = (row.objects("notifications") ?? []).compactMap { $0.text("fate") }
            if fates.filter({ $0 == "acknowledged" }).count == count { break }
        }
        return fates
    }
}
