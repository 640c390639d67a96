internal import Base
internal import Filters
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
        try TransferListing(
            limit: arguments.limit, isJSON: arguments.isJSON, withSecrets: arguments.withSecrets
        ).write(source, filter, environment)
        return .clean
    }
    let clients = try ConnectionSummary.clients(of: source)
    var table = FlowTable(environment)
    var lines = LineWriter(environment.output)
    let most = arguments.limit ?? Int64.max
    var left = most
    try source.exchanges { exchange in
        guard try filter.accepts(exchange) else { return true }
        let client = clients[exchange.connection] ?? ""
        let flow = FlowSummary(exchange, client: client, withSecrets: arguments.withSecrets)
        if arguments.isJSON {
            try lines.write(flow.json.line)
        } else {
            try table.append(flow)
        }
        left -= 1
        return left > 0
    }
    try lines.flush()
    try table.finish()
    if left == most, !arguments.isJSON {
        try environment.note(
            arguments.selection.filter == nil
                ? "no exchange was recorded; 'sallyport connections' tells who connected"
                : "no exchange matches the filter")
    }
    return .clean
}

/// The exchanges as a table for people.
private struct FlowTable {
    private var table: TableWriter

    init(_ environment: Environment) {
        table = TableWriter(
            [
                TableWriter.Column(title: "id", isRight: true),
                TableWriter.Column(title: "time (UTC)"),
                TableWriter.Column(title: "protocol"),
                TableWriter.Column(title: "method"),
                TableWriter.Column(title: "status", isRight: true),
                TableWriter.Column(title: "url", isFlexible: true),
                TableWriter.Column(title: "size", isRight: true),
                TableWriter.Column(title: "duration", isRight: true),
                TableWriter.Column(title: "error"),
            ],
            to: environment.output, palette: environment.palette)
    }

    mutating func append(_ flow: FlowSummary) throws(Failure) {
        let duration = flow.durationMicroseconds.map(Quantity.text(microseconds:))
        try table.append([
            TableWriter.Cell(String(flow.id), .faint),
            TableWriter.Cell(timeOfDay(flow.startedAt)),
            TableWriter.Cell(flow.isHeadMissing ? "-" : flow.protocolName),
            TableWriter.Cell(flow.isHeadMissing ? "-" : flow.method),
            TableWriter.Cell(flow.status.map(String.init) ?? "-", statusStyle(flow.status)),
            TableWriter.Cell(flow.isHeadMissing ? "-" : flow.url),
            TableWriter.Cell(Quantity.text(byteCount: flow.responseBytes)),
            TableWriter.Cell(duration ?? "-"),
            TableWriter.Cell(flow.remark, .red),
        ])
    }

    mutating func finish() throws(Failure) {
        try table.finish()
    }
}

/// `07:05:01.250` in UTC.
func timeOfDay(_ time: Timestamp) -> String {
    String(time.rfc3339.drop { $0 != "T" }.dropFirst().dropLast())
}

/// How a status is coloured; `nil` means that no response came.
func statusStyle(_ status: Int?) -> Palette.Style? {
    switch status {
    case nil: .red
    case .some(200..<300): .green
    case .some(300..<400): .cyan
    case .some(400..<500): .yellow
    case .some(500...): .red
    default: nil
    }
}
