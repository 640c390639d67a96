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
                    purpose: "in CI: the command's own status, and a report for code scanning",
                    line: "sallyport run --exit-status both --output run.json --sarif run.sarif"
                        + " -- npm test"),
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
                    + " no origin answered, every client refused the CA, or the command failed), 4"
                    + " could not run. With --exit-status command it is the command's own, 128 and"
                    + " the number of a signal that ended it; with both, that of a command that"
                    + " failed, and the verdict's otherwise.",
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
        .option(
            "exit-status", \.exitStatus, .choice("WHOSE"), standard: "verdict",
            "whose exit status this one is"),
        .flag(
            "capture-all", \.capturesAll, "leave the command no way out but the proxy (Linux)"),
        .flag("json", \.isJSON, "print the report as JSON, on the standard error stream"),
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
    var exitStatus = ExitStatus.verdict
    var files = ReportFiles()
    var isJSON = false
    var capturesAll = false
    var command: [String] = []

    enum ExitStatus: String, CaseIterable {
        case command
        case verdict
        /// The command's if it failed, else the verdict's.
        case both
    }
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
    let report = try RunReport(
        outcome, in: try environment.openCapture(outcome.capturePath),
        configuration: configuration, failingFrom: arguments.failOn,
        progress: RunProgress("checking", environment).advance)
    let version = CommandLineTool.version
    if arguments.isJSON {
        try environment.diagnostics.write(report.json(toolVersion: version).line + [0x0A])
    } else {
        try tell(report, environment)
    }
    try arguments.files.write(
        besides: outcome.capturePath, json: report.json(toolVersion: version),
        sarif: report.sarif(toolVersion: version), junit: report.junit(toolVersion: version))
    return report.exitCode(arguments.exitStatus)
}

/// The command owns the standard output; the verdict is talk beside it.
private func tell(_ report: RunReport, _ environment: Environment) throws(Failure) {
    let talk = environment.diagnostics
    let outcome = report.outcome
    try talk.write("\n")
    let lines = ["the command \(outcome.ending.text); recorded in \(outcome.capturePath)"]
    for line in lines + (report.coverage?.lines ?? []) {
        try talk.write("sallyport: \(TerminalText.sanitized(line))\n")
    }
    try talk.write(
        FindingsText.render(
            report.findings, and: report.besides.map { TerminalText.sanitized($0.text) },
            color: Palette(for: talk, variables: environment.variables).isColoured))
    for remark in report.remarks {
        try environment.note(remark.note)
        try environment.hint(remark.hint)
    }
}

extension RunReport {
    fileprivate func exitCode(_ whose: RunArguments.ExitStatus) -> ExitCode {
        let ofVerdict: ExitCode =
            switch verdict {
            case .clean: .clean
            case .findings: .findings
            case .inconclusive: .inconclusive
            }
        let ofCommand = ExitCode.ofCommand(outcome.ending.status)
        return switch whose {
        case .command: ofCommand
        case .verdict: ofVerdict
        case .both: outcome.ending == .exited(0) ? ofVerdict : ofCommand
        }
    }
}
