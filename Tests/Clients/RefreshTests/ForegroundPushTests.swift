import Base
import ContentServer
import HTTPServer
import Sockets
import Synchronization
import Testing

@testable import Refresh

/// Pushes to an app in use, as many as their service likes to send.
struct ForegroundPushTests {
    private static let day: Int64 = 1_772_409_600_000

    /// The feed of another server is asked once for the user, and for all pushes together once at
    /// most; one that wants to be left alone is, by them.
    @Test(
        .timeLimit(.minutes(10)),
        arguments: [
            (503, [ResponseField("Retry-After", "3600")], 1), (503, [], 2), (404, [], 2),
        ])
    func costFewRequests(_ status: Int, _ fields: [ResponseField], _ count: Int) async throws {
        let service = FloodingService(pushes: 60) { ServerResponse(status, fields) }
        let stage = try await withLaboratory(answering: service.answer) { laboratory in
            let stage = try Stage(laboratory, at: Self.day)
            try await stage.run {
                try stage.client.note(.opened("news"))
                try await stage.wait { service.counts.acknowledged >= 60 && stage.reports >= 2 }
            }
            return stage
        }
        #expect(service.counts.feed == count)
        #expect(stage.deliveries == 60)
        #expect(stage.told == [])
    }

    /// What was to be fetched behind the gap is, and where the app was left wakes it.
    @Test(
        .timeLimit(.minutes(10)),
        arguments: [
            (.screen(isOn: false), 3, []),
            (.closed("news"), 3, ["wake 1 news resumed push"]),
            (.removed("news"), 2, ["dropped news removed"]), (.opened("news"), 3, []),
        ] as [(DeviceEvent, Int, [String])])
    func comesBehindTheGap(_ event: DeviceEvent, _ count: Int, _ told: [String]) async throws {
        let service = FloodingService(pushes: 8) { ServerResponse(404) }
        let stage = try await withLaboratory(answering: service.answer) { laboratory in
            let stage = try Stage(laboratory, at: Self.day)
            try await stage.run {
                try stage.client.note(.opened("news"))
                try await stage.wait { service.counts.acknowledged >= 8 && stage.reports >= 2 }
                stage.clock.now.withLock { $0 += 29_000 }
                try stage.client.note(event)
                stage.clock.now.withLock { $0 += 1_000 }
                try stage.client.note(.unlocked)
                try await stage.wait {
                    stage.reports >= count && stage.told.count >= told.count
                }
            }
            return stage
        }
        #expect(service.counts.feed == count)
        #expect(stage.told == told)
    }
}

/// A client in front of a laboratory's server, on a clock that stands still.
///
/// `@unchecked Sendable`: used on one loop, and read behind it.
private final class Stage: @unchecked Sendable {
    final class Clock: Sendable {
        let now: Mutex<Int64>

        init(_ now: Int64) { self.now = Mutex(now) }
    }

    let clock: Clock
    let signal: LoopWakeup
    private(set) var reports = 0
    private(set) var deliveries = 0
    /// What became of apps that were left.
    private(set) var told: [String] = []
    private var made: RefreshClient?
    var client: RefreshClient { get throws { try #require(made) } }

    init(_ laboratory: RefreshLaboratory, at now: Int64) throws {
        let clock = Clock(now)
        self.clock = clock
        signal = LoopWakeup(laboratory.loop)
        let store = try laboratory.store()
        let socket = try DeviceSocket(
            laboratory.client,
            DeviceSocket.Configuration(
                service: laboratory.origin, device: "phone", topics: ["news"]),
            on: laboratory.loop)
        made = RefreshClient(
            [RefreshClient.App(RefreshApp("news"), urls: ["\(laboratory.origin)/feed"])],
            laboratory.refresher(store), store, socket: socket, seed: 1, on: laboratory.loop,
            clock: { clock.now.withLock { $0 } }, tell: { [unowned self] in note($0) })
    }

    private func note(_ event: RefreshClient.Event) {
        switch event {
        case .report: reports += 1
        case .decision(.delivered, _): deliveries += 1
        case .decision(let decision, _):
            switch decision {
            case .wake, .dropped: told.append(SchedulerScript.words(decision))
            default: break
            }
        case .socket, .merged, .failed: break
        }
        signal.wake()
    }

    func run(_ body: () async throws -> Void) async throws {
        let client = try client
        async let running: Void = client.run()
        defer { client.stop() }
        try await body()
        client.stop()
        await running
    }

    func wait(until isSo: () -> Bool) async throws {
        for _ in 0..<200 where !isSo() { _ = await signal.wait(until: signal.loop.now + 50) }
        try #require(isSo())
    }
}

/// A push service that sends all at once, and the server of a feed.
private final class FloodingService: Sendable {
    struct Counts {
        var feed = 0
        var acknowledged = 0
    }

    private let pushes: Int
    private let feed: @Sendable () -> ServerResponse
    private let counted = Mutex(Counts())
    var counts: Counts { counted.withLock { $0 } }

    init(pushes: Int, feed: @escaping @Sendable () -> ServerResponse) {
        self.pushes = pushes
        self.feed = feed
    }

    @Sendable func answer(_ request: ServerRequest) -> ServerResponse? {
        switch request.path.raw.text {
        case "/feed":
            counted.withLock { $0.feed += 1 }
            return feed()
        case "/push/devices":
            return ServerResponse(201, type: "application/json", #"{"token":"t"}"#)
        case "/push/devices/t/events":
            let isFirst = counts.acknowledged == 0
            return ServerResponse(200, type: "text/event-stream", isFirst ? events : "")
        case "/push/devices/t/acknowledge":
            counted.withLock { $0.acknowledged += 1 }
            return ServerResponse(200)
        default: return ServerResponse(404)
        }
    }

    private var events: String {
        (1...pushes).map {
            "id: \($0)\ndata: {\"topic\":\"news\",\"token\":\"t\",\"silent\":true}\n\n"
        }.joined()
    }
}
