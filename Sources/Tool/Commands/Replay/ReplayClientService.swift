internal import Base
internal import CaptureStore
internal import HTTPClient
internal import Replay
internal import Sockets
internal import Synchronization
internal import TLS
internal import Traffic

/// The client of a replay, with everything it needs.
final class ReplayClientService {
    private let plan: ReplayPlan
    private let arguments: ReplayClientArguments
    private let environment: Environment
    private let configuration: ClientConfiguration
    private let writer: CaptureWriter?
    private let loops: EventLoops
    private let signals: StopSignals

    /// Reads the certificates, opens the capture to write, and takes the signals over.
    init(
        _ plan: ReplayPlan, _ arguments: ReplayClientArguments, _ environment: Environment
    ) throws {
        self.plan = plan
        self.arguments = arguments
        self.environment = environment
        var configuration = ClientConfiguration()
        for path in arguments.authorities {
            configuration.authorities += try Certificate.all(
                inPEM: try environment.readFile(path), name: path)
        }
        configuration.http = arguments.versions
        configuration.upstreams = try UpstreamCredentialFile.authorize(
            arguments.upstreams, by: arguments.upstreamCredentials)
        self.configuration = configuration
        writer = try arguments.capture.map { path throws(Failure) in
            try CaptureWriter(
                path: path, configuration: CaptureConfiguration(digest: Digests.sha256))
        }
        if let writer, let path = arguments.capture, writer.nextExchangeID > 1, !arguments.isJSON {
            try environment.note(
                "\(path) holds \(writer.nextExchangeID - 1) exchanges already; these are added")
        }
        loops = try EventLoops(count: 1)
        signals = try StopSignals()
    }

    /// Sends what there is to send, and completes the capture.
    func run(_ source: any TrafficSource) async throws -> ReplayClientReport {
        let loop = loops.all[0]
        let journal = ClientJournal(
            writer, connection: writer?.nextConnectionID ?? 1,
            exchange: writer?.nextExchangeID ?? 1)
        let client = HTTPClient(configuration, on: loop, journal: journal)
        let progress = ReplayProgress(plan.entries.count, environment)
        let task = ReplayClientTask(
            plan, from: source, arguments, client: client, on: loop, progress: progress.advance)
        let writer = writer
        signals.watch(
            onStop: { _ in loop.execute { task.stop(.signal) } },
            onTick: {
                if writer?.failure != nil { loop.execute { task.stop(.capture) } }
            })
        let report = await withTaskGroup(of: ReplayClientReport?.self) { group in
            group.addTask(executorPreference: loop) { await task.run() }
            return await group.next() ?? nil
        }
        try progress.finish()
        if let writer { try writer.close() }
        loops.stop()
        guard let report else { preconditionFailure("a task that was added has a result") }
        return report
    }
}

/// How many requests are done, on a terminal.
private final class ReplayProgress: Sendable {
    private struct State {
        var bar: ProgressBar
        /// Whether nobody looks any more; the report tells all of it in the end.
        var isUnseen = false
    }

    private let state: Mutex<State>

    init(_ total: Int, _ environment: Environment) {
        state = Mutex(
            State(
                bar: ProgressBar(
                    "sending", total: Int64(total), on: environment.diagnostics,
                    clock: environment.clock)))
    }

    @Sendable func advance(_ done: Int) {
        state.withLock { state in
            guard !state.isUnseen else { return }
            do throws(Failure) {
                try state.bar.advance(to: Int64(done))
            } catch {
                state.isUnseen = true
            }
        }
    }

    func finish() throws(Failure) {
        try state.withLock { state throws(Failure) in try state.bar.finish() }
    }
}
