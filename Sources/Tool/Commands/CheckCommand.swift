internal import Base
internal import CommandSyntax
internal import Filters
internal import Findings
internal import Launching
internal import Presentation
internal import Runs
internal import Terminal
internal import Traffic
internal import Views

extension Command {
    /// `check`: what is wrong with recorded traffic.
    static var check: Command {
        Command(
            "check", "flag cleartext credentials, bad TLS and other findings in a capture",
            examples: [
                Example(
                    purpose: "what was found",
                    line: "sallyport check session.sallyport"),
                Example(
                    purpose: "in CI: fail on anything from medium on, report as JSON",
                    line: "sallyport check session.sallyport --fail-on medium --format json"
                        + " > findings.json"),
                Example(
                    purpose: "for code scanning, and as test results",
                    line: "sallyport check session.sallyport --sarif findings.sarif"
                        + " --junit findings.xml"),
                Example(
                    purpose: "what another tool recorded: HAR, packets, or mitmproxy's",
                    line: "sallyport check session.pcapng --key-log keys.log"),
                Example(
                    purpose: "judge one host only",
                    line: "sallyport check session.sallyport --filter 'host=*.shop.example'"),
                Example(
                    purpose: "look for the values of the test account, wherever they went",
                    line: "sallyport check session.sallyport --profile subject.profile"),
            ],
            details: [
                "It exits with 0 if nothing was found, 1 for a finding of at least the level of"
                    + " --fail-on that is no mere guess, 3 if what was recorded proves nothing (no"
                    + " traffic, every client refused, or a recorder that was killed), and 4 if it"
                    + " could not run. The report holds no secret that was recorded.",
                "The profile names the values of the test subject and who may receive them, a line"
                    + " each: 'owner: *.shop.example', 'password.account = correct-horse-7'.",
                "With a filter, only the exchanges and connections that match are judged; what one"
                    + " of both has no field for does not match. " + filterHelp(for: .records),
            ],
            arguments: CheckArguments(),
            parameters: checkParameters,
            run: runCheck)
    }
}

private var checkParameters: [Parameter<CheckArguments>] {
    var parameters: [Parameter<CheckArguments>] = [
        .positional(
            \.capture, .path("CAPTURE"), "the capture, or a file that 'sallyport import' reads"),
        .option(
            "key-log", \.keyLog, .path("FILE"), "the secrets of TLS in a file of packets"),
        .option("format", \.format, .choice("FORMAT"), standard: "text", "how to report"),
        .flag("json", \.isJSON, "the same as --format json"),
    ]
    parameters += judgingParameters.map { $0.lifted(to: \.judging) }
    parameters += reportParameters(
        [.json, .sarif, .junit, .gitlab, .html, .baseline, .annotations],
        failures: "the findings", verdicts: "a verdict for each rule"
    ).map { $0.lifted(to: \.files) }
    parameters += filterParameters(for: .records).map { $0.lifted(to: \.selection) }
    parameters += inspectionParameters.map { $0.lifted(to: \.selection.inspection) }
    return parameters
}

private struct CheckArguments {
    var capture = ""
    var keyLog: String?
    var format = Format.text
    var isJSON = false
    var judging = JudgingOptions()
    var files = ReportFiles()
    var selection = FilterOptions()

    enum Format: String, CaseIterable {
        case text
        case json
    }
}

private func runCheck(
    _ arguments: CheckArguments, _ environment: Environment
) async throws -> ExitCode {
    let configuration = try arguments.judging.configuration(
        arguments.selection.inspection, environment)
    try arguments.files.check(besides: arguments.capture)
    let foreign = try await foreignCapture(arguments, environment)
    let source = try foreign?.capture.source ?? environment.openCapture(arguments.capture)
    // Before the records are read: a recorder that ends meanwhile has written more than those.
    let isInterrupted = try source.isInterrupted
    let progress = RunProgress("checking", on: environment.console)
    var report = try CaptureInspection.report(
        on: source, configuration: configuration,
        selection: try arguments.selection.open(source, environment),
        progress: { done, total in
            try foreign?.stop.check()
            progress.advance(to: done, of: total)
        })
    let flaw = foreign?.capture.report.flaw
    // No file of it may say that all is well.
    if flaw != nil { report = report.inconclusive(for: .fileUnfinished) }
    if isInterrupted { report = report.inconclusive(for: .recordingInterrupted) }
    let isJSON = arguments.isJSON || arguments.format == .json
    if isJSON {
        try environment.output.write(FindingsJSON.document(report).line + [0x0A])
    } else {
        let isColored = environment.console.palette.isColoured
        try environment.output.write(
            FindingsText.render(report, verbose: arguments.judging.isVerbose, color: isColored))
    }
    let subject = ReportSubject(
        toolVersion: CommandLineTool.version, capture: Files.relative(arguments.capture))
    try arguments.files.write(besides: arguments.capture, environment) { format in
        report.document(format, of: subject)
    }
    if let flaw {
        throw Failure(
            flaw.code, party: flaw.party, flaw.detail, hint: "what stands before it was judged")
    }
    let isAccepted = arguments.files.paths[.baseline] != nil && configuration.baseline == nil
    if isAccepted, !report.findings.isEmpty {
        try environment.note("with --baseline, only what was not found now fails")
    }
    let verdict = GateVerdict(report, isAccepted: isAccepted)
    if !isJSON { try environment.output.write("\n\(TerminalText.sanitized(verdict.text))\n") }
    return ExitCode(verdict.kind)
}

/// Another tool's file, read into a capture for the while; `nil` if it is a capture already.
private func foreignCapture(
    _ arguments: CheckArguments, _ environment: Environment
) async throws -> (capture: ForeignCapture, stop: StopFlag)? {
    do throws(Failure) {
        _ = try environment.openCapture(arguments.capture)
        return nil
    } catch {
        guard error.code == "capture-not-a-capture",
            CaptureOpening.isImportable(arguments.capture)
        else { throw error }
    }
    let file = try environment.fileStreams.open(arguments.capture)
    let progress = ConversionProgress(
        "reading", total: file.size ?? 0, in: .bytes, on: environment.console)
    let stop = try StopFlag.ofSignals()
    let foreign = try await ForeignCapture(
        ImportRun(arguments.capture, format: .auto, keyLog: arguments.keyLog), file,
        variables: environment.variables, check: { try stop.check() },
        progress: { if file.size != nil { try progress.advance(to: $0) } })
    try progress.finish()
    let summary = ConversionSummary(
        verb: "import", subject: arguments.capture, losses: foreign.report.losses)
    try summary.write(asJSON: false, to: environment.console, outputIsFree: false)
    return (foreign, stop)
}
