internal import Base
internal import CommandSyntax
internal import Glibc
internal import Launching
internal import Presentation
internal import Proxy
internal import Runs
internal import TLS
internal import Terminal
internal import Views

extension Command {
    /// `proxy`: the main job.
    static var proxy: Command {
        Command(
            "proxy", "intercept and record until interrupted",
            examples: [
                Example(
                    purpose: "an explicit proxy that records into a file",
                    line: "sallyport proxy --capture session.sallyport"),
                Example(
                    purpose: "in front of one origin, for clients that know no proxy",
                    line: "sallyport proxy --mode reverse:https://api.example.com:443"
                        + " --listen 127.0.0.1:8443"),
                Example(
                    purpose: "several ways in, and a database behind one of them",
                    line: "sallyport proxy --mode explicit"
                        + " --mode reverse:tcp://127.0.0.1:5432@127.0.0.1:15432"),
                Example(
                    purpose: "beside a content server to try it with",
                    line: "sallyport proxy --with-content"),
                Example(
                    purpose: "for a script: a free port, and one line of JSON when ready",
                    line: "sallyport proxy --listen 127.0.0.1:0 --json"),
            ],
            details: [
                "The origin's certificate is verified; a client is not served by one that fails."
                    + " What clients are shown is signed by a CA of this installation, which nothing"
                    + " trusts until you say so: see 'sallyport ca --help'.",
                HelpTopic.configurationHelp,
                "At SIGUSR1 the files of --origin-ca, --client-cert and --upstream-auth are read again:"
                    + " connections that come in then are served by what they say, and those that"
                    + " are open go on as they began.",
                "SIGINT and SIGTERM end it: exchanges under way may finish for five seconds, and the"
                    + " capture is completed. It exits with 0, with 3 if exchanges had to be cut"
                    + " off, and with 4 if the capture could not be written.",
            ],
            arguments: ProxyArguments(),
            parameters: ownParameters + proxyParameters.map { $0.lifted(to: \.proxy) },
            run: runProxy)
    }
}

private var ownParameters: [Parameter<ProxyArguments>] {
    [
        .option(
            "listen", \.proxy.listen, .hostPort, standard: "127.0.0.1:8080",
            "the address to listen on; port 0 for a free one"),
        .repeated(
            "mode", \.proxy.modes, .portMode,
            "how clients come in, at --listen or at an address of its own: explicit (HTTP,"
                + " SOCKS and TLS on one port; the default), reverse:https://HOST[:PORT]"
                + " (or http, or tcp for whatever is spoken), transparent (redirected by"
                + " the system) or tproxy"),
        .flag(
            "with-content", \.withContent,
            "run the content server beside it, on ports 8081 and 8444"),
        .option(
            "content-listen", \.content.listen, .hostPort, standard: "127.0.0.1:8081",
            "the content server's address for http"),
        .option(
            "content-tls-listen", \.content.tlsListen, .hostPort,
            standard: "127.0.0.1:8444", "its address for https"),
        .option(
            "content-zone", \.content.zone, .domainName, standard: "sallyport.test",
            "what its hosts are below; clients of the proxy find them by name"),
        .option(
            "content-root", \.content.folder, .path("FOLDER"),
            "the folder that it serves, besides generated assets"),
        .option(
            "log", \.log, .choice("WHEN"), standard: "terminal",
            "when to print a line for each exchange: on a terminal, always or never"),
        .flag("json", \.isJSON, "say that it is ready in a line of JSON, and no more"),
    ]
}

