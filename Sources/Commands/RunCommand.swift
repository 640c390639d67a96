internal import Base
internal import CaptureStore
internal import Findings
internal import Glibc
internal import Proxy
internal import Sockets
internal import Synchronization
internal import TLS

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
                    purpose: "keep the capture, and fail on the worst only",
                    line: "sallyport run --capture ci.sallyport --fail-on critical -- ./app-tests"),
                Example(
                    purpose: "look for the test account's secrets",
                    line: "sallyport run --profile subject.profile -- ./login-test"),
            ],
            details: [
                "The command gets the proxy and trust variables that programs are known to read, with"
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
    var command: [String] = []
}

private func runCommand(
    _ arguments: RunArguments, _ environment: Environment
) async throws -> ExitCode {
    let signals = try StopSignals()
    var options = arguments.proxy
    options.listen = HostPort(host: "127.0.0.1", port: 0)
    let configuration = try arguments.inspection.configuration(environment)
    let service = try ProxyService(options, environment: environment, log: nil)
    let client = try ClientEnvironment(
        proxy: HostPort(service.server.address), authority: service.authority,
        inherited: environment.variables)
    defer { client.remove() }
    let ending = try await serve(service, signals) { () throws(Failure) in
        try ChildProcess.start(arguments.command, variables: client.variables)
    }
    let source = try environment.openCapture(service.capturePath)
    let report = try CaptureInspection.report(
        on: source, configuration: configuration, environment: environment)
    // The command owns the standard output; the verdict is talk beside it.
    var talk = environment
    talk.output = environment.diagnostics
    try talk.output.write(
        "\nsallyport: the command \(ending.text); recorded in "
            + "\(TerminalText.sanitized(service.capturePath))\n")
    try report.write(asJSON: arguments.isJSON, to: talk)
    let code = report.exitCode(failingFrom: arguments.failOn)
    return code == .clean && ending != .exited(0) ? .inconclusive : code
}

/// Serves until the child that `start` makes has ended.
private func serve(
    _ service: ProxyService, _ signals: StopSignals,
    while start: @escaping @Sendable () throws(Failure) -> ChildProcess
) async throws(Failure) -> ChildProcess.Ending {
    let box = OutcomeBox()
    startThread(named: "command") {
        do throws(Failure) {
            let child = try start()
            signals.watch(onStop: { child.send(SIGTERM) }, onTick: {})
            box.set(.success(child.wait()))
        } catch {
            box.set(.failure(error))
        }
        service.shutdown.request()
    }
    _ = try await service.run()
    guard let result = box.get() else {
        throw Failure("command-not-started", party: .tool, "the command was not started")
    }
    return try result.get()
}

/// How the command ended, told by the thread that waited for it.
private final class OutcomeBox: Sendable {
    private let value = Mutex<Result<ChildProcess.Ending, Failure>?>(nil)

    func set(_ result: Result<ChildProcess.Ending, Failure>) {
        value.withLock { $0 = result }
    }

    func get() -> Result<ChildProcess.Ending, Failure>? {
        value.withLock(\.self)
    }
}
