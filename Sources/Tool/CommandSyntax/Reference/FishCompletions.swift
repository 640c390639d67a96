/// Completions for fish: a line for each word that may follow.
enum FishCompletions {
    static func write(_ root: Command<some Any>) -> String {
        let places = CommandPlace.all(in: root)
        let name = root.name
        let paths = places.dropFirst().map { Shell.fish.quoted($0.path) }.joined(separator: " ")
        var lines = [
            "# Completions of \(name) for fish: put this into ~/.config/fish/completions/\(name).fish",
            "function __\(name)_at",
            "    set -l path",
            "    for word in (commandline -opc)[2..]",
            "        if test \"$word\" = --",
            "            set path rest",
            "            break",
            "        end",
            "        if contains -- (string join -- ' ' $path $word) \(paths)",
            "            set path $path $word",
            "        end",
            "    end",
            "    test \"$path\" = \"$argv[1]\"",
            "end",
            "complete -c \(name) -f",
            "complete -c \(name) -n '__\(name)_at rest' -F",
            "complete -c \(name) -l help -d 'print help'",
            "complete -c \(name) -n '__\(name)_at \"\"' -l version -d 'print the versions'",
        ]
        for place in places {
            let start = "complete -c \(name) -n '__\(name)_at \"\(place.path)\"'"
            for below in place.command.subcommands {
                lines.append("\(start) -a \(below.name) -d \(Shell.fish.quoted(below.summary))")
            }
            for positional in place.command.positionals {
                let choices = positional.choices.joined(separator: " ")
                if positional.isPath { lines.append("\(start) -F") }
                if !choices.isEmpty { lines.append("\(start) -a \(Shell.fish.quoted(choices))") }
            }
            lines += place.command.options.map { "\(start) \(words(of: $0))" }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func words(of option: ParameterDescription) -> String {
        var words = "-l \(option.name) -d \(Shell.fish.quoted(option.summary))"
        if let short = option.short { words = "-s \(short) " + words }
        guard option.kind == .option else { return words }
        words += option.isPath ? " -r -F" : " -x"
        if !option.choices.isEmpty {
            words += " -a \(Shell.fish.quoted(option.choices.joined(separator: " ")))"
        }
        return words
    }
}
