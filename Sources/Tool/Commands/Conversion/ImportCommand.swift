internal import Base
internal import CaptureStore
internal import Formats
internal import Launching
internal import PacketFormats
internal import TLS

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
    var format = Format.auto
    var keyLog: String?
    var isJSON = false

    enum Format: String, CaseIterable {
        case auto
        case har
        case pcap
        case mitmproxy
    }
}

private func runImport(
    _ arguments: ImportArguments, _ environment: Environment
) async throws -> ExitCode {
    guard let path = arguments.capture else {
        throw UsageFailure("'import' needs --capture", hint: "see 'sallyport import --help'")
    }
    let file = try environment.fileStreams.open(arguments.file)
    let start = try file.read()
    let importer = try importer(arguments, for: start)
    let isNew = !Files.exists(path)
    let progress = ConversionProgress("importing", total: file.size ?? 0, in: .bytes, environment)
    let store = try CaptureWriter(
        path: path, configuration: CaptureConfiguration(digest: Digests.sha256))
    let writer = ImportWriter(
        sink: store, nextConnection: store.nextConnectionID, nextExchange: store.nextExchangeID)
    var done: Int64 = 0
    var held: [UInt8]? = start
    var flaw: (any Error)?
    let stop = try StopFlag.ofSignals()
    writer.checkpoint = { try stop.check() }
    do {
        try await importer.read(
            {
                try stop.check()
                let bytes = try held.take() ?? file.read()
                done += Int64(bytes.count)
                if file.size != nil { try progress.advance(to: done) }
                return bytes
            }, into: writer)
    } catch {
        flaw = error
    }
    try progress.finish()
    try store.close()
    let isEmpty = writer.connectionCount + writer.exchangeCount + writer.messageCount == 0
    if let flaw, isEmpty {
        if isNew { Files.remove(path) }
        throw flaw
    }
    var summary = ConversionSummary(verb: "import", subject: path, losses: writer.losses)
    summary.counts = [
        ("connection", writer.connectionCount), ("exchange", writer.exchangeCount),
        ("message", writer.messageCount),
    ]
    try summary.write(asJSON: arguments.isJSON, to: environment, outputIsFree: true)
    if let flaw { throw Failure(keeping: flaw) }
    if isEmpty { try environment.note("there is nothing in \(arguments.file)") }
    return isEmpty ? .inconclusive : .clean
}

extension Failure {
    /// A flaw behind which nothing was read.
    fileprivate init(keeping flaw: any Error) {
        guard let failure = flaw as? Failure else {
            self.init("import-failed", party: .tool, "\(flaw)", hint: Self.kept)
            return
        }
        self.init(
            failure.code, party: failure.party, failure.detail, hint: failure.hint ?? Self.kept)
    }

    private static var kept: String { "what came before is in the capture" }
}

/// Errors: `format-unknown`, `file-unreadable`.
private func importer(
    _ arguments: ImportArguments, for start: [UInt8]
) throws(Failure) -> any CaptureImporter {
    let format = arguments.format == .auto ? .recognized(by: start) : arguments.format
    if arguments.keyLog != nil, format == .har || format == .mitmproxy {
        throw Failure(
            "key-log-unused", party: .tool,
            "\(arguments.file) is no file of packets, and --key-log decrypts nothing else",
            hint: "leave --key-log out")
    }
    switch format {
    case .har: return HARImporter()
    case .pcap: return try packetImporter(arguments)
    case .mitmproxy: return MitmproxyImporter()
    case .auto: throw unknownFormat(arguments.file, start)
    }
}

extension ImportArguments.Format {
    /// What a file is by its first bytes; `auto` if that cannot be told.
    fileprivate static func recognized(by start: [UInt8]) -> Self {
        // First: what begins a dump may also begin the compressed data of a HAR.
        if MitmproxyImporter.recognizes(start) { return .mitmproxy }
        if HARImporter.recognizes(start) { return .har }
        return PacketImporter.recognizes(start) ? .pcap : .auto
    }
}

private func unknownFormat(_ file: String, _ start: [UInt8]) -> Failure {
    if start.isEmpty {
        return Failure("format-unknown", party: .tool, "\(file) is empty")
    }
    if start.starts(with: "SQLite format 3".utf8) {
        return Failure(
            "format-unknown", party: .tool, "\(file) is a database, as captures are",
            hint: "name a capture to the other commands as it is")
    }
    return Failure(
        "format-unknown", party: .tool, "\(file) is in no format that is known",
        hint: "it can be HAR, also compressed, a dump of mitmproxy, pcap or pcapng")
}

private func packetImporter(_ arguments: ImportArguments) throws(Failure) -> PacketImporter {
    guard let path = arguments.keyLog else { return PacketImporter() }
    return PacketImporter(keyLog: try Files.read(path, byteLimit: 256 << 20))
}
