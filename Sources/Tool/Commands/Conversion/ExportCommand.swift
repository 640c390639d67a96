internal import Base
internal import CommandSyntax
internal import Filters
internal import Formats
internal import Launching
internal import Presentation
internal import Runs
internal import Terminal
internal import Traffic
internal import Views

extension Command {
    /// `export`: a capture in the format of another tool.
    static var export: Command {
        Command(
            "export", "write a capture in the format of another tool",
            examples: [
                Example(
                    purpose: "for a browser's network panel, Charles or mitmproxy",
                    line: "sallyport export session.sallyport --format har --output session.har"),
                Example(
                    purpose: "for Wireshark, with the keys that decrypt it",
                    line: "sallyport export session.sallyport --format pcapng --with-secrets"
                        + " --output session.pcapng"),
                Example(
                    purpose: "for mitmproxy and what is written for it",
                    line: "sallyport export session.sallyport --format mitmproxy"
                        + " --output session.mitm && mitmweb -r session.mitm"),
                Example(
                    purpose: "every content as a file, decoded",
                    line: "sallyport export session.sallyport --format bodies --output contents"),
                Example(
                    purpose: "only what one host answered with an error, with all secrets",
                    line: "sallyport export session.sallyport --format har --with-secrets"
                        + " --filter 'api.example and status>=400' > errors.har"),
            ],
            details: [
                "Secrets are written as *** unless --with-secrets is given: credentials, cookies,"
                    + " secrets in URLs, and the values of forms, JSON and multipart fields whose"
                    + " names say that they are secret. A content that is not what its type says is"
                    + " withheld. Other content is written as recorded.",
                "HAR 1.2 is written with what it has no place for in members that begin with '_';"
                    + " 'sallyport import' makes the same capture of it again. What was lost is"
                    + " told after the export.",
                "pcapng has an interface for each leg, whose packets are made: TLS is sealed anew"
                    + " under the recorded keys, which are in the file. A third one, decrypted,"
                    + " has the content in plain. Without --with-secrets there are heads alone.",
                "For mitmproxy, a dump is written that its version 11 and later read: contents as they"
                    + " were on the wire, those that were not recorded as missing, and a dialogue"
                    + " that is no HTTP as a TCP flow.",
                "As bodies, each content is written with its codings undone to a file in a new folder,"
                    + " named for its exchange, with an index.json, which comes last.",
                "A file has its name only once it is whole; an interrupt leaves nothing. It exits with 3"
                    + " if no exchange matches the filter.",
                filterHelp(for: .exchanges),
            ],
            arguments: ExportArguments(),
            parameters: [
                .positional(\.capture, .path("CAPTURE"), "the capture file"),
                .option("format", \.format, .choice("FORMAT"), standard: "har", "what to write"),
                .option(
                    "output", \.output, .path("FILE"),
                    "write to this new file or folder, for its owner only; else to the standard output"
                ),
                .flag("with-secrets", \.withSecrets, "mask nothing"),
                .flag("json", \.isJSON, "tell what was lost as JSON"),
            ] + filterParameters(for: .exchanges).map { $0.lifted(to: \.selection) },
            run: runExport)
    }
}

private struct ExportArguments {
    var capture = ""
    var format = ExportRun.Format.har
    var output: String?
    var selection = FilterOptions()
    var withSecrets = false
    var isJSON = false
}

private func runExport(
    _ arguments: ExportArguments, _ environment: Environment
) async throws -> ExitCode {
    if environment.output.isTerminal, arguments.output == nil, arguments.format.isBinary {
        throw UsageFailure(
            "'--format \(arguments.format.rawValue)' writes what is not for a terminal",
            hint: "name a file with --output, or pass it to another program")
    }
    if arguments.format == .bodies, arguments.output == nil {
        throw UsageFailure(
            "'--format bodies' needs --output, the folder to make",
            hint: "see 'sallyport export --help'")
    }
    let stop = try StopFlag.ofSignals()
    let check = { try stop.check() }
    let opened = try environment.openCapture(arguments.capture)
    let bar = ConversionProgress("exporting", total: 0, in: .bytes, on: environment.console)
    // On one terminal, the bar would stand in the middle of what is exported.
    let showsProgress = arguments.output != nil || !environment.output.isTerminal
    let progress = try ExportProgress(
        of: InterruptibleSource(opened, check: check), as: arguments.format,
        withSecrets: arguments.withSecrets
    ) { done, total in
        if showsProgress { try bar.advance(to: done, of: total) }
    }
    let source = InterruptibleSource(opened, progress: progress, check: check)
    var options = ExportOptions()
    options.withSecrets = arguments.withSecrets
    options.creatorVersion = CommandLineTool.version
    options.checkpoint = check
    options.progress = { passed in
        try check()
        try progress.pass(passed)
    }
    var hasNone = false
    if arguments.selection.filter != nil {
        let filter = try arguments.selection.open(source, environment) { try stop.check() }
        hasNone = true
        options.includes = { exchange in
            let isWanted = try filter.accepts(exchange)
            if isWanted { hasNone = false } else { progress.leaveOut(exchange) }
            return isWanted
        }
    }
    let report: LossReport
    do {
        report = try ExportRun(
            arguments.format, to: arguments.output, files: environment.fileStreams
        ).write(source, options) { try environment.output.write($0) }
    } catch {
        try bar.finish()
        throw error
    }
    try bar.finish()
    let summary = ConversionSummary(verb: "export", subject: arguments.output, losses: report)
    try summary.write(
        asJSON: arguments.isJSON, to: environment.console, outputIsFree: arguments.output != nil)
    if hasNone { try environment.note("no exchange matches the filter, and none was written") }
    return hasNone ? .inconclusive : .clean
}
