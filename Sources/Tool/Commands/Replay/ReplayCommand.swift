internal import Base
internal import CommandSyntax
internal import Glibc
internal import Launching
internal import Presentation
internal import Proxy
internal import Replay
internal import Runs
internal import Sockets
internal import TLS
internal import Terminal

extension Command {
    /// `replay`: what was recorded, put to use again.
    static var replay: Command {
        Command(
            "replay", "use a capture again: as origins, as a client, or to compare",
            examples: [
                Example(
                    purpose: "a proxy that knows its answers, and needs no network",
                    line: "sallyport replay origin session.sallyport"),
                Example(
                    purpose: "the recorded requests once more, with tokens that are live",
                    line: "sallyport replay client session.sallyport --to http://127.0.0.1:8080"),
                Example(
                    purpose: "which parts of requests change from one recording to the next",
                    line: "sallyport replay learn monday.sallyport tuesday.sallyport"),
            ],
            subcommands: [.replayOrigin, .replayClient, .replayLearn, .replayDiff])
    }

    private static var replayOrigin: Command {
        Command(
            "origin", "a proxy that answers from a capture",
            examples: [
                Example(
                    purpose: "in the place of every origin",
                    line: "sallyport replay origin session.sallyport"),
                Example(
                    purpose: "in front of one, for clients that know no proxy",
                    line: "sallyport replay origin session.sallyport"
                        + " --mode reverse:https://api.example.com --listen 127.0.0.1:8443"),
                Example(
                    purpose: "as often as it is asked, and as slowly as it was",
                    line: "sallyport replay origin session.sallyport --order cycle --timing 1"),
                Example(
                    purpose: "without regard to what 'replay learn' found to change",
                    line: "sallyport replay origin session.sallyport --rules session.rules"),
            ],
            details: [
                "A request is answered with what was recorded for one that is equal in method,"
                    + " origin, path, query and content, and has the same kind of content and"
                    + " authorization. One that has no answer gets 502, a field sallyport-miss, and"
                    + " the nearest recorded request with what differs. Nothing is sent to the"
                    + " network, and no name is resolved.",
                "It exits with 0, with 1 if there was a request that it had no answer for, and with 3"
                    + " if nothing was asked or connections had to be cut off.",
            ],
            arguments: ReplayArguments(),
            parameters: replayParameters
                + authorityParameters.map { $0.lifted(to: \.proxy.authority) },
            run: runReplay)
    }
}

private var replayParameters: [Parameter<ReplayArguments>] {
    [
        .positional(\.source, .path("CAPTURE"), "the capture to answer from"),
        .option(
            "listen", \.proxy.listen, .hostPort, standard: "127.0.0.1:8080",
            "the address to listen on; port 0 for a free one"),
        .repeated(
            "mode", \.proxy.modes, .portMode,
            "how clients come in, as 'sallyport proxy' has it (explicit)"),
        .option(
            "order", \.options.order, .choice("ORDER"), standard: "sequence",
            "which of several answers to equal requests: each once in sequence, or then stay"
                + " with the last, or cycle; always the first, or the last"),
        .option(
            "rules", \.rules, .path("FILE"),
            "what to ignore, match and substitute: see 'sallyport replay learn --help'"),
        .option(
            "timing", \.options.timing, .timing, standard: "0",
            "how slow: 1 is as recorded, 0 at once"),
        .flag(
            "refresh", \.options.refreshesDates,
            "move dates in responses as far as the recording is ago"),
        .option(
            "fallback", \.fallback, .choice("WHERE"), standard: "none",
            "where requests go whose method, origin and path were not recorded"),
        .repeated(
            "origin-ca", \.proxy.originAuthorities, .path("FILE"),
            "with a fallback, trust the CAs in this PEM file for origins, besides the system's"),
        .option(
            "capture", \.proxy.capture, .path("FILE"),
            "record what is asked and answered; nothing is recorded without"),
        .option(
            "proxy-auth", \.proxy.credentials, .path("FILE"),
            "a file with a user:password on each line; clients have to give one of them"),
        .option(
            "threads", \.proxy.loopCount, .count(from: 1), "event loops (one a processor)"),
        .flag(
            "json", \.isJSON,
            "say that it is ready in a line of JSON, and tell each miss in one on standard"
                + " error"),
    ]
}

/// Refuses to record into the capture that is replayed: the next replay would have twice as much.
func checkReplayCapture(_ capture: String?, from source: String) throws(UsageFailure) {
    guard let capture, Files.isSame(capture, source) else { return }
    throw UsageFailure(
        "--capture: \(capture) is the capture that is replayed",
        hint: "record into another one, which 'sallyport replay diff' can compare with it")
}

private struct ReplayArguments {
    var source = ""
    var proxy = ProxyOptions()
    var options = ReplayOptions()
    var rules: String?
    var fallback = ReplayFallback.none
    var isJSON = false

    /// Where requests go that are not recorded.
    enum ReplayFallback: String, CaseIterable {
        case none
        case network
    }

    /// Errors: those of reading the rules.
    var configuration: ReplayConfiguration {
        get throws(Failure) {
            var configuration = ReplayConfiguration()
            configuration.proxy = proxy
            configuration.options = options
            if let rules {
                configuration.options.rules = try ReplayRules(text: try Files.read(rules).text)
            }
            configuration.fallsBack = fallback == .network
            return configuration
        }
    }
}

extension ValueSyntax where Value == Int64 {
    /// A factor, read in thousandths.
    fileprivate static var timing: ValueSyntax {
        .reading("FACTOR", wanted: "a factor such as 0, 1 or 0.5") { text in
            guard let factor = Double(text), factor >= 0, factor <= 1000 else { return nil }
            return Int64(factor * 1000)
        }
    }
}

private func runReplay(
    _ arguments: ReplayArguments, _ environment: Environment
) async throws -> ExitCode {
    try checkReplayCapture(arguments.proxy.capture, from: arguments.source)
    let signals = try StopSignals()
    let service = try ReplayService(
        try environment.openCapture(arguments.source), try arguments.configuration,
        variables: environment.variables)
    signals.watch(
        onStop: { _ in service.stop() }, onTick: { if service.failure != nil { service.stop() } })
    let ready = ReadyMessage(
        of: service.server, arguments.proxy, service.authority, capture: service.capturePath,
        processID: getpid())
    if arguments.isJSON {
        try environment.output.write(ready.json)
    } else {
        try environment.output.write(ready.text + service.summary)
    }
    try environment.console.warn(of: ready)
    let log = MissLog(environment.console, isJSON: arguments.isJSON)
    let endedInOrder = try await withEvents(of: service.events) {
        try await service.run()
    } show: { event in
        log.tell(event)
    }
    if !arguments.isJSON {
        for remark in service.remarks { try environment.note(remark) }
    }
    if service.missCount > 0 { return .findings }
    return endedInOrder && service.hasServedAll ? .clean : .inconclusive
}
