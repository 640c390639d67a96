internal import Base
internal import Confinement

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
            return try await dispatch(arguments[...], environment, root)
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
        _ arguments: ArraySlice<String>, _ environment: Environment, _ root: Command
    ) async throws -> ExitCode {
        var arguments = arguments
        if arguments.first == "--version" {
            // The first line is for programs; the libraries are what a report of a defect needs.
            try environment.output.write(
                "\(root.name) \(version)\n\(libraries.joined(separator: ", "))\n")
            return .clean
        }
        let wantsHelp = arguments.first == "help"
        if wantsHelp, let last = arguments.last, ["--help", "-h"].contains(last) {
            arguments.removeLast()
        }
        if wantsHelp {
            arguments.removeFirst()
            if let topic = HelpTopic.all.first(where: { [$0.name] == arguments }) {
                let output = environment.output
                try output.write(topic.render(columns: output.columns))
                return .clean
            }
        }
        var path: [Command] = [root]
        while let word = arguments.first, let command = path.last,
            command.invoke == nil || command.subcommands.contains(where: { $0.name == word })
        {
            if word == "--help" || word == "-h" { return try help(path, to: environment.output) }
            path.append(try subcommand(word, of: path, wantsHelp: wantsHelp))
            arguments.removeFirst()
        }
        guard let command = path.last, !wantsHelp else {
            return try help(path, to: environment.output)
        }
        guard let invoke = command.invoke else {
            guard path.count > 1 else {
                _ = try help(path, to: environment.diagnostics)
                return .usage
            }
            throw UsageFailure(
                "'\(words(path))' needs a command: \(inWords(command.subcommands.map(\.name)))",
                hint: "see 'sallyport \(words(path)) --help'")
        }
        let outcome = try ArgumentReader.read(
            arguments, for: command.parameters, of: words(path))
        switch outcome {
        case .help: return try help(path, to: environment.output)
        case .values(let typed):
            let configured = try configured(
                words(path), command.parameters, besides: typed, environment, root)
            return try await invoke(configured + typed, environment)
        }
    }

    /// What files say that was not typed: the project's before the user's own.
    private static func configured(
        _ command: String, _ parameters: [ParameterDescription],
        besides typed: [ArgumentReader.Value], _ environment: Environment, _ root: Command
    ) throws -> [ArgumentReader.Value] {
        var values: [ArgumentReader.Value] = []
        var decided = Set(typed.map(\.parameter))
        for file in try environment.configurationFiles() {
            try file.check(against: root)
            let more = try file.values(for: command, parameters, besides: &decided)
            if file.isOfProject, !more.isEmpty {
                for value in more where parameters[value.parameter].isPath {
                    guard Files.hasLink(value.text) else { continue }
                    throw UsageFailure(
                        "\(value.place ?? file.path): '\(value.text)' leads through a link",
                        hint: "a project's paths have to stay inside its folder")
                }
                let settings = more.map { value in
                    let name = parameters[value.parameter].name
                    return value.text.isEmpty ? name : "\(name) = \(value.text)"
                }
                try environment.note("\(file.path) sets \(settings.joined(separator: ", "))")
            }
            values = more + values
        }
        return values
    }

    private static func subcommand(
        _ word: String, of path: [Command], wantsHelp: Bool
    ) throws(UsageFailure) -> Command {
        let commands = path.last?.subcommands ?? []
        if let command = commands.first(where: { $0.name == word }) { return command }
        let place = path.count > 1 ? " for '\(words(path))'" : ""
        if word.hasPrefix("-") {
            throw UsageFailure(
                "unknown option '\(word)'\(place)", hint: "options follow the command's name")
        }
        let topics = wantsHelp && path.count == 1 ? HelpTopic.all.map(\.name) : []
        let nearest =
            topics.first { !word.isEmpty && $0.hasPrefix(word) }
            ?? NearestName.find(word, among: commands.map(\.name) + topics)
        throw UsageFailure(
            "unknown command '\(word)'\(place)",
            hint: nearest.map { "did you mean '\($0)'?" }
                ?? "the commands are \(commands.map(\.name).joined(separator: ", "))")
    }

    private static func help(
        _ path: [Command], to stream: OutputStream
    ) throws(Failure) -> ExitCode {
        guard let command = path.last else { return .clean }
        let parents = path.dropLast().map(\.name).joined(separator: " ")
        try stream.write(HelpText.render(command, path: parents, columns: stream.columns))
        return .clean
    }

    /// The command's words without the tool's name.
    private static func words(_ path: [Command]) -> String {
        path.dropFirst().map(\.name).joined(separator: " ")
    }

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
