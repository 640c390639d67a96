package import Audit
package import Base
internal import Confinement
internal import HTTPServer
package import Launching
internal import Processes
internal import Sockets
internal import Synchronization
internal import TLS

/// Runs a command through every case of a battery, one after the other, and judges what it made.
package final class BatteryService: Sendable {
    private let configuration: BatteryConfiguration
    private let variables: [String: String]
    private let events: RunEvents
    private let folder: CommandFolder
    private let loops: EventLoops
    private let running = Mutex(Running())

    private struct Running {
        var child: ChildProcess?
        var signal: StopSignal?
    }

    private struct Trace {
        let exitStatus: Int32?
        let output: [UInt8]
    }

    /// Errors: `file-unwritable`, `no-event-loop`.
    package init(
        _ configuration: BatteryConfiguration, variables: [String: String], events: RunEvents
    ) throws(Failure) {
        self.configuration = configuration
        // A proxy would stand between the client and what goes wrong for it.
        self.variables = variables.filter { !$0.key.lowercased().hasSuffix("_proxy") }
        self.events = events
        folder = try CommandFolder(in: variables["TMPDIR"] ?? "/tmp")
        loops = try EventLoops(count: 1)
    }

    /// Ends what runs, and starts nothing more; from any thread.
    package func stop(_ signal: StopSignal) {
        let child = running.withLock { running in
            running.signal = signal
            return running.child
        }
        child?.forward(signal)
    }

    /// Ends what runs although it was asked to end.
    package func insist() { running.withLock(\.child)?.kill() }

    private var isStopped: Bool { running.withLock { $0.signal != nil } }

    /// Errors: `listen-failed`, those of the files.
    package func run() async throws(Failure) -> BatteryReport {
        let startedAt = Timestamp.now()
        let cases = configuration.kind.cases
        var results: [BatteryResult] = []
        for (index, tried) in cases.enumerated() where !isStopped {
            events.publish(.progress(done: Int64(index), total: Int64(cases.count)))
            let result = try await attempt(tried, index: index)
            if isStopped { break }
            results.append(result)
            // What a client makes of faults says nothing if it makes nothing of a sound server.
            if tried.isControl, result.outcome != .correct { break }
        }
        events.publish(.progress(done: Int64(cases.count), total: Int64(cases.count)))
        folder.remove()
        loops.stop()
        return BatteryReport(
            kind: configuration.kind, client: configuration.client,
            command: CommandLineRedaction.redact(configuration.command), results: results,
            startedAt: startedAt,
            duration: Timestamp.now().microseconds(since: startedAt),
            toolVersion: configuration.toolVersion, source: configuration.source)
    }

    private func attempt(_ tried: BatteryCase, index: Int) async throws(Failure) -> BatteryResult {
        let startedAt = Timestamp.now()
        let stage = try await BatteryStage(
            tried, of: configuration.kind, folder: "\(folder.path)/\(index)", loop: loops.all[0])
        async let ended = stage.server.run()
        var runs = 0
        var trace = Trace(exitStatus: nil, output: [])
        var failure: Failure?
        do throws(Failure) {
            // As a person does it: again, until the command says that it is done.
            repeat {
                runs += 1
                trace = try await start(stage)
            } while runs < tried.runLimit && trace.exitStatus != nil && trace.exitStatus != 0
                && !isStopped
        } catch {
            failure = error
        }
        stage.server.stop(grace: 0)
        _ = await ended
        if let failure { return BatteryResult(tried, failure: failure) }
        var (isRight, content, seen) = try stage.judge()
        if tried.isControl, !isRight || trace.exitStatus != 0 {
            let line = trace.output.split(separator: 0x0A).last.map { [UInt8]($0) } ?? []
            let last = PrintableText(line, isWhole: true)?.text ?? ""
            seen += last.isEmpty ? "" : "; the command said: \(last.prefix(200))"
        }
        return BatteryResult(
            tried, exitStatus: trace.exitStatus, isRight: isRight, content: content, seen: seen,
            runs: runs, requests: stage.requests,
            duration: Timestamp.now().microseconds(since: startedAt))
    }

    /// Runs the command once.
    ///
    /// Errors: `command-not-started`, `no-pipe`.
    private func start(_ stage: BatteryStage) async throws(Failure) -> Trace {
        let output = try CapturedOutput()
        let limit = TimeLimit(loops.all[0], configuration.timeout) {}
        let mark = Digests.randomBytes(8).hex
        let words = CommandTemplate(words: configuration.command).filled(stage.values)
        let child: ChildProcess
        do throws(Failure) {
            child = try ChildProcess.start(
                words, variables: variables.merging([AuditLauncher.markName: mark]) { $1 },
                output: output.descriptor)
        } catch {
            _ = await output.finish()
            throw error
        }
        let signal = running.withLock { running in
            running.child = child
            return running.signal
        }
        limit.begin(child)
        if let signal { child.forward(signal) }
        let ended = OneTimeBox<ChildProcess.Ending>()
        startThread(named: "command") { ended.set(child.wait()) }
        let ending = await ended.get()
        limit.end()
        running.withLock { $0.child = nil }
        _ = await AuditLauncher.endMarked(mark)
        return Trace(
            exitStatus: limit.hasPassed || isStopped ? nil : ending.status,
            output: await output.finish())
    }
}
