internal import Base
internal import CommandSyntax
internal import Filters
internal import HTTPClient
internal import Launching
internal import Origins
internal import Presentation
internal import Replay
internal import Runs
internal import TLS
internal import Terminal
internal import Views

extension Command {
    /// `replay client`: recorded requests, sent again.
    static var replayClient: Command {
        Command(
            "client", "send recorded requests again",
            examples: [
                Example(
                    purpose: "all of them to one origin, and compare what comes back",
                    line: "sallyport replay client session.sallyport --to http://127.0.0.1:8080"
                        + " --capture live.sallyport"),
                Example(
                    purpose: "which tokens and cookies would be replaced by live ones",
                    line: "sallyport replay client session.sallyport --list-substitutions"),
                Example(
                    purpose: "at the recorded times, twice as fast",
                    line: "sallyport replay client session.sallyport --to https://staging.example"
                        + " --timing 0.5"),
                Example(
                    purpose: "twenty a second, whatever they were",
                    line: "sallyport replay client session.sallyport --to http://127.0.0.1:8080"
                        + " --rate 20/s"),
            ],
            details: [
                "Requests are sent in the recorded order. Each waits for those that had ended in the"
                    + " recording before it began. On a WebSocket, and in a call of gRPC, each of the"
                    + " client's messages waits for as many of the origin's as had come before it.",
                "A value that a recorded response handed out (a cookie, a JSON string or number, a"
                    + " field of a form, a header, a meta element) and that a later request held is"
                    + " replaced by what the live response has in the same place.",
                "Without --to, requests go where they were recorded; there, only GET, HEAD, OPTIONS"
                    + " and TRACE are sent, unless the host is named with --allow.",
                "An interrupt sends nothing more and waits for what is under way. It exits with 0"
                    + " if every request was answered with a status of the recorded class (gRPC: with"
                    + " the recorded status and as many messages, WebSockets: with as many), 1 if one was not, 3"
                    + " if nothing was answered or some were not sent, and 4 if it could not run.",
            ],
            arguments: ReplayClientArguments(), parameters: parameters, run: runReplayClient)
    }

    private static var parameters: [Parameter<ReplayClientArguments>] {
        [
            .positional(\.source, .path("CAPTURE"), "the capture with the requests"),
            .repeated(
                "to", \.moves, .replayMove,
                "where requests go, all of them or those of one recorded host"),
            .repeated(
                "allow", \.allowed, .text("HOST"),
                "a recorded host that also gets requests that may change something"),
            .flag("unsafe", \.allowsAll, "the same for every recorded host"),
            .option(
                "timing", \.timing, .replayFactor,
                "send at the recorded times multiplied by this; 1 is as recorded"),
            .option("rate", \.rate, .replayRate, "send so many a second, such as 20/s"),
            .option(
                "concurrency", \.concurrency, .count(from: 1), standard: "64",
                "how many may be under way at once"),
            .option(
                "stop-after", \.stopAfter, .count(from: 1),
                "stop when so many requests in a row had no answer"),
            .flag(
                "list-substitutions", \.listsSubstitutions, "list what is replaced; send nothing"),
            .repeated(
                "keep", \.keeps, .text("PLACE"),
                "a place of responses, as the list has it, whose values stay as recorded"),
            .flag("no-substitutions", \.keepsAll, "send every value as it was recorded"),
            .repeated(
                "ca", \.authorities, .path("FILE"),
                "certificates to trust besides the system's, in PEM"),
            .option(
                "http", \.versions, .choice("VERSION"), standard: "auto",
                "the version of HTTP to speak; auto is the recorded one, as far as the origin"
                    + " speaks it"),
            .repeated(
                "upstream", \.upstreams, .upstream,
                "reach origins through this proxy, as `proxy` does"),
            .repeated(
                "upstream-auth", \.upstreamCredentials, .upstreamCredential,
                "a file with the user:password for the upstream proxy, as `proxy` has it"),
            .option(
                "capture", \.capture, .path("FILE"),
                "record what is sent and answered, into a new file"),
            .flag("json", \.isJSON, "report in JSON"),
        ] + clientCertificateParameters.map { $0.lifted(to: \.clientCertificates) }
            + filterParameters(for: .exchanges).map { $0.lifted(to: \.selection) }
    }
}

struct ReplayClientArguments {
    var source = ""
    var moves: [ReplayMove] = []
    var allowed: [String] = []
    var allowsAll = false
    var timing: Int64?
    var rate: Int64?
    var concurrency: Int64 = 64
    var stopAfter: Int64?
    var listsSubstitutions = false
    var keeps: [String] = []
    var keepsAll = false
    var authorities: [String] = []
    var clientCertificates = ClientCertificates()
    var versions = ClientVersions.auto
    var upstreams: [UpstreamProxy] = []
    var upstreamCredentials: [UpstreamCredentialFile] = []
    var capture: String?
    var isJSON = false
    var selection = FilterOptions()

