internal import Base
internal import Findings
internal import Launching
internal import Runs
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
            parameters: runParameters,
            run: runCommand)
    }
}

private var runParameters: [Parameter<RunArguments>] {
    var parameters: [Parameter<RunArguments>] = [
        .option(
            "fail-on", \.failOn, .choice("LEVEL"), standard: "high",
            "the least severity that fails"),
        .flag(
            "capture-all", \.capturesAll, "leave the command no way out but the proxy (Linux)"),
        .flag("json", \.isJSON, "print the verdict as JSON, on the standard error stream"),
        .rest("COMMAND", \.command, "the command and its arguments"),
    ]
    parameters += reportParameters(failures: "the findings", verdicts: "a verdict for each rule")
        .map { $0.lifted(to: \.files) }
    parameters += proxyParameters.map { $0.lifted(to: \.proxy) }
    parameters += inspectionParameters.map { $0.lifted(to: \.inspection) }
    return parameters
}

private struct RunArguments {
    var proxy = ProxyOptions()
    var inspection = InspectionOptions()
    var failOn = Severity.high
    var files = ReportFiles()
    var isJSON = false
    var capturesAll = false
    var command: [String] = []
}

private func runCommand(
    _ arguments: RunArguments, _ environment: Environment
) async throws -> ExitCode {
    try arguments.files.check(besides: arguments.proxy.capture)
    let signals = try StopSignals()
    let configuration = try arguments.inspection.configuration(environment)
    let outcome = try await ClientRun(
        arguments.command, proxy: arguments.proxy, capturesAll: arguments.capturesAll,
        variables: environment.variables
    ).run(started: { signals.watch(onStop: $0.forward, onInsist: $0.kill, onTick: {}) })
    let source = RecordsSince(
        outcome.firstRecords, in: try environment.openCapture(outcome.capturePath))
    let report = try CaptureInspection.report(
        on: source, configuration: configuration,
        progress: RunProgress("checking", environment).advance)
    // The command owns the standard output; the verdict is talk beside it.
    var talk = environment
    talk.output = environment.diagnostics
    try talk.output.write(
        "\nsallyport: the command \(outcome.ending.text); recorded in "
            + "\(TerminalText.sanitized(outcome.capturePath))\n")
    if arguments.capturesAll {
        let coverage = try CoverageReport(outcome, source)
        try talk.output.write(
            arguments.isJSON
                ? coverage.json.line + [UInt8(ascii: "\n")] : [UInt8](coverage.text.utf8))
    }
    try report.write(asJSON: arguments.isJSON, to: talk)
    try arguments.files.write(
        report, capture: outcome.capturePath, failingFrom: arguments.failOn)
    try tellFailures(in: source, of: outcome.capturePath, environment)
    if report.coverage.tlsConnections > report.coverage.clientRefused {
        try environment.note("whether it verifies its servers was not looked at")
        try environment.hint("'sallyport audit -- COMMAND' shows it flawed ones")
    }
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
