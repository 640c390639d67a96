internal import Base
internal import Synchronization
internal import Transfer

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
            for task in try await place.ask(.add(plan), environment) {
                let line = place.isJSON ? task.shownRow : [UInt8](task.identifier.utf8)
                try environment.output.write(line + [UInt8(ascii: "\n")])
            }
            return .clean
        }
        return try await place.connected(environment) { connection in
            guard let task = try await connection.tasks(.add(plan)).first else {
                return .couldNotRun
            }
            let waiting = TransferWaiting(place, environment)
            do throws(Failure) {
                try await connection.ask(.follow(task.identifier)) { reply throws(Failure) in
                    guard case .task(let task) = reply else { return }
                    try waiting.note(task)
                }
            } catch {
                guard error.code == TransferWaiting.enough else { throw error }
                return try waiting.finish()
            }
            let code = try waiting.finish()
            // Whoever waits has heard of it.
            _ = try await connection.tasks(.acknowledge(task.identifier, event: nil))
            return code
        }
    }
}

extension TransferGetArguments {
    func plan() throws -> TransferPlan {
        guard let output else {
            throw UsageFailure(
                "--output is needed", hint: "see 'sallyport transfer get --help'")
        }
        let file = try absolute(output)
        let folder = String(file[...(file.lastIndex(of: "/") ?? file.startIndex)])
        guard Files.exists(folder) else {
            throw Failure("folder-missing", party: .client, "there is no folder \(folder)")
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
            let whole = try absolute(path)
            guard Files.exists(whole) else {
                throw Failure("file-unreadable", party: .client, "there is no file \(path)")
            }
            return whole
        }
        guard let login else { return }
        let path = try absolute(login)
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

/// Shows how far a transfer is until it has ended, or cannot go on without its owner.
private final class TransferWaiting: Sendable {
    private struct State {
        var bar: ProgressBar?
        var last: TransferTask?
        /// Why it was told to wait.
        var reason: String?
    }

    private let place: TransferPlace
    private let environment: Environment
    private let state = Mutex(State())

    /// The code of the error that ends the waiting.
    static let enough = "waited-enough"

    init(_ place: TransferPlace, _ environment: Environment) {
        self.place = place
        self.environment = environment
    }

    private var showsBar: Bool { environment.diagnostics.isTerminal && !place.isJSON }

    /// Errors: `waited-enough`, those of the output.
    func note(_ task: TransferTask) throws(Failure) {
        try state.withLock { state throws(Failure) in
            state.last = task
            guard showsBar else {
                return try environment.output.write(task.shownRow + [UInt8(ascii: "\n")])
            }
            let reason = task.waitingText
            if let reason, reason != state.reason { try environment.note(reason) }
            state.reason = reason
            var bar =
                state.bar
                ?? ProgressBar(
                    task.kind == .upload ? "sending" : "fetching", total: task.total ?? 0,
                    in: .bytes, on: environment.diagnostics,
                    clock: environment.clock)
            try bar.advance(to: task.reach, of: task.total ?? 0)
            state.bar = bar
        }
        guard !task.needsOwner else {
            throw Failure(Self.enough, party: .client, "it goes on when its owner wants it")
        }
    }

    /// Says how it stands.
    func finish() throws(Failure) -> ExitCode {
        let task = try state.withLock { state throws(Failure) in
            try state.bar?.finish()
            return state.last
        }
        guard let task else { return .inconclusive }
        if showsBar { try environment.output.write(task.endingText + "\n") }
        switch task.state {
        case .completed: return .clean
        case .failed, .cancelled: return .findings
        case .suspended, .waiting, .running, .verifying: return .inconclusive
        }
    }
}
