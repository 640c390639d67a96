/// Completions for bash 4 and later, with or without the package bash-completion.
enum BashCompletions {
    static func write(_ root: Command<some Any>) -> String {
        let places = CommandPlace.all(in: root)
        let name = root.name
        var lines = [
            "# Completions of \(name) for bash: source this, or put it into",
            "# ~/.local/share/bash-completion/completions/\(name)",
            "_\(name)() {",
            "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}",
            "    local path= choices= files= i",
            "    COMPREPLY=()",
            "    # bash takes '--name=value' for three words.",
            "    if [ \"$word\" = '=' ]; then word=; fi",
            "    if [ \"$before\" = '=' ]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi",
            "    for ((i = 1; i < COMP_CWORD; i++)); do",
            "        case \"$path ${COMP_WORDS[i]}\" in",
        ]
        let paths = places.dropFirst().map { "\" \($0.path)\"" }
        lines.append("        \(paths.joined(separator: " | "))) path+=\" ${COMP_WORDS[i]}\" ;;")
        for place in places where place.command.rest != nil {
            // What follows is another program's.
            lines += [
                "        \" \(place.path) --\")",
                "            if declare -F _command_offset >/dev/null; then"
                    + " _command_offset $((i + 1));",
                "            elif [ $((i + 1)) = \"$COMP_CWORD\" ]; then"
                    + " COMPREPLY=($(compgen -c -- \"$word\"));",
                "            else compopt -o default; fi",
                "            return ;;",
            ]
        }
        lines += ["        esac", "    done", "    case \"$path $before\" in"]
        for place in places { lines += values(of: place) }
        lines += ["    *)", "        case \"$path\" in"]
        for place in places { lines += words(of: place) }
        lines += [
            "        esac ;;",
            "    esac",
            "    if [ -n \"$files\" ]; then compopt -o default; fi",
            "    COMPREPLY=($(compgen -W \"$choices\" -- \"$word\"))",
            "} && complete -F _\(name) \(name)",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    /// What may follow each option that takes a value.
    private static func values(of place: CommandPlace<some Any>) -> [String] {
        place.command.options.filter { $0.kind == .option }.map { option in
            var names = ["\"\(prefix(place)) --\(option.name)\""]
            if let short = option.short { names.append("\"\(prefix(place)) -\(short)\"") }
            let value =
                option.isPath ? "files=1" : "choices='\(option.choices.joined(separator: " "))'"
            return "    \(names.joined(separator: " | "))) \(value) ;;"
        }
    }

    private static func words(of place: CommandPlace<some Any>) -> [String] {
        var choices = place.command.subcommands.map(\.name)
        choices += place.command.positionals.flatMap(\.choices)
        choices += place.command.options.map { "--\($0.name)" } + ["--help"]
        if place.words.isEmpty { choices += ["--version", "help"] }
        let takesFiles = place.command.positionals.contains { $0.isPath }
        return [
            "        \"\(prefix(place))\") choices='\(choices.joined(separator: " "))'"
                + "\(takesFiles ? " files=1" : "") ;;"
        ]
    }

    private static func prefix(_ place: CommandPlace<some Any>) -> String {
        place.words.map { " " + $0 }.joined()
    }
}
