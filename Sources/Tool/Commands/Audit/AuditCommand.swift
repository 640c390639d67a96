internal import Audit
internal import Base
internal import Catalogue
internal import CommandSyntax
internal import Findings
internal import Launching
internal import Presentation
internal import Runs
internal import Terminal

extension Command {
    /// `audit`: whether clients authenticate their servers.
    static var audit: Command {
        Command(
            "audit", "show clients flawed servers, and tell which they wrongly accept",
            examples: [
                Example(
                    purpose: "a command, started once for each probe",
                    line: "sallyport audit -- curl -s {url}"),
                Example(
                    purpose: "in CI: the 13 probes that tell most, two at a time, with reports",
                    line: "sallyport audit --profile quick --jobs 2 --sarif audit.sarif"
                        + " --junit audit.xml -- ./client {url}"),
                Example(
                    purpose: "an app with a fixed host, which need not know of it",
                    line: "sallyport audit -- ./app --sync"),
                Example(
                    purpose: "a phone or a browser, through the proxy, while somebody uses it",
                    line: "sallyport audit --listen --at 0.0.0.0:8080 --targets '*.example.com'"),
                Example(
                    purpose: "how a downloader goes on where it broke off",
                    line: "sallyport audit --battery resume -- curl -C - -o {out} {url}"),
                Example(
                    purpose: "a client with a test suite of its own: a port for each probe",
                    line: "sallyport audit --serve 9000-9199"),
            ],
            details: [
                "The command runs in namespaces of its own where the system allows it, so that every"
                    + " name leads to the probes; {url}, {host}, {port}, {ca} and {probe} in its arguments"
                    + " are replaced. Elsewhere {url} is a port of this machine, and a command without"
                    + " it gets proxy variables; {proxy} asks for that.",
                "A client has accepted a server once it has sent data to it. What needs a trusted CA"
                    + " is only tried on a client that takes the sound server, 'control-good'. A"
                    + " client that stays silent is shown the probe again, and in the end reported"
                    + " as inconclusive, never as sound.",
                "The audit has a CA of its own, which nothing trusts but the command; for devices,"
                    + " install the one whose path is printed. Every connection is in the capture.",
                "A battery has the command download {url} to {out}, or upload {file} to {url}.",
                "Exit codes: 0 every verdict passed, 1 a client accepted what it must refuse, 2"
                    + " usage, 3 inconclusive, 4 could not run.",
            ],
            arguments: AuditOptions(),
            parameters: auditParameters
                + authorityParameters
                .filter { $0.name != "ca-scope" }
                .map { $0.lifted(to: \.audit.proxy.authority) },
            run: { options, environment in
                do {
                    return try await runAudit(options, environment)
                } catch let failure as Failure where usageFailures.contains(failure.code) {
                    throw UsageFailure(failure.detail, hint: failure.hint)
                }
            })
    }
}

private var auditParameters: [Parameter<AuditOptions>] {
    var parameters: [Parameter<AuditOptions>] = [
        .option(
            "profile", \.audit.profile, .choice("PROFILE"), standard: "standard",
            "how much is tried: the 13 probes that tell most, all that must be refused, or all"),
        .repeated(
            "probe", \.audit.probes, .text("ID"),
            "show this probe in place of those of the profile; ID* stands for all that begin so"),
        .option(
            "catalogue", \.audit.catalogue, .path("FOLDER"),
            "add the probes in this folder, or put them in place of ours"),
        .option(
            "trust", \.audit.trust, .choice("WAY"), standard: "env",
            "how the command is told to trust the audit's CA: variables and the system's files,"
                + " the files alone (overlay), or not at all"),
        .option(
            "jobs", short: "j", \.audit.jobs, .count(from: 1), standard: "1",
            "how many commands may run at once"),
        .option(
            "host", \.audit.host, .text("NAME"), standard: "www.shop.test",
            "the name that {host} and {url} stand for"),
        .option(
            "port", \.audit.port, .count(from: 1), standard: "443",
            "the port that {port} and {url} stand for; it tells the protocol, such as 993 for IMAP."
                + " At 443, {url} names none"),
        .option(
            "origin", \.audit.origin, .hostPort,
            "the true server, whose chain is presented where a probe needs a genuine one"),
        .repeated(
            "targets", \.audit.targets, .hostPattern, "audit connections to these hosts alone"),
        .option(
            "timeout", \.audit.timeout, .duration, standard: "30s", "for one run of the command"),
        .flag("no-namespaces", \.audit.isNeverConfined, "run the command as it is, beside a proxy"),
        .option(
            "client", \.audit.clientName, .text("NAME"), "what the client is called in reports"),
        .repeated(
            "client-source", \.audit.sources, .clientSource,
            "where a client is written, for reports that point at files"),
        .option("battery", \.battery, .choice("KIND"), "let transfers go wrong in place of TLS"),
        .flag("list", \.lists, "list the probes of the profile, and show none"),
        .flag("listen", \.listens, "audit clients that come by themselves, through a proxy"),
        .option(
            "at", \.audit.proxy.listen, .hostPort, standard: "127.0.0.1:8080",
            "where --listen listens, or --serve"),
        .option("serve", \.served, .portRange, "give each probe a port of its own"),
        .option(
            "capture", \.audit.proxy.capture, .path("FILE"),
            "where to record; a new file named for the time by default"),
        .flag("json", \.isJSON, "print the report as JSON"),
    ]
    parameters += reportParameters(
        [.json, .sarif, .junit], failures: "failures", verdicts: "all verdicts"
    ).map { $0.lifted(to: \.files) }
    parameters += [
        .flag("warnings-fail", \.failsOnWarnings, "let warnings fail as well"),
        .rest("COMMAND", \.command, isRequired: false, "the command and its arguments"),
    ]
    return parameters
}

/// What the catalogue has to be read for before it is known that the command line makes no sense.
private let usageFailures: Set<String> = ["unknown-probe", "too-few-ports"]

private func runAudit(
    _ options: AuditOptions, _ environment: Environment
) async throws -> ExitCode {
    if let kind = options.battery { return try await BatteryRun.run(kind, options, environment) }
    if options.lists { return try AuditList.write(options, environment) }
    let configuration = try options.configuration
    try options.files.check(besides: options.audit.proxy.capture)
    let events = RunEvents()
    let talk = AuditTalk(environment.console, isJSON: options.isJSON)
    let outcome = try await withEvents(of: events) {
        // An interrupt ends the process until there is somebody to watch for it: to make keys may
        // take half a minute.
        let audit = try AuditService(
            configuration, variables: environment.variables, events: events)
        return try await audit.run {
            // Clients that come by themselves leave nothing to insist on.
            try StopSignals().watch(
                onStop: audit.stop, onInsist: options.command.isEmpty ? nil : audit.insist,
                onTick: { talk.table.show(audit.listenProgress) })
        }
    } show: { event in
        talk.show(event)
    }
    try talk.finish(outcome, configuration)
    let code = try AuditReporting.write(outcome.report, options, environment)
    if !options.command.isEmpty { try talk.tellCapture(outcome) }
    return code
}
