internal import Base
internal import CommandSyntax
internal import Glibc
internal import Launching
internal import Presentation
internal import Runs
internal import Sockets
internal import Terminal
internal import Transfer

func runTransferList(
    _ arguments: TransferListArguments, _ environment: Environment
) async throws -> ExitCode {
    guard try arguments.place.isThere(environment) else {
        try environment.note(
            "there are no transfers: there is no folder"
                + " \(try arguments.place.daemonFolder(environment).path)")
        return .clean
    }
    let tasks = try await arguments.place.ask(.list(session: arguments.session), environment)
    try TransferTaskText.write(
        tasks, isJSON: arguments.place.isJSON, to: environment.console)
    return .clean
}

func runTransferShow(
    _ arguments: TransferArguments, _ environment: Environment
) async throws -> ExitCode {
    try arguments.checkFolder(environment)
    let tasks = try await arguments.place.connected(environment) { connection in
        try await connection.tasks(.show(try await connection.resolve(arguments.id)))
    }
    for task in tasks {
        if arguments.place.isJSON {
            try environment.output.write(task.shownRow + [UInt8(ascii: "\n")])
        } else {
            try TransferTaskText.write(task, to: environment.console)
        }
    }
    return .clean
}

func runTransferWait(
    _ arguments: TransferArguments, _ environment: Environment
) async throws -> ExitCode {
    try arguments.checkFolder(environment)
    let place = arguments.place
    return try await place.connected(environment) { connection in
        let id = try await connection.resolve(arguments.id)
        return try await place.wait(forTaskOf: .show(id), connection, environment)
    }
}

extension TransferArguments {
    /// Asks for a change of a transfer.
    func change(
        _ request: @escaping @Sendable (String) -> DaemonRequest, _ environment: Environment
    ) async throws -> ExitCode {
        try checkFolder(environment)
        let id = id
        _ = try await place.connected(environment) { connection in
            let id = try await connection.resolve(id)
            let request = request(id)
            if let task = try await connection.tasks(.show(id)).first {
                try Self.check(request, of: task)
            }
            return try await connection.tasks(request)
        }
        return .clean
    }

    /// Refuses a folder that is not there: no daemon has to be started to tell that it has no
    /// transfer.
    fileprivate func checkFolder(_ environment: Environment) throws {
        guard try !place.isThere(environment) else { return }
        throw Failure(
            "no-such-transfer", party: .client,
            "there is no transfer \(id): there is no folder"
                + " \(try place.daemonFolder(environment).path)")
    }

    /// Refuses what would change nothing, and look as if it had.
    private static func check(_ request: DaemonRequest, of task: TransferTask) throws(Failure) {
        if case .acknowledge = request {
            guard task.state.isFinal else {
                throw Failure(
                    "transfer-not-ended", party: .client,
                    "the transfer has not ended: \(task.stateText)", hint: "cancel it first")
            }
        } else if task.state.isFinal {
            throw Failure(
                "transfer-ended", party: .client, "the transfer has ended: \(task.stateText)")
        }
    }
}

func runTransferDaemon(
    _ arguments: TransferDaemonArguments, _ environment: Environment
) async throws -> ExitCode {
    let folder = try arguments.place.daemonFolder(environment)
    var proxies = arguments.proxies
    proxies.variables = environment.variables
    let loops = try EventLoops(count: 1)
    defer { loops.stop() }
    let loop = loops.all[0]
    let signals = try StopSignals()
    try await withTaskExecutorPreference(loop) {
        try await TransferDaemonRun.run(
            folder, by: proxies, endsWhenIdle: arguments.endsWhenIdle, on: loop, processID: getpid()
        ) { daemon in
            signals.watch(
                onStop: { _ in loop.execute { daemon.stop() } }, onTick: {})
            for failure in daemon.unreadable {
                try environment.note("a transfer is left alone: \(failure.detail)")
            }
            try environment.output.write(
                "transfers of \(TerminalText.sanitized(folder.path)), process \(getpid())\n")
        }
    }
    return .clean
}

func runTransferStop(
    _ place: TransferPlace, _ environment: Environment
) async throws -> ExitCode {
    do {
        let number = try await place.connected(environment, starts: false) { connection in
            _ = try await connection.tasks(.stop)
            return Int32(clamping: connection.processID)
        }
        // Who starts another one next must not meet it.
        try await DaemonAccess.untilEnded(number)
    } catch let failure as Failure where failure.code == "daemon-absent" {
        try environment.note("no daemon is running")
    }
    return .clean
}

extension TransferPlace {
    func daemonFolder(_ environment: Environment) throws -> DaemonFolder {
        guard let folder else { return try TransferDaemonRun.standardFolder(environment.variables) }
        return DaemonFolder(try Files.absolute(folder))
    }

    /// Whether the folder is there, which is made with the first transfer.
    func isThere(_ environment: Environment) throws -> Bool {
        Files.exists(try daemonFolder(environment).path)
    }

    /// What a request is answered with.
    func ask(
        _ request: DaemonRequest, _ environment: Environment
    ) async throws -> [TransferTask] {
        try await connected(environment) { try await $0.tasks(request) }
    }

    /// Talks to the daemon, which is started if there is none.
    func connected<Result: Sendable>(
        _ environment: Environment, starts: Bool = true,
        _ body: @escaping @Sendable (DaemonConnection) async throws -> Result
    ) async throws -> Result {
        try await DaemonAccess(
            try daemonFolder(environment), variables: environment.variables
        ).connected(starts: starts, body)
    }
}
