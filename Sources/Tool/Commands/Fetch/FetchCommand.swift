internal import Base
internal import CommandSyntax
internal import Refresh

extension Command {
    /// `fetch`: content that is kept up to date by wakes and pushes.
    static var fetch: Command {
        Command(
            "fetch", "keep feeds up to date by wakes and pushes, and simulate how that goes",
            examples: [
                Example(
                    purpose: "a feed, kept up to date until interrupted",
                    line: "sallyport fetch run https://example.org/feed.json"),
                Example(
                    purpose: "what has been fetched", line: "sallyport fetch items"),
                Example(
                    purpose: "what a scheduler decides for somebody who reads on the train",
                    line: "sallyport fetch simulate --person commuter"),
                Example(
                    purpose: "how it does beside a timer of 15 minutes",
                    line: "sallyport fetch simulate --person commuter --report"),
                Example(
                    purpose: "a trace to change and to play",
                    line: "sallyport fetch trace --person rare --weeks 1 > trace.jsonl"),
            ],
            details: [
                "An app is woken where its quiet period is over and there is an opportunity, or a push"
                    + " comes. It asks for what has changed, and leaves whole files to transfers."
            ],
            subcommands: [.fetchRun, .fetchItems, .fetchSimulate, .fetchTrace])
    }

    static var fetchSimulate: Command {
        Command(
            "simulate", "play a trace of a device against the scheduler",
            examples: [
                Example(
                    purpose: "every decision of six weeks",
                    line: "sallyport fetch simulate --person heavy"),
                Example(
                    purpose: "a trace of your own, compared with a timer, in CI",
                    line: "sallyport fetch simulate trace.jsonl --report"),
            ],
            details: [
                "Prints the decisions, a line of JSON each; the same trace and seed give the same bytes."
                    + " With --report it prints what they took and brought, beside a timer of 15 minutes"
                    + " and beside fetching when the app is opened.",
                "With --report it exits with 0 if the scheduler takes less than the timer and has the"
                    + " fresher content, 1 if not, and 3 if no app is opened in the trace.",
            ],
            arguments: FetchSimulateArguments(),
            parameters: [
                .optional(
                    \.trace, .path("TRACE"), "the trace, in JSON Lines; - for standard input"),
                .option("person", \.person, .person, "a trace that ships, instead of a file"),
                .option(
                    "seed", \.seed, .count(), standard: "1",
                    "what is drawn, for the trace of a person, too, is drawn from it"),
                .flag("report", \.reports, "compare with a timer and with no fetching ahead"),
                .option("log", \.log, .path("FILE"), "write the decisions to a file"),
                .flag("json", \.isJSON, "report in JSON"),
            ],
            run: runFetchSimulate)
    }

    static var fetchTrace: Command {
        Command(
            "trace", "write a trace of some weeks of somebody's device",
            examples: [
                Example(
                    purpose: "to read, to change and to play",
                    line: "sallyport fetch trace --person commuter --weeks 1 > trace.jsonl")
            ],
            details: TracePerson.all.map { "\($0.name): \($0.summary)." },
            arguments: FetchTraceArguments(),
            parameters: [
                .option("person", \.person, .person, "whose device; needed"),
                .option("seed", \.seed, .count(), standard: "1", "what is drawn is drawn from it"),
                .option("weeks", \.weeks, .weeks, standard: "6", "how long, up to 52"),
            ],
            run: runFetchTrace)
    }
}

struct FetchSimulateArguments {
    var trace: String?
    var person: TracePerson?
    var seed: Int64 = 1
    var reports = false
    var log: String?
    var isJSON = false
}

struct FetchTraceArguments {
    var person: TracePerson?
    var seed: Int64 = 1
    var weeks: Int64 = Int64(RefreshTraceGenerator.weeks)
}

extension ValueSyntax where Value == TracePerson {
    /// One of those whose traces ship.
    static var person: ValueSyntax {
        let names = TracePerson.all.map(\.name)
        return ValueSyntax("NAME", choices: names) { text throws(UsageFailure) in
            if let person = TracePerson.named(text) { return person }
            throw UsageFailure(
                "\(inWords(names)) is needed, not '\(text)'",
                hint: NearestName.find(text, among: names).map { "did you mean '\($0)'?" })
        }
    }
}

extension ValueSyntax where Value == Int64 {
    fileprivate static var weeks: ValueSyntax {
        .reading("N", wanted: "a number from 1 to \(RefreshTraceGenerator.weekLimit)") { text in
            Int64(text).flatMap { 1...Int64(RefreshTraceGenerator.weekLimit) ~= $0 ? $0 : nil }
        }
    }
}
