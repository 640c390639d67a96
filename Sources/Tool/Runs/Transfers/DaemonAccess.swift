package import Base
internal import Glibc
internal import Launching
internal import Sockets
package import Transfer

/// The way of a program to the daemon of a folder.
package struct DaemonAccess: Sendable {
    private let folder: DaemonFolder
    private let variables: [String: String]

    /// - Parameter variables: those of a daemon that is started.
    package init(_ folder: DaemonFolder, variables: [String: String]) {
        self.folder = folder
        self.variables = variables
    }

    /// Talks to the daemon.
    ///
    /// - Parameter starts: whether it is started if there is none.
    ///
    /// Errors: `daemon-absent`, those of `start`, of the daemon and of `body`.
    package func connected<Result: Sendable>(
        starts: Bool = true,
        _ body: @escaping @Sendable (DaemonConnection) async throws -> Result
    ) async throws -> Result {
        let loops = try EventLoops(count: 1)
        defer { loops.stop() }
        let loop = loops.all[0]
        let access = self
        let start: (() throws(Failure) -> DaemonProcess)? =
            starts ? { () throws(Failure) in try access.start() } : nil
        return try await withTaskExecutorPreference(loop) {
            let connection = try await DaemonConnection.open(folder, on: loop, starting: start)
            defer { connection.close() }
            return try await body(connection)
        }
    }

    /// Starts a daemon that ends when nothing was left to do for a while.
    ///
    /// - Parameter options: of the command, besides.
    package func start(_ options: [String] = []) throws(Failure) -> DaemonProcess {
        try folder.prepare()
        let program = try DetachedProgram.start(
            try DetachedProgram.ownPath(),
            arguments: ["transfer", "daemon", "--until-idle", "--folder", folder.path] + options,
            variables: variables,
            log: folder.log)
        return DaemonProcess(hasEnded: { program.hasEnded }, lastWords: { program.lastWords })
    }

    /// Waits for a process that is ending.
    ///
    /// Errors: `daemon-still-there`.
    package static func untilEnded(_ id: Int32) async throws {
        let loops = try EventLoops(count: 1)
        defer { loops.stop() }
        let loop = loops.all[0]
        try await withTaskExecutorPreference(loop) {
            let wakeup = LoopWakeup(loop)
            for _ in 0..<1000 {
                guard kill(id, 0) == 0 else { return }
                await wakeup.rest(for: 10)
            }
            throw Failure(
                "daemon-still-there", party: .tool, "process \(id) has not ended within ten seconds"
            )
        }
    }
}

extension DaemonConnection {
    /// The whole of an ID whose beginning is given.
    ///
    /// Errors: `no-such-transfer`, `transfer-ambiguous`, those of the daemon.
    package func resolve(_ id: String) async throws -> String {
        guard id.utf8.count < 36 else { return id }
        let found = try await tasks(.list(session: nil)).map(\.identifier)
            .filter { !id.isEmpty && $0.hasPrefix(id) }
        guard let first = found.first else {
            throw Failure(
                "no-such-transfer", party: .client, "there is no transfer \(id)",
                hint: "see 'sallyport transfer list'")
        }
        guard found.count == 1 else {
            throw Failure(
                "transfer-ambiguous", party: .client,
                "\(found.count) transfers begin with \(id)", hint: "give more of the ID")
        }
        return first
    }
}
