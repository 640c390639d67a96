internal import Base
internal import CommandSyntax
internal import Glibc
internal import Launching
internal import Presentation
internal import Runs
internal import Sockets
internal import Synchronization
internal import TLS
internal import Terminal
internal import Transfer
internal import Views

func runTransferGet(
    _ arguments: TransferGetArguments, _ environment: Environment
) async throws -> ExitCode {
    try await arguments.place.run(try arguments.plan(), waits: arguments.common.waits, environment)
}

extension TransferPlace {
    /// Enqueues a transfer, and waits for its end if that is wanted.
    func run(
        _ plan: TransferPlan, waits: Bool, _ environment: Environment
    ) async throws -> ExitCode {
        let place = self
        guard waits else {
            let tasks = try await place.connected(environment) { connection in
                try connection.noteProxies(environment)
                return try await connection.tasks(.add(plan))
            }
            for task in tasks {
                let line = place.isJSON ? task.shownRow : [UInt8](task.identifier.utf8)
                try environment.output.write(line + [UInt8(ascii: "\n")])
            }
            return .clean
        }
        return try await place.connected(environment) { connection in
            try connection.noteProxies(environment)
            return try await place.wait(forTaskOf: .add(plan), connection, environment)
        }
    }

    /// Waits for the transfer that a request is answered with.
    func wait(
        forTaskOf request: DaemonRequest, _ connection: DaemonConnection, _ environment: Environment
    ) async throws -> ExitCode {
        guard let task = try await connection.tasks(request).first else { return .couldNotRun }
        return try await wait(for: task, connection, environment)
    }

    /// Waits for a transfer's end, or an interrupt, which ends the waiting only.
    private func wait(
        for task: TransferTask, _ connection: DaemonConnection, _ environment: Environment
    ) async throws -> ExitCode {
        let waiting = TransferWaiting(self, environment, task)
        try StopSignals(keepsIgnored: true).watch(
            onStop: { _ in
                waiting.interrupt()
                connection.interrupt()
            }, onTick: {})
        do throws(Failure) {
            try await connection.ask(.follow(task.identifier)) { reply throws(Failure) in
                guard case .task(let task) = reply else { return }
                try waiting.note(task)
            }
        } catch {
            if waiting.isInterrupted { return try waiting.leave() }
            guard error.code == TransferWaiting.enough else { throw error }
            return try waiting.finish()
        }
        let code = try waiting.finish()
        guard !waiting.isInterrupted else { return code }
        // Whoever waits has heard of it; another one who waited may have said so already.
        do throws(Failure) {
            _ = try await connection.tasks(.acknowledge(task.identifier, event: nil))
        } catch {
            guard error.code == "no-such-transfer" else { throw error }
        }
        return code
    }
}

extension DaemonConnection {
    /// Tells of proxies that this command's variables name, and that a daemon which runs already does
    /// not take.
    fileprivate func noteProxies(_ environment: Environment) throws(Failure) {
        var own = ProxySource()
        own.variables = environment.variables
        guard let proxies, proxies != own.variablesDigest else { return }
        try environment.note(
            "the daemon that runs was started with other proxies in its variables:"
                + " 'sallyport transfer stop' first to have those of this command")
    }
}

extension TransferGetArguments {
    func plan() throws -> TransferPlan {
        guard let output else {
            throw UsageFailure(
                "--output is needed", hint: "see 'sallyport transfer get --help'")
        }
        let file = try Files.absolute(output)
        let folder = String(file[...(file.lastIndex(of: "/") ?? file.startIndex)])
        guard Files.exists(folder) else {
            throw Failure(
                "folder-missing", party: .client, "there is no folder \(folder)",
                hint: "make it first")
        }
        guard unsafe access(folder, W_OK | X_OK) == 0 else {
            throw Failure(
                "folder-unwritable", party: .client,
                "cannot write to the folder \(folder): \(SystemError(errno))")
        }
        var plan = TransferPlan(.download, url, file: file, session: common.session)
        plan.options.replacesFile = replaces
        plan.options.expected = digest.map { ExpectedDigest(.sha256, $0) }
        try common.apply(to: &plan.options)
        return plan
    }
}

