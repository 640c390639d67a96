import Base
import ContentServer
import HTTPClient
import HTTPCodecs
import HTTPModel
import HTTPServer
import Origins
import Recording
import Sockets
import Synchronization
import Testing

@testable import Transfer

/// A content server and a service that fetches from it, each on a loop of its own. Suites of it are
/// serialized: hundreds at once would only wait for each other, past their limits of time.
struct Laboratory: Sendable {
    /// What goes wrong, as a scenario says it.
    var scenario = ""
    var seed: UInt64 = 1
    var http = ClientVersions.http1
    var limits = TransferLimits()
    var environment = TransferEnvironment()
    var credentials: (any CredentialSource)?
    var vault: StorageVault?
    /// In milliseconds: how long an origin may say nothing.
    var patience: UInt64 = 30_000
    /// Whether digests come to whoever wants them, as few servers do.
    var heedsWishes = true
    var disk: any TransferDisk = MemoryDisk()
    var clock: any TransferClock = QuickClock()
    var folder = "/tasks"
    var holder: HolderNote?
    var network: String?
    /// How much uploads may be together, and the like.
    var uploadLimits = UploadStore.Limits()

    /// What a test has of it.
    struct Bench {
        let service: TransferService
        /// `http://127.0.0.1:PORT`
        let origin: String
        let content: ContentServer
        let disk: any TransferDisk
        let clock: any TransferClock
        /// Where the server keeps uploads.
        let uploads: TransferFolder
        /// Opens the folder on another disk, as after a crash.
        let open: (any TransferDisk) throws(Failure) -> TransferService

        /// Enqueues a download, lets it go on and waits for what comes of it.
        func fetch(
            _ path: String, to file: String? = "/files/download",
            _ change: (inout TransferOptions) -> Void = { _ in }
        ) async throws -> TransferTask {
            var plan = TransferPlan(.download, origin + path, file: file)
            change(&plan.options)
            let task = try service.enqueue(plan)
            try service.resume(task.identifier)
            return try #require(await service.wait(for: task.identifier))
        }

        func bytes(_ path: String = "/files/download") throws -> [UInt8] {
            let file = try disk.open(path, creating: false)
            return try file.read(at: 0, count: Int(try file.size()))
        }

        /// Requests for parts with an end.
        var partCount: Int {
            content.journal.contents().records.count { $0.range?.hasSuffix("-") == false }
        }

        /// Content bytes that the server has sent so far.
        var sentBytes: Int64 {
            content.journal.contents().records.reduce(0) {
                $0 + Int64(clamping: $1.sent?.count ?? 0)
            }
        }
    }

    func run<Result: Sendable>(
        _ body: @escaping @Sendable (Bench) async throws -> Result
    ) async throws -> Result {
        let loops = [try EventLoop(index: 0), try EventLoop(index: 1)]
        for loop in loops { startThread(named: "test loop") { loop.run() } }
        defer { for loop in loops { loop.stop() } }
        var configuration = ContentServerConfiguration()
        configuration.scenario = try Scenario.read([UInt8](scenario.utf8), path: "scenario")
        configuration.seed = seed
        let uploads = try TransferFolder()
        configuration.uploads = try UploadStore(path: uploads.path, limits: uploadLimits)
        let content = ContentServer(configuration)
        let heedsWishes = heedsWishes
        let server = try HTTPServer(
            ports: [HTTPServer.Port(SocketAddress(address: [127, 0, 0, 1], port: 0))],
            loops: [loops[0]]
        ) { request, body in
            await content.answer(heedsWishes ? request : request.withoutWishes, body)
        }
        // On its own loop: a client's time runs while others have the runner's threads.
        let served = Task(executorPreference: loops[0]) { await server.run() }
        do {
            let result = try await run(
                body, content, uploads, "http://\(server.addresses[0])", loops[1])
            server.stop(grace: 0)
            _ = await served.value
            return result
        } catch {
            server.stop(grace: 0)
            _ = await served.value
            throw error
        }
    }

    private func run<Result: Sendable>(
        _ body: @escaping @Sendable (Bench) async throws -> Result, _ content: ContentServer,
        _ uploads: TransferFolder, _ origin: String, _ loop: EventLoop
    ) async throws -> Result {
        let laboratory = self
        return try await Task(executorPreference: loop) {
            defer { loop.closeAllChannels() }
            var client = ClientConfiguration()
            client.http = laboratory.http
            client.readTimeout = laboratory.patience
            let http = HTTPClient(client, on: loop, recorder: TrafficRecorder(sink: nil))
            var configuration = TransferConfiguration(folder: laboratory.folder)
            configuration.limits = laboratory.limits
            // Rates mean nothing on a clock that does not go on while something comes: with a large one
            // nothing would be committed before the end, and who waits for that would wait for ever.
            configuration.limits.fastBatchSize = laboratory.limits.batchSize
            configuration.environment = laboratory.environment
            configuration.credentials = laboratory.credentials
            configuration.seed = laboratory.seed
            configuration.holder = laboratory.holder
            configuration.network = laboratory.network
            configuration.vault = laboratory.vault
            let open = { (disk: any TransferDisk) throws(Failure) in
                try TransferService(
                    configuration, on: loop, network: ClientNetwork(http),
                    uploads: UploadDriver(), disk: disk, clock: laboratory.clock)
            }
            let service = try open(laboratory.disk)
            let bench = Bench(
                service: service, origin: origin, content: content, disk: laboratory.disk,
                clock: laboratory.clock, uploads: uploads, open: open)
            return try await http.run { try await service.run { try await body(bench) } }
        }.value
    }
}

