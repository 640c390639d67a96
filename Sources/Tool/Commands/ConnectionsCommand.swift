internal import Base
internal import Filters
internal import Traffic
internal import Views

extension Command {
    /// `connections`: every connection, also the refused and failed ones.
    static var connections: Command {
        Command(
            "connections", "list recorded connections, also the refused and failed ones",
            examples: [
                Example(
                    purpose: "every connection, and why it failed if it did",
                    line: "sallyport connections session.sallyport"),
                Example(
                    purpose: "which clients do not trust the proxy's certificate",
                    line: "sallyport connections session.sallyport"
                        + " --filter 'outcome=client-refused'"),
                Example(
                    purpose: "one connection, with its process, its TLS and what was noticed",
                    line: "sallyport connections session.sallyport 7"),
                Example(
                    purpose: "for a program: JSON Lines in the schema sallyport.connection/1",
                    line: "sallyport connections session.sallyport --json | jq -r .ja4"),
            ],
            details: [filterHelp(for: .connections)],
            arguments: ConnectionsArguments(),
            parameters: [
                .positional(\.capture, .path("CAPTURE"), "the capture file"),
                .optional(\.id, .id("ID"), "show this connection, with all that is known of it"),
                .option("limit", \.limit, .count(from: 1), "no more than the first N"),
                .option(
                    "columns", \.columns, .columns(columns.map(\.name)),
                    "these columns, in this order: \(columns.map(\.name).joined(separator: ","))"),
                .flag("follow", \.follows, "go on with each connection when it ends"),
                .flag("json", \.isJSON, "print JSON Lines"),
            ] + filterParameters(for: .connections).map { $0.lifted(to: \.selection) },
            run: listConnections)
    }
}

private struct ConnectionsArguments {
    var capture = ""
    var id: Int64?
    var selection = FilterOptions()
    var limit: Int64?
    var columns: [String]?
    var follows = false
    var isJSON = false
}

private func listConnections(
    _ arguments: ConnectionsArguments, _ environment: Environment
) async throws -> ExitCode {
    let source = try environment.openCapture(arguments.capture)
    if let id = arguments.id { return try showConnection(id, source, arguments, environment) }
    let filter = try arguments.selection.open(source, environment)
    var table = Listing(columns, names: arguments.columns, environment)
    var lines = LineWriter(environment.output)
    var left = arguments.limit ?? .max
    func list(_ record: ConnectionRecord) throws -> Bool {
        guard try filter.accepts(record) else { return true }
        if arguments.isJSON {
            try lines.write(ConnectionSummary(record).json.line)
        } else {
            let note = record.cause.isEmpty ? nil : TableWriter.Cell(record.cause, .yellow)
            try table.append(record, note: note)
        }
        left -= 1
        return left > 0
    }
    func flush() throws {
        try lines.flush()
        try table.finish()
    }
    guard arguments.follows else {
        try source.connections(list)
        try flush()
        return .clean
    }
    var follower = try RecordFollower(.connections, of: source)
    try follower.follow(
        all: source.connections, record: source.connection,
        isEnded: { ($0.id, $0.outcome != .open) }, visit: list, flush: flush)
    return .clean
}

private func showConnection(
    _ id: Int64, _ source: any TrafficSource, _ arguments: ConnectionsArguments,
    _ environment: Environment
) throws -> ExitCode {
    guard arguments.selection.filter == nil else {
        throw UsageFailure("ID and --filter do not go together")
    }
    guard let record = try source.connection(id) else { throw missingConnection(id) }
    if arguments.isJSON {
        try environment.output.write(ConnectionSummary(record).json.line + [UInt8(ascii: "\n")])
    } else {
        try write(record, environment)
    }
    return .clean
}

/// All that is known of a connection, a line each.
private func write(_ record: ConnectionRecord, _ environment: Environment) throws(Failure) {
    var lines = LineWriter(environment.output)
    let palette = environment.palette
    let outcome = palette.paint(record.outcome.rawValue, outcomeStyle(record.outcome))
    try lines.write(palette.paint("== connection \(record.id): ", .bold) + outcome)
    for (name, value) in ConnectionFacts(record).entries {
        let padding = String(repeating: " ", count: max(1, 12 - name.utf8.count))
        try lines.write(palette.paint(name, .faint) + padding + TerminalText.sanitized(value))
    }
    try lines.flush()
}

private let columns: [Listing<ConnectionRecord>.Column] = [
    .init("id", isRight: true) { TableWriter.Cell(String($0.id), .faint) },
    .init("time", title: "time (UTC)", rank: 3) { TableWriter.Cell($0.openedAt.timeOfDay) },
    .init("client", rank: 6) { TableWriter.Cell($0.client) },
    .init("origin", isFlexible: true) { TableWriter.Cell($0.origin.isEmpty ? "-" : $0.origin) },
    .init("tls", rank: 2) {
        TableWriter.Cell($0.clientTLS.map { $0.version ?? "none" } ?? "-")
    },
    .init("protocol", rank: 1) {
        TableWriter.Cell($0.protocolName.isEmpty ? "-" : $0.protocolName)
    },
    .init("exchanges", isRight: true, rank: 7) { TableWriter.Cell(String($0.exchangeCount)) },
    .init("messages", isRight: true, rank: 8) { TableWriter.Cell(String($0.messageCount)) },
    .init("bytes", isRight: true, rank: 5) {
        let bytes = $0.clientBytes.received.addingSaturated($0.clientBytes.sent)
        return TableWriter.Cell(Quantity.text(byteCount: bytes))
    },
    .init("outcome") { TableWriter.Cell($0.outcome.rawValue, outcomeStyle($0.outcome)) },
    .init("alert", rank: 4) { record in
        TableWriter.Cell(record.alert.map { "\($0.name) (\(sender(of: $0)))" } ?? "")
    },
    .init("process", rank: 4) { TableWriter.Cell($0.processName ?? "") },
]

/// The peer of the client's leg is the client.
private func sender(of alert: AlertRecord) -> String {
    switch alert.sender {
    case .peer: "client"
    case .tool: "tool"
    }
}

func outcomeStyle(_ outcome: ConnectionRecord.Outcome) -> Palette.Style? {
    switch outcome {
    case .open, .completed: nil
    case .passedThrough, .timedOut, .cut, .lost: .yellow
    case .clientRefused, .clientHandshakeFailed, .originUnreachable, .originUntrusted,
        .originHandshakeFailed, .refused, .broken:
        .red
    }
}
