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
                .flag("json", \.isJSON, "print JSON Lines"),
            ] + filterParameters(for: .connections).map { $0.lifted(to: \.selection) },
            run: listConnections)
    }
}

private struct ConnectionsArguments {
    var capture = ""
    var id: Int64?
    var selection = FilterOptions()
    var isJSON = false
}

private func listConnections(
    _ arguments: ConnectionsArguments, _ environment: Environment
) async throws -> ExitCode {
    let source = try environment.openCapture(arguments.capture)
    if let id = arguments.id { return try showConnection(id, source, arguments, environment) }
    let filter = try arguments.selection.open(source, environment)
    var table = TableWriter(columns, to: environment.output, palette: environment.palette)
    var lines = LineWriter(environment.output)
    try source.connections { record in
        guard try filter.accepts(record) else { return true }
        if arguments.isJSON {
            try lines.write(ConnectionSummary(record).json.line)
        } else {
            let note = record.cause.isEmpty ? nil : TableWriter.Cell(record.cause, .yellow)
            try table.append(cells(of: record), note: note)
        }
        return true
    }
    try lines.flush()
    try table.finish()
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

private let columns = [
    TableWriter.Column(title: "id", isRight: true),
    TableWriter.Column(title: "time (UTC)"),
    TableWriter.Column(title: "client"),
    TableWriter.Column(title: "origin", isFlexible: true),
    TableWriter.Column(title: "tls"),
    TableWriter.Column(title: "protocol"),
    TableWriter.Column(title: "exchanges", isRight: true),
    TableWriter.Column(title: "messages", isRight: true),
    TableWriter.Column(title: "bytes", isRight: true),
    TableWriter.Column(title: "outcome"),
    TableWriter.Column(title: "alert"),
    TableWriter.Column(title: "process"),
]

private func cells(of record: ConnectionRecord) -> [TableWriter.Cell] {
    let summary = ConnectionSummary(record)
    let bytes = record.clientBytes.received.addingSaturated(record.clientBytes.sent)
    return [
        TableWriter.Cell(String(record.id), .faint),
        TableWriter.Cell(record.openedAt.timeOfDay),
        TableWriter.Cell(record.client),
        TableWriter.Cell(summary.origin.isEmpty ? "-" : summary.origin),
        TableWriter.Cell(record.clientTLS.map { $0.version ?? "none" } ?? "-"),
        TableWriter.Cell(record.protocolName.isEmpty ? "-" : record.protocolName),
        TableWriter.Cell(String(record.exchangeCount)),
        TableWriter.Cell(String(record.messageCount)),
        TableWriter.Cell(Quantity.text(byteCount: bytes)),
        TableWriter.Cell(record.outcome.rawValue, outcomeStyle(record.outcome)),
        TableWriter.Cell(summary.alert.map { "\($0.name) (\(sender(of: $0)))" } ?? ""),
        TableWriter.Cell(summary.processName ?? ""),
    ]
}

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