extension ServerRequest {
    fileprivate var withoutWishes: ServerRequest {
        replacing(
            fields: fields.setting("want-digest", to: nil).setting("want-repr-digest", to: nil)
                .setting("want-content-digest", to: nil))
    }
}

/// What a server with these faults holds.
func held(_ path: String, _ fault: String = "") async throws -> [UInt8] {
    let path = try #require(RequestPath((fault.isEmpty ? path : "/faults/\(fault)\(path)").utf8))
    let request = ServerRequest(
        method: .get, path: path, host: "localhost", version: .http11, fields: .none,
        connection: ClientConnection(number: 1, peer: "127.0.0.1:1", host: "127.0.0.1"),
        receivedAt: Timestamp(microseconds: 0))
    let source = await ContentServer(ContentServerConfiguration()).answer(
        request, RequestBody([])
    ).body.source
    let buffer = ByteBuffer(capacity: 65_536)
    var content: [UInt8] = []
    while try await source.read(into: buffer) > 0 {
        content += buffer.copy
        buffer.removeAll()
    }
    return content
}

/// A clock that goes on at once to what is waited for.
final class QuickClock: TransferClock {
    private let time = Mutex<Int64>(0)

    var elapsed: Int64 { time.withLock { $0 } }
    var now: Timestamp {
        Timestamp(microseconds: 1_780_000_000_000_000 + elapsed * 1000)
    }

    func wait(until due: Int64, waking wakeup: LoopWakeup, isIdle: Bool) async {
        guard isIdle, due != .max else {
            _ = await wakeup.wait(until: .max)
            return
        }
        time.withLock { $0 = max($0, due) }
        await Task.yield()
    }
}

/// A clock that goes on by hand alone. On the service's loop only.
final class HandClock: TransferClock, @unchecked Sendable {
    private(set) var elapsed: Int64 = 0
    private var waiting: LoopWakeup?

    var now: Timestamp { Timestamp(microseconds: 1_780_000_000_000_000 + elapsed * 1000) }

    /// - Parameter time: in milliseconds.
    func advance(by time: Int64) {
        elapsed += time
        waiting?.wake()
    }

    func wait(until due: Int64, waking wakeup: LoopWakeup, isIdle: Bool) async {
        waiting = wakeup
        guard due > elapsed else { return }
        _ = await wakeup.wait(until: .max)
    }
}

extension RunningTransfer {
    /// A task without a service.
    static func of(
        _ state: JournalState, _ journal: Transfer.Journal, _ identifier: String,
        _ disk: MemoryDisk, network: any TransferNetwork = NoNetwork(),
        credentials: (any CredentialSource)? = nil
    ) throws -> RunningTransfer {
        RunningTransfer(
            TransferTask(state.plan, identifier: identifier, createdAt: state.createdAt), journal,
            folder: "/tasks/\(identifier)", host: "a",
            in: TransferContext(
                network: network, disk: disk, clock: QuickClock(), limits: TransferLimits(),
                credentials: credentials, vault: nil,
                worker: DiskWorker(for: disk, on: try EventLoop(index: 9))))
    }
}

extension ResponseHead {
    /// What an answer's lines say: the status, and the fields.
    static func of(_ lines: [String]) throws(Failure) -> ResponseHead {
        let text = "HTTP/1.1 \(lines[0]) \r\n" + lines.dropFirst().map { $0 + "\r\n" }.joined()
        do {
            let bytes = Array((text + "\r\n").utf8)
            return try #require(try ResponseReader.read(bytes.span, limits: .response)).head
        } catch {
            throw Failure("origin-violation", party: .origin, "\(error)")
        }
    }
}

/// Reaches nothing.
final class NoNetwork: TransferNetwork {
    private let isHere: Bool

    /// - Parameter isHere: whether all that would be sent stays on this machine.
    init(isHere: Bool = false) { self.isHere = isHere }

    func send(_ request: NetworkRequest) async throws(Failure) -> NetworkAnswer {
        throw Failure("connect-failed", party: .origin, "there is none")
    }

    func staysHere(_ location: OriginLocation) -> Bool { isHere }
}
