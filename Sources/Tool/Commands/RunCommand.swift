internal import Base
internal import CaptureStore
internal import Findings
internal import Glibc
internal import Proxy
internal import Sockets
internal import TLS
internal import Traffic

extension Command {
    /// `run`: one command under the proxy, with a verdict.
    static var run: Command {
        Command(
            "run", "run a command through a proxy of its own and judge its traffic",
            examples: [
                Example(
                    purpose: "a test suite, failing the build on what is found",
                    line: "sallyport run -- npm test"),
                Example(
                    purpose: "a program that reads no proxy settings, with no way past the proxy",
                    line: "sallyport run --capture-all -- ./agent --once"),
                Example(
                    purpose: "keep the capture, and fail on the worst only",
                    line: "sallyport run --capture ci.sallyport --fail-on critical -- ./app-tests"),
                Example(
                    purpose: "look for the test account's secrets",
                    line: "sallyport run --profile subject.profile -- ./login-test"),
            ],
            details: [
                "With --capture-all the command runs in namespaces of its own whose only way out is"
                    + " the proxy, whatever it reads or ignores, without being told of the proxy; UDP"
                    + " is refused and listed. It needs no privileges. Where the system forbids it,"
                    + " the run goes on without and is reported as not leak-proof.",
                "Otherwise the command gets the proxy and trust variables that programs are known to read, with"
                    + " a bundle of the system's CAs and ours. They never switch a check off. What"
                    + " ignores them is not captured: a run in which nothing was seen is"
                    + " inconclusive.",
                "Exit codes: 0 nothing found, 1 findings, 2 usage, 3 inconclusive (nothing was seen,"
                    + " every client refused the CA, or the command failed), 4 could not run.",
            ],
            arguments: RunArguments(),
            parameters: [
                .option(
                    "fail-on", \.failOn, .choice("LEVEL"), standard: "high",
                    "the least severity that fails"),
                .flag(
                    "capture-all", \.capturesAll,
                    "leave the command no way out but the proxy (Linux)"),
                .flag("json", \.isJSON, "print the verdict as JSON, on the standard error stream"),
                .rest("COMMAND", \.command, "the command and its arguments"),
            ] + proxyParameters.map { $0.lifted(to: \.proxy) }
                + inspectionParameters.map { $0.lifted(to: \.inspection) },
            run: runCommand)
    }
}

private struct RunArguments {
    var proxy = ProxyOptions()
    var inspection = InspectionOptions()
    var failOn = Severity.high
    var isJSON = false
    var capturesAll = false
    var command: [String] = []
}

private func runCommand(
    _ arguments: RunArguments, _ environment: Environment
) async throws -> ExitCode {
    let signals = try StopSignals()
    let configuration = try arguments.inspection.configuration(environment)
    let outcome = try await runToEnd(arguments, environment, signals)
    let source = try environment.openCapture(outcome.capturePath)
    let report = try CaptureInspection.report(
        on: source, configuration: configuration, environment: environment)
    // The command owns the standard output; the verdict is talk beside it.
    var talk = environment
    talk.output = environment.diagnostics
    try talk.output.write(
        "\nsallyport: the command \(outcome.ending.text); recorded in "
            + "\(TerminalText.sanitized(outcome.capturePath))\n")
    if arguments.capturesAll {
        let coverage = try CoverageReport(outcome, source)
        try talk.output.write(arguments.isJSON ? coverage.json : [UInt8](coverage.text.utf8))
    }
    try report.write(asJSON: arguments.isJSON, to: talk)
    try tellFailures(in: source, of: outcome.capturePath, environment)
    let code = report.exitCode(failingFrom: arguments.failOn)
    let isWhole = outcome.ending == .exited(0) && outcome.confinementFailure == nil
    return code == .clean && !isWhole ? .inconclusive : code
}

/// Says where connections are found that failed: that nothing is dangerous about them does not mean
/// that all went well.
private func tellFailures(
    in source: any TrafficSource, of path: String, _ environment: Environment
) throws {
    var count = 0
    var failedCount = 0
    try source.connections { record in
        count += 1
        if record.outcome.isFailure { failedCount += 1 }
        return true
    }
    guard failedCount > 0 else { return }
    try environment.note("\(failedCount) of \(count) connections failed")
    try environment.hint(
        "'sallyport connections \(TerminalText.sanitized(path))' says why")
}

/// How a run went.
struct RunOutcome {
    let ending: ChildProcess.Ending
    let capturePath: String
    /// What a confined command's network saw; `nil` for one that was not confined.
    var network: ConfinedNetwork?
    /// Why the command could not be confined, although that was asked for.
    var confinementFailure: Failure?
}

private func runToEnd(
    _ arguments: RunArguments, _ environment: Environment, _ signals: StopSignals
) async throws(Failure) -> RunOutcome {
    guard arguments.capturesAll else {
        return try await runWithVariables(arguments, environment, signals)
    }
    do throws(Failure) {
        return try await runConfined(arguments, environment, signals)
    } catch  where error.code == "namespaces-forbidden" {
        var outcome = try await runWithVariables(arguments, environment, signals)
        outcome.confinementFailure = error
        return outcome
    }
}

private func runConfined(
    _ arguments: RunArguments, _ environment: Environment, _ signals: StopSignals
) async throws(Failure) -> RunOutcome {
    var options = arguments.proxy
    options.listen = HostPort(host: "127.0.0.1", port: 0)
    let authority = try options.authority.open(environment.variables)
    let client = try ClientEnvironment(
        proxy: nil, trusting: authority.certificate, inherited: environment.variables)
    defer { client.remove() }
    let result = try await ConfinedRun.run(
        try client.confinement(of: arguments.command),
        started: { signals.watch(onStop: $0.forward, onInsist: $0.kill, onTick: {}) },
        makeService: { ports throws(Failure) in
            try ProxyService(options, environment: environment, log: nil, captured: ports)
        })
    return RunOutcome(
        ending: result.ending, capturePath: result.service.capturePath, network: result.network)
}

private func runWithVariables(
    _ arguments: RunArguments, _ environment: Environment, _ signals: StopSignals
) async throws(Failure) -> RunOutcome {
    var options = arguments.proxy
    options.listen = HostPort(host: "127.0.0.1", port: 0)
    let service = try ProxyService(options, environment: environment, log: nil)
    let client = try ClientEnvironment(
        proxy: HostPort(service.server.address), trusting: service.authority.certificate,
        inherited: environment.variables)
    defer { client.remove() }
    let ending = try await serve(service, signals) { () throws(Failure) in
        try ChildProcess.start(arguments.command, variables: client.variables)
    }
    return RunOutcome(ending: ending, capturePath: service.capturePath)
}

/// Serves until the child that `start` makes has ended.
private func serve(
    _ service: ProxyService, _ signals: StopSignals,
    while start: @escaping @Sendable () throws(Failure) -> ChildProcess
) async throws(Failure) -> ChildProcess.Ending {
    let box = OneTimeBox<Result<ChildProcess.Ending, Failure>>()
    startThread(named: "command") {
        do throws(Failure) {
            let child = try start()
            signals.watch(onStop: child.forward, onInsist: child.kill, onTick: {})
            box.set(.success(child.wait()))
        } catch {
            box.set(.failure(error))
        }
        service.shutdown.request()
    }
    _ = try await service.run()
    return try await box.get().get()
}
