internal import Base
internal import CommandSyntax
internal import Confinement
internal import Terminal

/// A command of the tool, which touches the world by its `Environment`.
typealias Command = CommandSyntax.Command<Environment>

/// The whole tool as one function of its arguments and its environment.
package enum CommandLineTool {
    /// Such as `0.1.0`.
    package static let version = "0.1.0"

    /// Runs the command that `arguments` name, which do not start with the tool's own name, and
    /// returns the process's exit code.
    package static func run(arguments: [String], environment: Environment) async -> Int32 {
        await run(arguments: arguments, environment: environment, root: root).rawValue
    }

    /// Does what only a process with one thread can: the hidden command that confines another.
    ///
    /// - Returns: the exit code, `nil` for the arguments of any other command.
    package static func runSingleThreaded(arguments: [String]) -> Int32? {
        ConfinedStart.run(arguments)
    }

    /// Tells that an argument is no text, as a name of a file may be.
    ///
    /// - Returns: the exit code.
    package static func refuse(argument place: Int) -> Int32 {
        report(
            "argument \(place) is not UTF-8", "name the file by a link whose name is", [],
            .ofProcess(),
            as: .usage
        ).rawValue
    }

    /// Every command. A command is added here and nowhere else.
    static var root: Command {
        Command(
            "sallyport", "TLS-intercepting proxy that records traffic and flags what is wrong",
            examples: [
                Command.Example(
                    purpose: "intercept and record until interrupted",
                    line: "sallyport proxy --capture session.sallyport"),
                Command.Example(
                    purpose: "run a test suite through a proxy of its own, and judge its traffic",
                    line: "sallyport run -- npm test"),
                Command.Example(
                    purpose: "what was recorded, a line an exchange",
                    line: "sallyport flows list session.sallyport"),
                Command.Example(
                    purpose: "which clients refused the certificate that they were shown",
                    line: "sallyport connections session.sallyport"
                        + " --filter 'outcome=client-refused'"),
                Command.Example(
                    purpose: "what is wrong with it",
                    line: "sallyport check session.sallyport"),
            ],
            details: [
                "Options that are typed every time can stand in a file: 'sallyport help"
                    + " configuration'. What --filter takes: 'sallyport help filters'."
            ],
            subcommands: [
                .proxy,
                .run,
                .audit,
                .replay,
                .content,
                .transfer,
                .fetch,
                .flows,
                .connections,
                .messages,
                .check,
                .explain,
                .export,
                .importing,
                .authority,
                .completions,
                .manual,
            ])
    }

    static func run(
        arguments: [String], environment: Environment, root: Command
    ) async -> ExitCode {
        do {
            return try await dispatch(arguments, environment, root)
        } catch let failure as UsageFailure {
            return report(failure.message, failure.hint, failure.excerpt, environment, as: .usage)
        } catch let failure as Failure {
            // Who closes our output early, like head, has seen enough and needs no message.
            if failure.code == "output-closed" { return .couldNotRun }
            // Options that do not go together, and what they say, seen only where they are put to
            // use.
            let areOptions = [
                "ca-unusable", "policy-invalid", "baseline-invalid", "scenario-invalid",
                "assertion-unknown", "assertions-too-many", "trace-invalid", "upload-invalid",
            ]
            .contains(failure.code)
            return report(
                failure.detail, failure.hint, [], environment,
                as: areOptions ? .usage : .couldNotRun)
        } catch {
            return report("\(error)", nil, [], environment, as: .couldNotRun)
        }
    }

    private static func dispatch(
        _ arguments: [String], _ environment: Environment, _ root: Command
    ) async throws -> ExitCode {
        if arguments.first == "--version" {
            // The first line is for programs; the libraries are what a report of a defect needs.
            try environment.output.write(
                "\(root.name) \(version)\n\(libraries.joined(separator: ", "))\n")
            return .clean
        }
        switch try Invocation.read(arguments, of: root, topics: HelpTopic.all) {
        case .help(let text):
            try environment.output.write(text(environment.output.columns))
            return .clean
        case .nothing(let help):
            try environment.diagnostics.write(help(environment.diagnostics.columns))
            return .usage
        case .command(let call):
            return try await call.invoke(
                try configured(call, environment, root) + call.typed, environment)
        }
    }

    /// What files say that was not typed: the project's before the user's own.
    private static func configured(
        _ call: Invocation<Environment>.Call, _ environment: Environment, _ root: Command
    ) throws -> [ArgumentValue] {
        var values: [ArgumentValue] = []
        var decided = Set(call.typed.map(\.parameter))
        for file in try environment.configurationFiles() {
            try file.check(against: root, shared: projectOptions)
            let more = try file.values(for: call.words, call.parameters, besides: &decided)
            if file.isOfProject, !more.isEmpty {
                for value in more where call.parameters[value.parameter].isPath {
                    guard Files.hasLink(value.text) else { continue }
                    throw UsageFailure(
                        "\(value.place ?? file.path): '\(value.text)' leads through a link",
                        hint: "a project's paths have to stay inside its folder")
                }
                let settings = more.map { value in
                    let name = call.parameters[value.parameter].name
                    return value.text.isEmpty ? name : "\(name) = \(value.text)"
                }
                try environment.note("\(file.path) sets \(settings.joined(separator: ", "))")
            }
            values = more + values
        }
        return values
    }

    /// What a project may decide: what is looked at, how it is judged and listed, which a note
    /// tells. Nothing that leads traffic elsewhere, answers for origins, weakens a connection, shows
    /// a secret or writes over a file.
    private static let projectOptions: Set = [
        "baseline", "block", "capture", "capture-all", "columns", "exit-status", "expect-past",
        "fail-on", "first-party", "heal-after", "jobs", "limit", "log", "loopback-as-remote",
        "only", "origin-http", "pass-through", "policy", "privacy-manifest", "probe", "profile",
        "tracker-list", "verbose",
        "warnings-fail",
    ]

    private static func report(
        _ message: String, _ hint: String?, _ excerpt: [String], _ environment: Environment,
        as code: ExitCode
    ) -> ExitCode {
        var text = "sallyport: error: \(TerminalText.sanitized(message))\n"
        for line in excerpt { text += line + "\n" }
        if let hint { text += "sallyport: hint: \(TerminalText.sanitized(hint))\n" }
        do {
            try environment.diagnostics.write(text)
        } catch {
            // Nobody listens; the exit code still says what happened.
        }
        return code
    }
}