extension TransferCommonArguments {
    func apply(to options: inout TransferOptions) throws {
        options.isDiscretionary = isDiscretionary
        options.allowsCellular = !avoidsCellular
        options.authorities = try authorities.map { path throws(Failure) in
            let whole = try Files.absolute(path)
            guard Files.exists(whole) else {
                throw Failure("file-unreadable", party: .client, "there is no file \(path)")
            }
            _ = try Certificate.authorities(
                inPEM: try Files.readRegular(whole, byteLimit: authoritiesLimit), name: path)
            return whole
        }
        guard let login else { return }
        let path = try Files.absolute(login)
        guard Files.exists(path) else {
            throw Failure("file-unreadable", party: .client, "there is no file \(login)")
        }
        guard Files.isPrivate(path) else {
            throw Failure(
                "login-not-private", party: .client, "other users may read \(login)",
                hint: "chmod 600 \(login)")
        }
        options.credential = path
    }
}

/// In bytes: as much as the daemon reads.
private let authoritiesLimit = 1 << 20

/// Shows how far a transfer is until it has ended, or cannot go on without its owner.
private final class TransferWaiting: Sendable {
    private struct State {
        var bar: ProgressBar?
        var last: TransferTask
        /// Why it was told to wait: each reason is told once, however often it is retried.
        var told: String?
        var isInterrupted = false
    }

    private let place: TransferPlace
    private let environment: Environment
    private let state: Mutex<State>

    /// The code of the error that ends the waiting.
    static let enough = "waited-enough"

    init(_ place: TransferPlace, _ environment: Environment, _ task: TransferTask) {
        self.place = place
        self.environment = environment
        state = Mutex(State(last: task))
    }

    private var showsBar: Bool { environment.diagnostics.isTerminal && !place.isJSON }

    /// Errors: `waited-enough`, those of the output.
    func note(_ task: TransferTask) throws(Failure) {
        try state.withLock { state throws(Failure) in
            state.last = task
            guard showsBar else {
                return try environment.output.write(task.shownRow + [UInt8(ascii: "\n")])
            }
            try show(task, &state)
        }
        guard !task.needsOwner else {
            throw Failure(Self.enough, party: .client, "it goes on when its owner wants it")
        }
    }

    private func show(_ task: TransferTask, _ state: inout State) throws(Failure) {
        let title = task.kind == .upload ? "sending" : "fetching"
        var bar =
            state.bar
            ?? ProgressBar(
                title, total: task.total ?? 0, in: .bytes, on: environment.diagnostics,
                clock: environment.clock)
        if let reason = task.waitingText, reason != state.told {
            // The note has a line of its own, and the bar goes on below it.
            try bar.finish()
            let next = task.retryText.map { "; it tries again at \($0)" } ?? ""
            try environment.note(reason + next)
            state.told = reason
        }
        try bar.advance(
            to: task.reach, of: task.total ?? 0,
            titled: task.retryText.map { "next try at \($0)" } ?? title, pace: task.paceText)
        state.bar = bar
    }

    /// Remembers that the user wants to wait no longer.
    func interrupt() { state.withLock { $0.isInterrupted = true } }

    var isInterrupted: Bool { state.withLock(\.isInterrupted) }

    /// Says that the transfer goes on without anybody waiting for it.
    func leave() throws(Failure) -> ExitCode {
        let task = state.withLock(\.last)
        guard !task.state.isFinal else { return try finish() }
        // Also what the terminal shows of the key that was pressed.
        if environment.diagnostics.isTerminal {
            try environment.diagnostics.write("\r\u{1B}[K")
        }
        try environment.note("the transfer goes on: \(task.identifier)")
        let folder = place.folder.map { " --folder \(shellQuoted($0))" } ?? ""
        try environment.hint(
            "to wait for it again: sallyport transfer wait \(task.identifier)\(folder); to end it:"
                + " sallyport transfer cancel \(task.identifier)\(folder)")
        return .inconclusive
    }

    /// Says how it stands.
    func finish() throws(Failure) -> ExitCode {
        let task = try state.withLock { state throws(Failure) in
            try state.bar?.finish()
            return state.last
        }
        if showsBar { try environment.output.write(task.endingText + "\n") }
        switch task.state {
        case .completed: return .clean
        case .failed, .cancelled: return .findings
        case .suspended, .waiting, .running, .verifying: return .inconclusive
        }
    }
}
