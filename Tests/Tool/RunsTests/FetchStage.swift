import Base
import Contents
import Foundation
import HTTPClient
import HTTPModel
import Launching
import Origins
import Proxy
import Recording
import Refresh
import Runs
import Sockets
import Synchronization
import TLS
import Testing
import Transfer

/// A proxy with a content server beside it, a daemon of transfers and a fetch client, all on ports
/// and in a folder of their own.
final class FetchStage: Sendable {
    let folder: String
    let capture: String

    struct Played: Sendable {
        let events: [FetchEvent]
        let tasksLeft: Int
        let fates: [String]
        let assertions: [(String, String)]
        /// The journal's account of the feed.
        let feedJournal: String
    }

    static let app = "com.example.news"

    init() throws {
        folder = "/tmp/sallyport-fetch-\(UUID().uuidString.prefix(8))"
        capture = folder + "/session.sallyport"
        try Files.makeFolder(folder)
    }

    func remove() throws { try FileManager.default.removeItem(atPath: folder) }

    /// Runs `body` as the app's server; everything has ended when it returns.
    func play(_ body: (FetchDevice) async throws -> Void) async throws -> Played {
        try await withServers { configuration, device in
            let service = try await FetchService(configuration, startingDaemon: nil) {
                device.note($0)
            }
            async let fetched: Void = service.run()
            let played: Result<Played, any Error>
            do {
                try await body(device)
                played = .success(try await look(device, configuration.transfers))
            } catch {
                played = .failure(error)
            }
            service.end()
            _ = try await fetched
            return try played.get()
        }
    }

    /// Runs `body` while the servers, the proxy and the daemon run.
    func withServers<Result: Sendable>(
        _ body: (FetchConfiguration, FetchDevice) async throws -> Result
    ) async throws -> Result {
        let proxy = try ProxyService(options, variables: ["XDG_STATE_HOME": folder])
        async let endedInOrder = proxy.run()
        let content = try #require(proxy.content)
        let upstream = UpstreamProxy(
            .http, host: "127.0.0.1", port: HostPort(proxy.server.address).port)
        let loops = try EventLoops(count: 1)
        defer { loops.stop() }
        let daemon = DaemonStage(DaemonFolder(folder + "/t"), upstream, on: loops.all[0])
        async let daemonEnd: Void = daemon.run()
        await daemon.ready()
        let ended: Swift.Result<Result, any Error>
        do {
            let configuration = try configuration(proxy, content, upstream)
            ended = .success(
                try await body(configuration, FetchDevice(content.http, on: loops.all[0])))
        } catch {
            ended = .failure(error)
        }
        daemon.stop()
        try await daemonEnd
        proxy.stop()
        _ = try await endedInOrder
        return try ended.get()
    }

    private func configuration(
        _ proxy: ProxyService, _ content: ContentService, _ upstream: UpstreamProxy
    ) throws -> FetchConfiguration {
        var configuration = FetchConfiguration()
        configuration.app = RefreshApp(Self.app)
        configuration.urls = ["https://\(content.https)/feeds/json/news?steps=new&media=1"]
        configuration.push = DeviceSocket.Configuration(
            service: "https://\(content.https)", device: "phone", topics: [])
        configuration.store = folder + "/store"
        configuration.assets = folder + "/assets"
        configuration.transfers = DaemonFolder(folder + "/t")
        configuration.authoritiesPath = proxy.authority.certificatePath
        configuration.authorities = try Certificate.all(
            inPEM: try Files.read(proxy.authority.certificatePath), name: "ca.pem")
        configuration.proxies.proxy = upstream
        return configuration
    }

    private var options: ProxyOptions {
        let anywhere = HostPort(host: "127.0.0.1", port: 0)
        var options = ProxyOptions()
        options.listen = anywhere
        options.capture = capture
        options.loopCount = 1
        var content = ContentOptions()
        content.listen = anywhere
        content.tlsListen = anywhere
        options.content = content
        return options
    }

    /// What the daemon and the server say of it.
    private func look(
        _ device: FetchDevice, _ transfers: DaemonFolder
    ) async throws -> Played {
        let loop = device.loop
        let tasks = try await device.tasks(transfers).count
        var assertions: [(String, String)] = []
        for rule in ["no-byte-twice", "whole", "retries:0"] {
            var query = JournalQuery()
            query.server = HostPort(device.server)
            query.path = "/assets/*"
            query.assertions = [rule]
            let asked = query
            let answer = try await withTaskExecutorPreference(loop) {
                try await asked.ask(on: loop)
            }
            assertions.append((rule, answer.outcome ?? ""))
        }
        let fates = try await device.fates()
        let journal = try await device.get("/.sallyport/journal?path=/feeds/*&format=canonical")
        return Played(
            events: device.events, tasksLeft: tasks, fates: fates, assertions: assertions,
            feedJournal: journal)
    }
}

