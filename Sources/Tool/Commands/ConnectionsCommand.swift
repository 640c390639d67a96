internal import Base
internal import CommandSyntax
internal import Filters
internal import Presentation
internal import Terminal
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
                    "columns", \.columns, .columns(ConnectionTable.columns.map(\.name)),
                    "these columns, in this order: \(ConnectionTable.columns.map(\.name).joined(separator: ","))"
                ),
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
    var table = Listing(ConnectionTable.columns, names: arguments.columns, to: environment.console)
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
        try ConnectionTable.write(record, to: environment.console)
    }
    return .clean
}
