internal import Base
internal import CommandSyntax
internal import Formats
internal import Launching
internal import Presentation
internal import Runs
internal import Terminal
internal import Views

extension Command {
    /// `import`: what another tool recorded, as a capture.
    static var importing: Command {
        Command(
            "import", "make a capture of what another tool recorded",
            examples: [
                Example(
                    purpose: "what a browser saved, judged like any recording",
                    line: "sallyport import session.har --capture session.sallyport"
                        + " && sallyport check session.sallyport"),
                Example(
                    purpose: "what Wireshark or tcpdump caught, with the keys of the client",
                    line: "sallyport import session.pcapng --key-log keys.log"
                        + " --capture session.sallyport"),
                Example(
                    purpose: "several files in one capture",
                    line: "sallyport import second.har --capture session.sallyport"),
            ],
            details: [
                "It reads HAR of Chrome, Firefox, Safari, Charles, mitmproxy, HTTP Toolkit and"
                    + " Insomnia, compressed too (.zhar), dumps of mitmproxy 5 and later, and both of"
                    + " 'sallyport export'. Of a file that is broken, it keeps what comes before"
                    + " the flaw.",
                "Of pcap and pcapng it reads TCP with HTTP/1 and HTTP/2, in TLS 1.2 and 1.3 as far"
                    + " as the keys are in the file or in a key log (SSLKEYLOGFILE). What is not"
                    + " decrypted, HTTP/2 whose beginning was not caught, and what comes behind"
                    + " missing packets becomes a connection with the reason. Messages of"
                    + " WebSockets, gRPC and event streams are told apart as in a recording, and"
                    + " what a server pushed is an exchange.",
                "The capture is made, or added to. What the file does not tell, such as the"
                    + " connections of most HAR files, is guessed and noted in the capture; what"
                    + " could not be kept is told after the import. It exits with 3 if there was"
                    + " nothing in the file, and with 4 if it is broken.",
            ],
            arguments: ImportArguments(),
            parameters: [
                .positional(\.file, .path("FILE"), "the file to read, - for the standard input"),
                .option("capture", \.capture, .path("CAPTURE"), "the capture to make or add to"),
                .option(
                    "format", \.format, .choice("FORMAT"), standard: "auto",
                    "what the file is; auto tells by its content"),
                .option(
                    "key-log", \.keyLog, .path("FILE"), "the secrets of TLS in packets"),
                .flag("json", \.isJSON, "tell what was read and lost as JSON"),
            ],
            run: runImport)
    }
}

private struct ImportArguments {
    var file = ""
    var capture: String?
    var format = ImportRun.Format.auto
    var keyLog: String?
    var isJSON = false
}

private func runImport(
    _ arguments: ImportArguments, _ environment: Environment
) async throws -> ExitCode {
    guard let path = arguments.capture else {
        throw UsageFailure("'import' needs --capture", hint: "see 'sallyport import --help'")
    }
    let file = try environment.fileStreams.open(arguments.file)
    let progress = ConversionProgress(
        "importing", total: file.size ?? 0, in: .bytes, on: environment.console)
    let stop = try StopFlag.ofSignals()
    let run = ImportRun(arguments.file, format: arguments.format, keyLog: arguments.keyLog)
    let report: ImportRun.Report
    do {
        report = try await run.read(
            file, into: path, check: { try stop.check() },
            progress: { if file.size != nil { try progress.advance(to: $0) } })
    } catch {
        try progress.finish()
        throw error
    }
    try progress.finish()
    var summary = ConversionSummary(verb: "import", subject: path, losses: report.losses)
    summary.counts = [
        ("connection", report.connections), ("exchange", report.exchanges),
        ("message", report.messages),
    ]
    try summary.write(asJSON: arguments.isJSON, to: environment.console, outputIsFree: true)
    if let flaw = report.flaw { throw flaw }
    if report.isEmpty { try environment.note("there is nothing in \(arguments.file)") }
    return report.isEmpty ? .inconclusive : .clean
}
