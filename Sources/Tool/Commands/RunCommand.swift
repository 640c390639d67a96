internal import Base
internal import CommandSyntax
internal import Findings
internal import Launching
internal import Presentation
internal import Replay
internal import Runs
internal import Terminal
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
                    purpose: "offline: a recorded session in the place of every origin",
                    line: "sallyport run --replay session.sallyport -- npm test"),
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
                    + " ignores them is not captured; its TCP connections to other machines are seen"
                    + " as far as they last some milliseconds, and make a run inconclusive, as it is"
                    + " one in which nothing was seen.",
                HelpTopic.configurationHelp,
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
            "exit-status", \.exitStatus, .choice("WHOSE"), standard: "verdict",
            "whose exit status this one is"),
        .flag(
            "capture-all", \.capturesAll, "leave the command no way out but the proxy (Linux)"),
        .option(
            "replay", \.replayed, .path("CAPTURE"),
            "answer from this capture in the place of every origin, without a network"),
        .option(
            "order", \.order, .choice("ORDER"), standard: "sequence",
            "which of several answers to equal requests then: see 'sallyport replay origin --help'"),
        .option(
            "rules", \.rules, .path("FILE"),
            "what to ignore, match and substitute then: see 'sallyport replay learn --help'"),
        .repeated(
            "expect-past", \.expectedPast, .pastPattern,
            "let connections past the proxy to this address leave the verdict alone; * is all"),
        .flag("json", \.isJSON, "print the report as JSON, on the standard error stream"),
        .rest("COMMAND", \.command, "the command and its arguments"),
    ]
    parameters += judgingParameters.map { $0.lifted(to: \.judging) }
    parameters += reportParameters(
        [.json, .sarif, .junit, .gitlab, .html, .annotations],
        failures: "the findings", verdicts: "a verdict for each rule"
    ).map { $0.lifted(to: \.files) }
    parameters += proxyParameters.map { $0.lifted(to: \.proxy) }
    parameters += inspectionParameters.map { $0.lifted(to: \.inspection) }
    return parameters
}

private struct RunArguments {
    var proxy = ProxyOptions()
    var inspection = InspectionOptions()
    var judging = JudgingOptions()
    var exitStatus = ExitStatus.verdict
    var files = ReportFiles()
    var isJSON = false
    var capturesAll = false
    var expectedPast: [PastPattern] = []
    var replayed: String?
    var rules: String?
    var order: ReplayOrder?
    var command: [String] = []

    enum ExitStatus: String, CaseIterable {
        case command
        case verdict
        /// The command's if it failed, else the verdict's.
        case both
    }

    /// Errors: those of reading the capture and the rules.
    func responder(_ environment: Environment) throws -> ReplayResponder? {
        guard let replayed else {
            guard rules == nil else { throw UsageFailure("--rules: goes with --replay") }
            guard order == nil else { throw UsageFailure("--order: goes with --replay") }
            return nil
        }
        try checkReplayCapture(proxy.capture, from: replayed)
        var options = ReplayOptions()
        if let order { options.order = order }
        if let rules { options.rules = try ReplayRules(text: try Files.read(rules).text) }
        return try ReplayResponder(try environment.openCapture(replayed), options)
    }
}

private func runCommand(
    _ arguments: RunArguments, _ environment: Environment
) async throws -> ExitCode {
    try arguments.files.check(besides: arguments.proxy.capture)
    let signals = try StopSignals()
    let configuration = try arguments.judging.configuration(arguments.inspection, environment)
    let outcome = try await ClientRun(
        arguments.command, proxy: arguments.proxy, capturesAll: arguments.capturesAll,
        answeredBy: try arguments.responder(environment), variables: environment.variables
    ).run(started: { signals.watch(onStop: $0.forward, onInsist: $0.kill, onTick: {}) })
    let report = try RunReport(
        outcome, in: try environment.openCapture(outcome.capturePath),
        configuration: configuration, expecting: arguments.expectedPast,
        progress: RunProgress("checking", on: environment.console).advance)
    let version = CommandLineTool.version
    if arguments.isJSON {
        try environment.diagnostics.write(report.json(toolVersion: version).line + [0x0A])
    } else {
        try tell(report, verbose: arguments.judging.isVerbose, environment)
    }
    try arguments.files.write(besides: outcome.capturePath, environment) { format in
        report.document(format, toolVersion: version)
    }
    return report.exitCode(arguments.exitStatus)
}

/// The command owns the standard output; the verdict is talk beside it.
private func tell(
    _ report: RunReport, verbose isVerbose: Bool, _ environment: Environment
) throws(Failure) {
    let talk = environment.diagnostics
    try talk.write("\n")
    for line in report.lines {
        try talk.write("sallyport: \(TerminalText.sanitized(line))\n")
    }
    try talk.write(
        FindingsText.render(
            report.findings, verbose: isVerbose,
            color: Palette(for: talk, variables: environment.variables).isColoured))
    // What to do is said once, however often it is needed.
    var hints: Set<String> = []
    for remark in report.remarks {
        try environment.note(remark.note)
        if hints.insert(remark.hint).inserted { try environment.hint(remark.hint) }
    }
    try talk.write("sallyport: \(TerminalText.sanitized(report.verdict.text))\n")
}

extension RunReport {
    fileprivate func exitCode(_ whose: RunArguments.ExitStatus) -> ExitCode {
        let ofVerdict = ExitCode(verdict.kind)
        let ofCommand = ExitCode.ofCommand(outcome.ending.status)
        return switch whose {
        case .command: ofCommand
        case .verdict: ofVerdict
        case .both: outcome.ending == .exited(0) ? ofVerdict : ofCommand
        }
    }
}
