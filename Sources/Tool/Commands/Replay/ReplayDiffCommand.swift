internal import Base
internal import CommandSyntax
internal import Comparison
internal import Filters
internal import Presentation
internal import Replay
internal import TLS
internal import Terminal
internal import Traffic
internal import Views

extension Command {
    /// `replay diff`: what differs between two captures.
    static var replayDiff: Command {
        Command(
            "diff", "tell how the exchanges of two captures differ",
            examples: [
                Example(
                    purpose: "what changed from one build to the next",
                    line: "sallyport replay diff before.sallyport after.sallyport"),
                Example(
                    purpose: "without what is made up anew each time",
                    line: "sallyport replay diff before.sallyport after.sallyport"
                        + " --ignore 'query nonce' --ignore 'response body $.requestId'"),
                Example(
                    purpose: "what 'replay client' got from a new build elsewhere",
                    line: "sallyport replay diff session.sallyport live.sallyport"
                        + " --ignore authority"),
                Example(
                    purpose: "a page to look at side by side",
                    line: "sallyport replay diff before.sallyport after.sallyport --format html"
                        + " > diff.html"),
            ],
            details: [
                "Exchanges are paired by what they are, and by their order only where they are"
                    + " alike. It exits with 0 if nothing differs, 1 if something does, and 3 if"
                    + " there was nothing to compare. An order, how a message is laid out"
                    + " and framed, and the time that it took do not count, nor do sessions,"
                    + " tokens and ids that an origin made up and its client sent back, where each"
                    + " stands for the same on the other side.",
                "An ignored part is written as in a file of rules, without the word ignore:"
                    + " 'query NAME', 'header NAME', 'body PATH', 'path', 'authority', 'status',"
                    + " with 'response' in front for the response's; * stands for anything. 'at"
                    + " HOST/PATH' before it all says where alone it does not count."
                    + " Fields made up for each message, such as Date, are ignored unless a rule"
                    + " 'match header date' counts them.",
                "Secrets are compared and shown as *** unless --with-secrets is given.",
            ],
            arguments: ReplayDiffArguments(), parameters: replayDiffParameters,
            run: runReplayDiff)
    }

    private static var replayDiffParameters: [Parameter<ReplayDiffArguments>] {
        [
            .positional(\.left, .path("LEFT"), "the capture to compare with"),
            .positional(\.right, .path("RIGHT"), "the capture that may differ"),
            .option("format", \.format, .choice("FORMAT"), standard: "text", "how to report"),
            .flag("json", \.isJSON, "the same as --format json"),
            .repeated("ignore", \.ignored, .ignoredPart, "a part that counts for nothing"),
            .option("rules", \.rules, .path("FILE"), "rules of what counts, as replay has them"),
            .flag(
                "no-substitutions", \.countsMadeUpValues,
                "count sessions and ids that the origins made up"),
            .flag("notes", \.withNotes, "tell what does not count, too: orders, layout, framing"),
            .flag("with-secrets", \.withSecrets, "show values as they were recorded"),
        ] + filterParameters(for: .exchanges).map { $0.lifted(to: \.selection) }
    }
}

private struct ReplayDiffArguments {
    var left = ""
    var right = ""
    var format = Format.text
    var isJSON = false
    var selection = FilterOptions()
    var ignored: [ReplayRule] = []
    var rules: String?
    var countsMadeUpValues = false
    var withNotes = false
    var withSecrets = false

    enum Format: String, CaseIterable {
        case text
        case json
        case html
    }
}

private func runReplayDiff(
    _ arguments: ReplayDiffArguments, _ environment: Environment
) async throws -> ExitCode {
    var configuration = ComparisonConfiguration(sha256: { TLS.Digests.sha256($0) })
    configuration.withSecrets = arguments.withSecrets
    configuration.withNotes = arguments.withNotes
    configuration.countsMadeUpValues = arguments.countsMadeUpValues
    if let path = arguments.rules {
        configuration.rules = try ReplayRules(text: try environment.readFile(path).text)
    }
    configuration.rules.rules += arguments.ignored
    let left = try subject(arguments.left, arguments.selection, environment)
    let right = try subject(arguments.right, arguments.selection, environment)
    let report = try CaptureComparison(configuration).compare(left, right)
    switch arguments.isJSON ? .json : arguments.format {
    case .json: try environment.output.write(ComparisonJSON.document(report).document)
    case .html: try environment.output.write(ComparisonHTML.page(report))
    case .text:
        var text = ComparisonText(to: environment.console)
        try text.write(report)
    }
    if report.isInconclusive { return .inconclusive }
    return report.isDifferent ? .findings : .clean
}

private func subject(
    _ path: String, _ selection: FilterOptions, _ environment: Environment
) throws -> CaptureComparison.Subject {
    let source = try environment.openCapture(path)
    guard selection.filter != nil else {
        return CaptureComparison.Subject(name: path, source: source)
    }
    let filter = try selection.open(source, environment)
    return CaptureComparison.Subject(name: path, source: source, accepts: filter.accepts)
}

extension ValueSyntax where Value == ReplayRule {
    /// A rule without its first word.
    fileprivate static var ignoredPart: ValueSyntax {
        .reading(
            "PART", wanted: "a part of a message",
            hint: "the parts are authority (the host and its port), path, method, status, 'query"
                + " NAME', 'header NAME', 'trailer NAME' and 'body PATH'; of the response with"
                + " 'response' before it"
        ) { text in
            do throws(Failure) {
                let rules = try ReplayRules(text: "ignore " + text).rules
                return rules.count == 1 ? rules.first : nil
            } catch {
                return nil
            }
        }
    }
}