    /// What is sent, and how, but for the certificates.
    var configuration: ReplayClientConfiguration {
        var configuration = ReplayClientConfiguration()
        if let rate {
            configuration.pace = .rate(thousandths: rate)
        } else if let timing {
            configuration.pace = .timing(thousandths: timing)
        }
        configuration.timing = timing
        configuration.destinations = destinations
        configuration.concurrency = Int(concurrency)
        configuration.stopAfter = stopAfter
        configuration.versions = versions
        configuration.capture = capture
        return configuration
    }

    var destinations: ReplayDestinations {
        var destinations = ReplayDestinations()
        for move in moves {
            if let host = move.host {
                destinations.moved[host] = move.target
            } else {
                destinations.standard = move.target
            }
        }
        destinations.allowed = Set(allowed)
        destinations.allowsAll = allowsAll
        return destinations
    }
}

extension ValueSyntax where Value == ReplayMove {
    static var replayMove: ValueSyntax {
        .reading(
            "[HOST=]URL", wanted: "the URL of an origin",
            hint: "write it like https://127.0.0.1:8443, or api.example=http://127.0.0.1:8080"
        ) { text in
            let host = text.prefix { $0 != "=" && $0 != "/" }
            let isMove = text.dropFirst(host.count).first == "=" && !host.isEmpty
            let url = isMove ? String(text.dropFirst(host.count + 1)) : text
            return OriginTarget(url: url).map {
                ReplayMove(host: isMove ? String(host) : nil, target: $0)
            }
        }
    }
}

extension ValueSyntax where Value == Int64 {
    /// A factor, read in thousandths.
    fileprivate static var replayFactor: ValueSyntax {
        .reading("FACTOR", wanted: "a factor such as 1 or 0.5") { text in
            guard let factor = Double(text), factor >= 0, factor <= 1000 else { return nil }
            return Int64(factor * 1000)
        }
    }

    /// A number a second, read in thousandths.
    fileprivate static var replayRate: ValueSyntax {
        .reading("N/s", wanted: "a rate", hint: "write it like 20/s or 0.5/s") { text in
            guard text.hasSuffix("/s"), let rate = Double(text.dropLast(2)), rate >= 0.001,
                rate <= 100_000
            else { return nil }
            return Int64(rate * 1000)
        }
    }
}

private func runReplayClient(
    _ arguments: ReplayClientArguments, _ environment: Environment
) async throws -> ExitCode {
    guard arguments.rate == nil || arguments.timing == nil else {
        throw UsageFailure("--rate and --timing exclude each other")
    }
    try checkReplayCapture(arguments.capture, from: arguments.source)
    let source = try environment.openCapture(arguments.source)
    let filter = try arguments.selection.open(source, environment)
    let plan = try ReplayPlan(
        source, substitutes: !arguments.keepsAll, keeps: Set(arguments.keeps)
    ) { try filter.accepts($0) }
    if arguments.listsSubstitutions {
        try list(plan.substitutions, asJSON: arguments.isJSON, environment)
        return .clean
    }
    var configuration = arguments.configuration
    for path in arguments.authorities {
        configuration.authorities += try Certificate.authorities(
            inPEM: try environment.readFile(path), name: path)
    }
    configuration.identities = try arguments.clientCertificates.read()
    configuration.upstreams = try UpstreamCredentialFile.authorize(
        arguments.upstreams, by: arguments.upstreamCredentials)
    let service = try ReplayClientService(plan, configuration, from: source)
    try StopSignals().watch(
        onStop: { _ in service.stop() }, onTick: service.stopIfUnrecorded)
    let bar = RunProgress("sending", on: environment.console)
    let report = try await withEvents(of: service.events) {
        try await service.run()
    } show: { event in
        if case .progress(let done, let total) = event { bar.advance(to: done, of: total) }
    }
    try bar.finish()
    if arguments.isJSON {
        var members: [JSONText.Member] = []
        if case .object(let own) = report.json { members = own }
        members.append(.init("substitutions", plan.substitutions.json))
        members.append(.init("capture", .optional(arguments.capture)))
        try environment.output.write(JSONText.object(members).document)
    } else {
        try ReplayClientText.write(report, to: environment.console)
        if report.answeredCount == 0, report.failedCount > 0 {
            try environment.hint(
                "see whether the origin is up and --to is right; --stop-after 10 ends sooner")
        }
    }
    return switch report.verdict {
    case .same: .clean
    case .different: .findings
    case .inconclusive: .inconclusive
    }
}

private func list(
    _ substitutions: SubstitutionPlan, asJSON isJSON: Bool, _ environment: Environment
) throws(Failure) {
    guard !isJSON else {
        let document: JSONText = [
            "schema": "sallyport.replay-client/1", "substitutions": substitutions.json,
        ]
        return try environment.output.write(document.document)
    }
    let lines = substitutions.lines
    let text = (lines.isEmpty ? ["no request holds a value of a response"] : lines)
        .map { TerminalText.sanitized($0) + "\n" }
    try environment.output.write(text.joined())
}