/// The options of every command that starts a proxy.
var proxyParameters: [Parameter<ProxyOptions>] {
    [
        .option(
            "capture", \.capture, .path("FILE"),
            "where to record; a new file named for the time by default"),
        .repeated(
            "origin-ca", \.originAuthorities, .path("FILE"),
            "trust the CAs in this PEM file for origins, besides the system's"),
        .flag(
            "insecure-origin", \.servesUnverified,
            "serve clients although the origin's certificate does not verify; it is recorded"),
        .option(
            "origin-http", \.originVersion, .choice("VERSION"), standard: "auto",
            "the version of HTTP that origins are spoken to in; auto is the client's, as far as"
                + " the origin speaks it"),
        .option(
            "tls-min", \.leastTLS, .choice("VERSION"), standard: "1.2",
            "the lowest version of TLS on both legs"),
        .repeated(
            "pass-through", \.passed, .hostPattern,
            "do not decrypt this host; *.example.com is all below it"),
        .repeated(
            "only", \.intercepted, .hostPattern,
            "decrypt these hosts alone, and pass all others through"),
        .repeated("block", \.blocked, .hostPattern, "do not serve this host"),
        .option(
            "heal-after", \.healAfter, .count(),
            "pass a host through for a client that has rejected its certificate so often, for ten"
                + " minutes and with a try now and then; 0 for never (3)"),
        .repeated(
            "upstream", \.upstreams, .upstream,
            "reach origins through this proxy: http://HOST:PORT or socks5://HOST:PORT, for some"
                + " hosts alone with PATTERN= before it"),
        .repeated(
            "upstream-auth", \.upstreamCredentials, .upstreamCredential,
            "a file whose first line is the user:password for the upstream proxy; of several, write"
                + " HOST:PORT=FILE"),
        .option(
            "proxy-auth", \.credentials, .path("FILE"),
            "a file with a user:password on each line; clients have to give one of them"),
        .flag(
            "keep-alt-svc", \.keepsHTTP3,
            "let responses lead clients to HTTP/3, which is not intercepted"),
        .option(
            "body-limit", \.bodyLimit, .byteCount,
            "record no more than this of one body, and count the rest (1g)"),
        .option(
            "head-limit", \.headLimit, .byteCount(1 << 10...16 << 20),
            "take no longer head of HTTP/1 than this, from clients and origins, 1k to 16m (1m)"),
        .option(
            "threads", \.loopCount, .count(from: 1), "event loops (one a processor)"),
        .repeated(
            "ask-client-cert", \.asksForCertificates, .hostPattern,
            "ask clients of this host for a certificate, and record what they show; * for any host"),
    ] + clientCertificateParameters.map { $0.lifted(to: \.clientCertificates) }
        + authorityParameters.map { $0.lifted(to: \.authority) }
}

private struct ProxyArguments {
    var proxy = ProxyOptions()
    var content = ContentOptions()
    var withContent = false
    var log = LogOutput.terminal
    var isJSON = false

    enum LogOutput: String, CaseIterable {
        case terminal
        case always
        case never
    }

    func showsLog(on output: OutputStream) -> Bool {
        !isJSON && (log == .always || log == .terminal && output.isTerminal)
    }
}

private func runProxy(
    _ arguments: ProxyArguments, _ environment: Environment
) async throws -> ExitCode {
    let signals = try StopSignals(renews: true)
    var options = arguments.proxy
    if arguments.withContent { options.content = arguments.content }
    let events = RunEvents()
    let service = try ProxyService(options, variables: environment.variables, events: events)
    signals.watch(
        onStop: { _ in service.stop() }, onTick: { if service.failure != nil { service.stop() } })
    signals.watchRenewals { [options] in renewPolicy(of: service, as: options, environment) }
    let ready = ReadyMessage(
        of: service.server, options, service.authority, capture: service.capturePath,
        processID: getpid(), content: service.content?.place)
    if arguments.isJSON {
        try environment.output.write(ready.json)
    } else {
        try environment.output.write(ready.text + (service.content?.text ?? ""))
    }
    try environment.console.warn(of: ready)
    if arguments.showsLog(on: environment.output) {
        try LiveLogTask.start(events.subscribe(), to: environment.console)
    }
    let endedInOrder = try await service.run()
    if !arguments.isJSON { try tellEnd(of: service, environment) }
    return endedInOrder ? .clean : .inconclusive
}

/// Serves who comes from now on by what the options' files say now.
private func renewPolicy(
    of service: ProxyService, as options: ProxyOptions, _ environment: Environment
) {
    let line: String
    var hint: String?
    do throws(Failure) {
        let number = try service.exchange(options)
        line =
            "the files of the options were read again; connections that come in from now on are"
            + " served by policy \(number)"
    } catch {
        line = "SIGUSR1: \(error.detail); the policy stays as it was"
        hint = error.hint
    }
    do throws(Failure) {
        try environment.diagnostics.write("sallyport: \(TerminalText.sanitized(line))\n")
        if let hint { try environment.hint(hint) }
    } catch {
        // Nobody reads what it says, and its clients are served all the same.
    }
}

/// What was recorded, and what can be done with it.
private func tellEnd(of service: ProxyService, _ environment: Environment) throws(Failure) {
    let (connections, exchanges) = service.counts
    let path = service.capturePath
    try environment.diagnostics.write(
        "sallyport: recorded \(Quantity.text(exchanges, "exchange")) on"
            + " \(Quantity.text(connections, "connection")) in \(TerminalText.sanitized(path))\n")
    if connections > 0 {
        try environment.hint("'sallyport check \(shellQuoted(path))' judges what was recorded")
    }
}
