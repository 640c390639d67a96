internal import Base
internal import Terminal

/// What a command line asks for.
package enum Invocation<World> {
    /// Help, as wide as the terminal; `nil` columns if it is none.
    case help(_ text: (_ columns: Int?) -> String)
    /// Nothing: there are no words at all.
    case nothing(help: (_ columns: Int?) -> String)
    case command(Call)

    /// A command with what was typed behind it.
    package struct Call {
        /// Such as `flows list`.
        package let words: String
        package let parameters: [ParameterDescription]
        package let typed: [ArgumentValue]
        package let invoke: ([ArgumentValue], World) async throws -> ExitCode
    }

    /// Reads arguments, which do not start with the tool's own name.
    package static func read(
        _ arguments: [String], of root: Command<World>, topics: [HelpTopic]
    ) throws(UsageFailure) -> Invocation {
        var arguments = arguments[...]
        let wantsHelp = arguments.first == "help"
        if wantsHelp, let last = arguments.last, ["--help", "-h"].contains(last) {
            arguments.removeLast()
        }
        if wantsHelp {
            arguments.removeFirst()
            if let topic = topics.first(where: { [$0.name] == arguments }) {
                return .help(topic.render)
            }
        }
        var path = CommandPath(root)
        while let word = arguments.first, path.takes(word) {
            if word == "--help" || word == "-h" { return .help(path.help) }
            try path.append(word, topics: wantsHelp ? topics : [])
            arguments.removeFirst()
        }
        if wantsHelp { return .help(path.help) }
        guard let invoke = path.command.invoke else {
            guard !path.words.isEmpty else { return .nothing(help: path.help) }
            throw UsageFailure(
                "'\(path.words)' needs a command: \(inWords(path.command.subcommands.map(\.name)))",
                hint: "see 'sallyport \(path.words) --help'")
        }
        let parameters = path.command.parameters
        switch try ArgumentReader.read(arguments, for: parameters, of: path.words) {
        case .help: return .help(path.help)
        case .values(let typed):
            return .command(
                Call(words: path.words, parameters: parameters, typed: typed, invoke: invoke))
        }
    }
}

/// A command, with those that it stands below.
private struct CommandPath<World> {
    private var parents: [Command<World>] = []
    private(set) var command: Command<World>

    init(_ root: Command<World>) { command = root }

    /// The command's words without the tool's name.
    var words: String {
        parents.isEmpty
            ? "" : (parents.dropFirst() + [command]).map(\.name).joined(separator: " ")
    }

    func help(columns: Int?) -> String {
        let parents = parents.map(\.name).joined(separator: " ")
        return HelpText.render(command, path: parents, columns: columns)
    }

    /// Whether a word names a command below this one, or has to.
    func takes(_ word: String) -> Bool {
        command.invoke == nil || command.subcommands.contains { $0.name == word }
    }

    /// - Parameter topics: what help may be about besides commands.
    mutating func append(_ word: String, topics: [HelpTopic]) throws(UsageFailure) {
        let commands = command.subcommands
        if let found = commands.first(where: { $0.name == word }) {
            parents.append(command)
            command = found
            return
        }
        let place = parents.isEmpty ? "" : " for '\(words)'"
        if word.hasPrefix("-") {
            throw UsageFailure(
                "unknown option '\(word)'\(place)", hint: "options follow the command's name")
        }
        let topics = parents.isEmpty ? topics.map(\.name) : []
        let nearest =
            topics.first { !word.isEmpty && $0.hasPrefix(word) }
            ?? NearestName.find(word, among: commands.map(\.name) + topics)
        throw UsageFailure(
            "unknown command '\(word)'\(place)",
            hint: nearest.map { "did you mean '\($0)'?" }
                ?? "the commands are \(commands.map(\.name).joined(separator: ", "))")
    }
}
