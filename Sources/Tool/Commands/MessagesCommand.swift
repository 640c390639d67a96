internal import Base
internal import CommandSyntax
internal import Filters
internal import Presentation
internal import Redaction
internal import Terminal
internal import Traffic
internal import Views

extension Command {
    /// `messages`: what was said on one connection besides requests and responses.
    static var messages: Command {
        Command(
            "messages", "show the messages of a connection or an exchange",
            examples: [
                Example(
                    purpose: "what was said on connection 7, a line a message",
                    line: "sallyport messages session.sallyport 7"),
                Example(
                    purpose: "the messages of a WebSocket, a gRPC call or an event stream in full",
                    line: "sallyport messages session.sallyport --exchange 12 --full"),
                Example(
                    purpose: "what the client said about orders",
                    line: "sallyport messages session.sallyport 7"
                        + " --filter 'direction=client and body~order'"),
                Example(
                    purpose: "for a program: JSON Lines in the schema sallyport.message/1",
                    line: "sallyport messages session.sallyport 7 --json | jq -r .text"),
            ],
            details: [
                "→ is from the client, ← from the origin; times count from the start of the"
                    + " connection. Of each message a line shows the start; --full shows it as text,"
                    + " or as a dump if it is none, up to 16m of a message, and so does --json.",
                "Secrets are shown as *** unless --with-secrets is given: values of JSON, forms,"
                    + " fields and URLs whose names say so, what logs in to a server for mail, news"
                    + " or files (AUTH, LOGIN, PASS and what follows them), and what proves who a"
                    + " client of PostgreSQL or MySQL is. What has no names, such as protocol"
                    + " buffers, is shown as recorded.",
                filterHelp(for: .messages),
            ],
            arguments: MessagesArguments(),
            parameters: [
                .positional(\.capture, .path("CAPTURE"), "the capture file"),
                .optional(
                    \.connection, .id("CONNECTION"),
                    "the connection's id, as 'connections' shows it"),
                .option(
                    "exchange", \.exchange, .id("ID"),
                    "only the messages of this exchange, as 'flows list' shows it"),
                .option("limit", \.limit, .count(from: 1), "no more than the first N"),
                .flag("full", \.isFull, "show all of each message"),
                .flag("json", \.isJSON, "print JSON Lines"),
                .flag("with-secrets", \.withSecrets, "mask nothing"),
            ] + filterParameters(for: .messages).map { $0.lifted(to: \.selection) },
            run: showMessages)
    }
}

private struct MessagesArguments {
    var capture = ""
    var connection: Int64?
    var exchange: Int64?
    var limit: Int64?
    var selection = FilterOptions()
    var isFull = false
    var isJSON = false
    var withSecrets = false

    var form: MessagePresentation.Form { isJSON ? .json : isFull ? .full : .table }
}

private func showMessages(
    _ arguments: MessagesArguments, _ environment: Environment
) async throws -> ExitCode {
    guard arguments.connection != nil || arguments.exchange != nil else {
        throw UsageFailure(
            "'messages' needs CONNECTION or --exchange ID", hint: "see 'sallyport messages --help'")
    }
    let source = try environment.openCapture(arguments.capture)
    let id = try connectionID(arguments, source)
    let connection = try source.connection(id)
    var presentation = MessagePresentation(
        arguments.form, start: connection?.openedAt, to: environment.console)
    var assembly = MessageAssembly(
        contents: MessageContents(source),
        byteLimit: arguments.form == .table ? glanceLimit : contentLimit,
        redaction: arguments.withSecrets
            ? nil : try MessageRedaction(of: connection, in: source),
        recordedLimit: arguments.selection.filter == nil ? 0 : contentLimit)
    let filter = try arguments.selection.open(source, environment)
    var left = arguments.limit ?? Int64.max
    var isEmpty = true
    try source.messages(ofConnection: id, exchange: arguments.exchange) { part in
        isEmpty = false
        if let message = try assembly.push(part), try filter.accepts(message) {
            try presentation.write(message)
            left -= 1
        }
        return left > 0
    }
    if left > 0, let message = assembly.finish(), try filter.accepts(message) {
        try presentation.write(message)
    }
    try presentation.finish()
    if isEmpty, connection == nil { throw missingConnection(id) }
    if presentation.hasMasked, arguments.form != .json {
        try environment.note("secrets are shown as ***; --with-secrets shows them")
    }
    return .clean
}

/// The connection that is meant.
///
/// Errors: `no-such-exchange`.
private func connectionID(
    _ arguments: MessagesArguments, _ source: any TrafficSource
) throws -> Int64 {
    if let id = arguments.connection { return id }
    let exchange = arguments.exchange ?? 0
    guard let record = try source.exchange(exchange) else {
        throw try missingExchange(exchange, in: source)
    }
    return record.connection
}

/// Says which numbers there are: they need not begin with 1, as a tunnel takes one that is not shown.
///
/// Errors: those of reading the capture.
func missingExchange(_ id: Int64, in source: any TrafficSource) throws -> Failure {
    var ids: (first: Int64, last: Int64)?
    try source.exchanges { exchange in
        ids = (ids?.first ?? exchange.id, exchange.id)
        return true
    }
    let known =
        switch ids {
        case nil: "the capture has none"
        case (let first, let last)? where first == last: "the only one is \(first)"
        case (let first, let last)?: "they are numbered from \(first) to \(last)"
        }
    return Failure(
        "no-such-exchange", party: .tool, "there is no exchange \(id): \(known)",
        hint: "'sallyport flows list' shows the ids")
}

func missingConnection(_ id: Int64) -> Failure {
    Failure(
        "no-such-connection", party: .tool, "there is no connection \(id)",
        hint: "'sallyport connections' shows the ids")
}

/// How much of a message is looked at for its line, in bytes.
private let glanceLimit = 64 * 1024
/// How much of a message is held to be shown in full, in bytes.
private let contentLimit = 16 * 1024 * 1024
