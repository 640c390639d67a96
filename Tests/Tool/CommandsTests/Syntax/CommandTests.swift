import Base
import CommandSyntax
import OutputCollector
import Testing

@testable import Commands

struct CommandTests {
    struct Shared {
        var file: String?
    }

    struct Arguments {
        var hosts: [String] = []
        var listen = HostPort(host: "127.0.0.1", port: 8080)
        var limit: Int64?
        var isJSON = false
        var rest: [String] = []
        var shared = Shared()
    }

    private func root(_ run: @escaping (Arguments) throws -> ExitCode) -> Commands.Command {
        let shared: [Parameter<Shared>] = [.option("file", \.file, .path("FILE"), "a file")]
        let command = Commands.Command(
            "run", "run it", examples: [], arguments: Arguments(),
            parameters: [
                .repeated("host", \.hosts, .text("HOST"), "a host"),
                .option(
                    "listen", short: "l", \.listen, .hostPort, standard: "127.0.0.1:8080", "where"),
                .option("limit", \.limit, .count(), "how many"),
                .flag("json", \.isJSON, "as JSON"),
                .rest("COMMAND", \.rest, "what to run"),
            ] + shared.map { $0.lifted(to: \.shared) }
        ) { arguments, _ in
            try run(arguments)
        }
        return Commands.Command("sallyport", "tool", examples: [], subcommands: [command])
    }

    private func environment(_ diagnostics: Collector) -> Environment {
        var environment = Environment.ofProcess()
        environment.output = Collector().stream()
        environment.diagnostics = diagnostics.stream()
        return environment
    }

    @Test func fillsTheArguments() async {
        let collector = Collector()
        let code = await CommandLineTool.run(
            arguments: [
                "run", "--host=a", "-l", "[::1]:0", "--host", "b", "--file", "f", "--json",
                "--limit=7", "--", "curl", "-v",
            ],
            environment: environment(collector),
            root: root { arguments in
                #expect(arguments.hosts == ["a", "b"])
                #expect(arguments.listen == HostPort(host: "::1", port: 0))
                #expect(arguments.limit == 7)
                #expect(arguments.isJSON)
                #expect(arguments.rest == ["curl", "-v"])
                #expect(arguments.shared.file == "f")
                return .findings
            })
        #expect(code == .findings)
        #expect(collector.text.isEmpty)
    }

    @Test func keepsWhatHoldsByDefault() async {
        let collector = Collector()
        let code = await CommandLineTool.run(
            arguments: ["run", "--", "x"], environment: environment(collector),
            root: root { arguments in
                #expect(arguments.hosts.isEmpty)
                #expect(arguments.listen == HostPort(host: "127.0.0.1", port: 8080))
                #expect(arguments.limit == nil)
                #expect(arguments.shared.file == nil)
                return .clean
            })
        #expect(code == .clean)
    }

    struct Failing: CustomTestStringConvertible, Sendable {
        let name: String
        let error: any Error & Sendable
        let code: ExitCode
        let text: String
        var testDescription: String { name }
    }

    static let failings = [
        Failing(
            name: "failure", error: Failure("x", party: .tool, "cannot bind: in use", hint: "wait"),
            code: .couldNotRun,
            text: "sallyport: error: cannot bind: in use\nsallyport: hint: wait\n"),
        Failing(
            name: "usage", error: UsageFailure("odd", excerpt: ["  x", "  ^"]), code: .usage,
            text: "sallyport: error: odd\n  x\n  ^\n"),
        Failing(
            name: "hostile detail", error: Failure("x", party: .tool, "no \u{1B}[2J"),
            code: .couldNotRun, text: "sallyport: error: no \\u{1b}[2J\n"),
        Failing(
            name: "closed output", error: Failure("output-closed", party: .tool, "broken pipe"),
            code: .couldNotRun, text: ""),
        Failing(
            name: "any error", error: CancellationError(), code: .couldNotRun,
            text: "sallyport: error: CancellationError()\n"),
    ]

    @Test(arguments: failings)
    func reports(_ row: Failing) async {
        let collector = Collector()
        let code = await CommandLineTool.run(
            arguments: ["run", "--", "x"], environment: environment(collector),
            root: root { _ in throw row.error })
        #expect(code == row.code)
        #expect(collector.text == row.text)
    }

    @Test func namesTheParameterOfABadValue() async {
        let collector = Collector()
        let code = await CommandLineTool.run(
            arguments: ["run", "-l", "8080", "--", "x"], environment: environment(collector),
            root: root { _ in .clean })
        #expect(code == .usage)
        #expect(
            collector.text == """
                sallyport: error: --listen: a host and a port is needed, not '8080'
                sallyport: hint: write it like 127.0.0.1:8080, [::1]:8080, or 127.0.0.1:0 for any \
                free port

                """)
    }
}
