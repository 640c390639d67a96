import Testing

@testable import CommandSyntax

struct ArgumentReaderTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let arguments: [String]
        /// `parameter=text` of each value, or the error with its hint.
        let result: [String]
        var testDescription: String { name }
    }

    static let rows = [
        Row(name: "positional", arguments: ["c"], result: ["CAPTURE=c"]),
        Row(name: "option", arguments: ["c", "--limit", "3"], result: ["CAPTURE=c", "limit=3"]),
        Row(
            name: "option first", arguments: ["--limit", "3", "c"],
            result: ["limit=3", "CAPTURE=c"]),
        Row(
            name: "attached value", arguments: ["c", "--limit=3"], result: ["CAPTURE=c", "limit=3"]),
        Row(
            name: "attached empty", arguments: ["c", "--limit="], result: ["CAPTURE=c", "limit="]),
        Row(
            name: "attached with equals signs", arguments: ["c", "--limit=a=b=--c"],
            result: ["CAPTURE=c", "limit=a=b=--c"]),
        Row(name: "short", arguments: ["c", "-l", "3"], result: ["CAPTURE=c", "limit=3"]),
        Row(name: "short, attached", arguments: ["c", "-l3"], result: ["CAPTURE=c", "limit=3"]),
        Row(
            name: "value with one dash", arguments: ["c", "-l", "-3"],
            result: ["CAPTURE=c", "limit=-3"]),
        Row(name: "single dash is a value", arguments: ["-"], result: ["CAPTURE=-"]),
        Row(name: "flag", arguments: ["--json", "c"], result: ["json=", "CAPTURE=c"]),
        Row(
            name: "repeated", arguments: ["c", "--host", "a", "--host=b"],
            result: ["CAPTURE=c", "host=a", "host=b"]),
        Row(
            name: "rest is not read", arguments: ["c", "--", "curl", "--json", "--help", "--"],
            result: ["CAPTURE=c", "COMMAND=curl", "COMMAND=--json", "COMMAND=--help", "COMMAND=--"]),
        Row(
            name: "help", arguments: ["--bogus-not-reached"],
            result: [
                "unknown option '--bogus-not-reached' for 'x y'", "see 'sallyport x y --help'",
            ]),
        Row(name: "help wins", arguments: ["--json", "--help", "--bogus"], result: ["help"]),
        Row(name: "short help", arguments: ["-h"], result: ["help"]),
        Row(
            name: "typing error", arguments: ["--lmiit", "3"],
            result: ["unknown option '--lmiit' for 'x y'", "did you mean '--limit'?"]),
        Row(
            name: "beginning of a name", arguments: ["--lim=3"],
            result: ["unknown option '--lim' for 'x y'", "did you mean '--limit'?"]),
        Row(
            name: "placeholder is no option", arguments: ["--CAPTURE=3"],
            result: ["unknown option '--CAPTURE' for 'x y'", "see 'sallyport x y --help'"]),
        Row(
            name: "several short ones", arguments: ["-xl"],
            result: ["unknown option '-xl' for 'x y'", "see 'sallyport x y --help'"]),
        Row(
            name: "flag twice", arguments: ["c", "--json", "--json"],
            result: ["option '--json' is given twice"]),
        Row(
            name: "short and long are the same", arguments: ["c", "-l", "3", "--limit=3"],
            result: ["option '--limit' is given twice"]),
        Row(
            name: "too many", arguments: ["c", "d"],
            result: ["unexpected argument 'd' for 'x y'", "put -- before the command to run"]),
        Row(
            name: "nothing", arguments: [],
            result: ["'x y' needs CAPTURE", "see 'sallyport x y --help'"]),
        Row(
            name: "value is missing", arguments: ["c", "--limit"],
            result: ["option '--limit' needs a value: --limit N"]),
    ]

    @Test(arguments: rows)
    func sorts(_ row: Row) {
        var result: [String]
        do {
            let outcome = try ArgumentReader.read(row.arguments[...], for: parameters, of: "x y")
            switch outcome {
            case .help: result = ["help"]
            case .values(let values):
                result = values.map { "\(parameters[$0.parameter].name)=\($0.text)" }
            }
        } catch {
            result = [error.message] + (error.hint.map { [$0] } ?? [])
        }
        #expect(result == row.result)
    }

    @Test func dashesEndTheOptions() throws {
        let only = [ParameterDescription(kind: .positional, name: "CAPTURE", summary: "")]
        let outcome = try ArgumentReader.read(["--", "--odd-name"], for: only, of: "x")
        #expect(outcome == .values([ArgumentValue(parameter: 0, text: "--odd-name")]))
    }

    @Test func restIsNeeded() {
        var needed = parameters
        needed[4].isRequired = true
        #expect(throws: UsageFailure("'x' needs -- COMMAND", hint: "see 'sallyport x --help'")) {
            try ArgumentReader.read(["c"], for: needed, of: "x")
        }
    }
}

private let parameters = [
    ParameterDescription(kind: .positional, name: "CAPTURE", summary: "", isRequired: true),
    ParameterDescription(kind: .option, name: "limit", short: "l", placeholder: "N", summary: ""),
    ParameterDescription(
        kind: .option, name: "host", placeholder: "HOST", summary: "", isRepeated: true),
    ParameterDescription(kind: .flag, name: "json", summary: ""),
    ParameterDescription(kind: .rest, name: "COMMAND", summary: "", isRepeated: true),
]