/// The daemon, in this process.
private final class DaemonStage: Sendable {
    private let folder: DaemonFolder
    private let upstream: UpstreamProxy
    private let loop: EventLoop
    private let daemon = Mutex<TransferDaemon?>(nil)
    private let (begun, continuation) = AsyncStream.makeStream(of: Void.self)

    init(_ folder: DaemonFolder, _ upstream: UpstreamProxy, on loop: EventLoop) {
        self.folder = folder
        self.upstream = upstream
        self.loop = loop
    }

    func run() async throws {
        defer { continuation.finish() }
        try await withTaskExecutorPreference(loop) {
            var proxies = ProxySource()
            proxies.proxy = upstream
            try await TransferDaemonRun.run(
                folder, by: proxies, endsWhenIdle: false, on: loop, processID: getpid()
            ) { daemon in
                self.daemon.withLock { $0 = daemon }
                continuation.finish()
            }
        }
    }

    /// Returns when programs can connect, or it failed.
    func ready() async {
        for await _ in begun {}
    }

    func stop() {
        guard let daemon = daemon.withLock({ $0 }) else { return }
        loop.execute { daemon.stop() }
    }
}

/// What a device tells, and what its app's server does.
final class FetchDevice: Sendable {
    let server: SocketAddress
    let loop: EventLoop
    private let held = Mutex<[FetchEvent]>([])
    private let (stream, continuation) = AsyncStream.makeStream(of: Void.self)

    init(_ server: SocketAddress, on loop: EventLoop) {
        self.server = server
        self.loop = loop
    }

    var events: [FetchEvent] { held.withLock { $0 } }

    func note(_ event: FetchEvent) {
        held.withLock { $0.append(event) }
        continuation.yield()
    }

    /// Waits for an event that is wanted, among those that were, too.
    @discardableResult
    func wait<Found>(_ wanted: (FetchEvent) -> Found?) async throws -> Found {
        var looked = 0
        while true {
            let all = events
            for event in all[looked...] {
                if let found = wanted(event) { return found }
            }
            looked = all.count
            var iterator = stream.makeAsyncIterator()
            guard await iterator.next() != nil else { throw CancellationError() }
        }
    }

    /// A silent push, as the app's server sends it.
    func push(to token: String) async throws {
        let bearer = try await get("/push/token").split(separator: "\n").joined()
        let payload = #"{"aps":{"content-available":1}}"#
        let said = try await send(
            "POST", "/3/device/\(token)",
            [
                "apns-topic: \(FetchStage.app)", "apns-push-type: background", "apns-priority: 5",
                "authorization: bearer \(bearer)",
            ], payload)
        #expect(said.isEmpty, "\(said)")
    }

    /// What became of its pushes, when all are acknowledged.
    func fates() async throws -> [String] {
        for _ in 0..<200 {
            let pieces = try await get("/push/notifications").split(separator: "\"fate\":\"")
            let fates = pieces.dropFirst().map { String($0.prefix { $0 != "\"" }) }
            if !fates.isEmpty, fates.allSatisfy({ $0 == "acknowledged" }) { return fates }
        }
        return []
    }

    /// What the daemon has of the app; with `ending`, once all of it has ended.
    func tasks(_ folder: DaemonFolder, ending: Bool = false) async throws -> [TransferTask] {
        let loop = loop
        return try await withTaskExecutorPreference(loop) {
            let connection = try await DaemonConnection.open(folder, on: loop)
            defer { connection.close() }
            let tasks = try await connection.tasks(.list(session: FetchStage.app))
            guard ending else { return tasks }
            var ended: [TransferTask] = []
            for task in tasks {
                ended += try await connection.tasks(.follow(task.identifier)).suffix(1)
            }
            return ended
        }
    }

    func get(_ path: String) async throws -> String { try await send("GET", path, [], "") }

    @discardableResult
    func send(
        _ method: String, _ path: String, _ fields: [String], _ content: String
    ) async throws -> String {
        let target = OriginTarget(isSecure: false, host: "127.0.0.1", port: HostPort(server).port)
        var head = "\(method) \(path) HTTP/1.1\r\nHost: \(target.authority)\r\n"
        for field in fields { head += field + "\r\n" }
        if !content.isEmpty { head += "Content-Length: \(content.utf8.count)\r\n" }
        var request = ClientRequest(
            target: target, method: method == "GET" ? .get : method == "POST" ? .post : .other,
            isSafe: false,
            head: [UInt8]((head + "\r\n").utf8), content: .bytes([UInt8](content.utf8)),
            isChunked: false)
        request.prefersHTTP2 = true
        let (loop, sent) = (loop, request)
        return try await withTaskExecutorPreference(loop) {
            let client = HTTPClient(
                ClientConfiguration(), on: loop, recorder: TrafficRecorder(sink: nil))
            return try await client.run { try await client.send(sent).content.text }
        }
    }
}
