/// A command with the words that lead to it.
struct CommandPlace<World> {
    /// Without the tool's own name: none for the tool itself.
    let words: [String]
    let command: Command<World>

    /// The words as they are typed: `flows list`.
    var path: String { words.joined(separator: " ") }

    /// The command and all below it, each before those that it holds.
    static func all(in root: Command<World>, words: [String] = []) -> [CommandPlace] {
        [CommandPlace(words: words, command: root)]
            + root.subcommands.flatMap { all(in: $0, words: words + [$0.name]) }
    }
}

extension Command {
    /// What may stand on its own behind the command's name, in order.
    var positionals: [ParameterDescription] { parameters.filter { $0.kind == .positional } }

    /// Options with and without a value.
    var options: [ParameterDescription] {
        parameters.filter { $0.kind == .option || $0.kind == .flag }
    }

    /// The command line of a program behind `--`, if it takes one.
    var rest: ParameterDescription? { parameters.first { $0.kind == .rest } }
}
