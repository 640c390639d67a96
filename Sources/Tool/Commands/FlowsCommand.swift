internal import Base
internal import CommandSyntax
internal import Contents
internal import Filters
internal import Presentation
internal import Terminal
internal import Traffic
internal import Views

extension Command {
    /// `flows`: what was recorded of exchanges.
    static var flows: Command {
        Command(
            "flows", "list and show recorded exchanges",
            examples: [
                Example(
                    purpose: "every exchange, a line each",
                    line: "sallyport flows list session.sallyport"),
                Example(
                    purpose: "one exchange in full",
                    line: "sallyport flows show session.sallyport 7"),
            ],
            subcommands: [.flowsList, .flowsShow])
    }

    private static var flowsList: Command {
        Command(
            "list", "list recorded exchanges, a line each",
            examples: [
                Example(
                    purpose: "every exchange",
                    line: "sallyport flows list session.sallyport"),
                Example(
                    purpose: "what one host answered with an error",
                    line: "sallyport flows list session.sallyport"
                        + " --filter 'api.example and status>=400'"),
                Example(
                    purpose: "in which contents a name stands, whatever their coding",
                    line: "sallyport flows list session.sallyport --filter 'body~nora@shop.example'"
                ),
                Example(
                    purpose: "what bad findings are about",
                    line: "sallyport flows list session.sallyport"
                        + " --filter 'finding.severity>=high'"),
                Example(
                    purpose: "for a program: JSON Lines in the schema sallyport.flow/1",
                    line: "sallyport flows list session.sallyport --json | jq -r .url"),
                Example(
                    purpose: "downloads and uploads, each with all its attempts and parts",
                    line: "sallyport flows list session.sallyport --transfers"),
            ],
            details: [
                "Secrets in URLs (userinfo, and the values of parameters whose names look secret)"
                    + " are shown as *** unless --with-secrets is given.",
                "With --transfers, the requests by which one client fetched or sent one resource are"
                    + " one line: range requests, retries, resumed uploads. In its map # is what"
                    + " came, = what came more than once, ! what came again with other bytes, + a"
                    + " part of it, and . what did not come. With --json they are in the schema"
                    + " sallyport.transfer/1.",
                filterHelp(for: .exchanges),
            ],
            arguments: FlowsListArguments(),
            parameters: [
                .positional(\.capture, .path("CAPTURE"), "the capture file"),
                .option("limit", \.limit, .count(from: 1), "no more than the first N"),
                .option(
                    "columns", \.columns, .columns(FlowTable.columns.map(\.name)),
                    "these columns, in this order: \(FlowTable.columns.map(\.name).joined(separator: ","))"
                ),
                .flag("follow", \.follows, "go on with each exchange when it ends"),
                .flag("transfers", \.joinsTransfers, "join the parts of downloads and uploads"),
                .flag("json", \.isJSON, "print JSON Lines"),
                .flag("with-secrets", \.withSecrets, "show URLs as they were recorded"),
            ] + filterParameters(for: .exchanges).map { $0.lifted(to: \.selection) },
            run: listFlows)
    }
}

private struct FlowsListArguments {
    var capture = ""
    var selection = FilterOptions()
    var limit: Int64?
    var columns: [String]?
    var follows = false
    var joinsTransfers = false
    var isJSON = false
    var withSecrets = false
}

private func listFlows(
    _ arguments: FlowsListArguments, _ environment: Environment
) async throws -> ExitCode {
    let source = try environment.openCapture(arguments.capture)
    let filter = try arguments.selection.open(source, environment)
    if arguments.joinsTransfers {
        try listTransfers(arguments, source, filter, environment)
        return .clean
    }
    // JSON alone names the client.
    let clients = arguments.isJSON && !arguments.follows ? try source.clients() : [:]
    var table = Listing(FlowTable.columns, names: arguments.columns, to: environment.console)
    var lines = LineWriter(environment.output)
    let most = arguments.limit ?? Int64.max
    var left = most
    func list(_ exchange: ExchangeSummary) throws -> Bool {
        let connection = exchange.record.connection
        let client =
            arguments.isJSON && arguments.follows
            ? try source.connection(connection)?.client : clients[connection]
        let flow = FlowSummary(
            exchange, client: client ?? "", withSecrets: arguments.withSecrets)
        if arguments.isJSON {
            try lines.write(flow.json.line)
        } else {
            try table.append(flow)
        }
        left -= 1
        return left > 0
    }
    func flush() throws {
        try lines.flush()
        try table.finish()
    }
    if arguments.follows {
        var follower = try RecordFollower(.exchanges, of: source)
        try follower.follow(
            all: source.exchanges, record: source.exchange,
            isEnded: { ($0.id, $0.durationMicroseconds != nil) },
            visit: { try !filter.accepts($0) || list(ExchangeSummary($0)) }, flush: flush)
        return .clean
    }
    if arguments.selection.filter == nil {
        try source.summaries(ExchangeQuery(), list)
    } else {
        try source.exchanges { exchange in
            try !filter.accepts(exchange) || list(ExchangeSummary(exchange))
        }
    }
    try flush()
    if left == most, !arguments.isJSON {
        try environment.note(
            arguments.selection.filter == nil
                ? "no exchange was recorded; 'sallyport connections' tells who connected"
                : "no exchange matches the filter")
    }
    return .clean
}

private func listTransfers(
    _ arguments: FlowsListArguments, _ source: any TrafficStore, _ filter: CaptureFilter,
    _ environment: Environment
) throws {
    guard !arguments.follows, arguments.columns == nil else {
        throw UsageFailure("--transfers goes with neither --follow nor --columns")
    }
    try TransferListing(
        limit: arguments.limit, isJSON: arguments.isJSON, withSecrets: arguments.withSecrets
    ).write(source, filter, to: environment.console)
}
