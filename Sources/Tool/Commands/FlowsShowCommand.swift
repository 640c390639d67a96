internal import Base
internal import CommandSyntax
internal import Formats
internal import Presentation
internal import Terminal
internal import Traffic
internal import Views

extension Command {
    /// `flows show`: one exchange, whole or a part of it.
    static var flowsShow: Command {
        Command(
            "show", "show one exchange, whole or a part of it",
            examples: [
                Example(
                    purpose: "the heads and contents of exchange 7",
                    line: "sallyport flows show session.sallyport 7"),
                Example(
                    purpose: "a downloaded file, byte for byte",
                    line: "sallyport flows show session.sallyport 7 --part response-body > file"),
                Example(
                    purpose: "compressed JSON, readable",
                    line: "sallyport flows show session.sallyport 7 --part response-body"
                        + " --decoded | jq"),
                Example(
                    purpose: "the request of exchange 7 once more, by curl",
                    line: "sallyport flows show session.sallyport 7 --as curl --with-secrets | bash"
                ),
            ],
            details: [
                "Credentials, cookies and secrets in URLs are shown as *** unless --with-secrets is"
                    + " given. So are, with --part all, the values of forms, JSON and multipart"
                    + " fields whose names say that they are secret; a content that is not what its"
                    + " type says is withheld, and other text is shown as recorded. The title of"
                    + " each content says which. Content codings, such as gzip, are undone there.",
                "A body that is asked for with --part is written byte for byte, with its secrets. It"
                    + " exits with 3 if the body was not recorded whole.",
                "With --as, the request is written as a command or a piece of a program that sends"
                    + " it again. Its secrets are *** too unless --with-secrets is given; a content"
                    + " that is long or withheld is then read out of the capture. Words that are no"
                    + " plain text are quoted as $'…', which needs bash, zsh or another shell that"
                    + " knows it.",
            ],
            arguments: FlowsShowArguments(),
            parameters: [
                .positional(\.capture, .path("CAPTURE"), "the capture file"),
                .positional(\.id, .id("ID"), "the exchange's id, as 'flows list' shows it"),
                .option("part", \.part, .choice("PART"), standard: "all", "what to show"),
                .option(
                    "as", \.form, .choice("FORM"), "write the request as something that sends it"),
                .flag(
                    "decoded", \.isDecoded,
                    "undo the content coding of a body; fail if that cannot be done"),
                .flag("with-secrets", \.withSecrets, "mask nothing"),
            ],
            run: showFlow)
    }
}

private struct FlowsShowArguments {
    var capture = ""
    var id: Int64 = 0
    var part = Part.all
    var form: RequestSnippet.Form?
    var isDecoded = false
    var withSecrets = false

    enum Part: String, CaseIterable {
        case requestHead = "request-head"
        case requestBody = "request-body"
        case responseHead = "response-head"
        case responseBody = "response-body"
        case all
    }
}

private func showFlow(
    _ arguments: FlowsShowArguments, _ environment: Environment
) async throws -> ExitCode {
    let source = try environment.openCapture(arguments.capture)
    guard let exchange = try source.exchange(arguments.id) else {
        throw try missingExchange(arguments.id, in: source)
    }
    if let form = arguments.form {
        guard arguments.part == .all, !arguments.isDecoded else {
            throw UsageFailure("--as writes a whole request; it goes without --part and --decoded")
        }
        let snippet = try RequestSnippet(
            exchange, of: source, capture: arguments.capture, withSecrets: arguments.withSecrets)
        try environment.output.write(snippet.text(as: form))
        guard exchange.requestBody.isTruncated else { return .clean }
        try environment.note("the content was not recorded whole, and is not sent whole")
        return .inconclusive
    }
    let presentation = ExchangePresentation(
        exchange, in: source, isDecoded: arguments.isDecoded, withSecrets: arguments.withSecrets,
        to: environment.console)
    switch arguments.part {
    case .requestHead: try presentation.writeHead(.request)
    case .responseHead: try presentation.writeHead(.response)
    case .requestBody: return try presentation.writeBody(.request) ? .clean : .inconclusive
    case .responseBody: return try presentation.writeBody(.response) ? .clean : .inconclusive
    case .all: try presentation.writeAll()
    }
    return .clean
}
