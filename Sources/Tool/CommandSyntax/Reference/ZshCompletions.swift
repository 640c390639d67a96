/// Completions for zsh: a function for each command, which calls those below it.
enum ZshCompletions {
    static func write(_ root: Command<some Any>) -> String {
        let name = root.name
        var lines = [
            "#compdef \(name)",
            "# Completions of \(name) for zsh: put this as _\(name) into a folder of $fpath, or",
            "# source it behind compinit.",
        ]
        for place in CommandPlace.all(in: root).reversed() {
            lines += ["", "\(function(place, in: root))() {"]
            lines +=
                place.command.subcommands.isEmpty
                ? leaf(place.command) : group(place, in: root)
            lines.append("}")
        }
        lines += [
            "",
            "if [ \"$funcstack[1]\" = _\(name) ]; then _\(name) \"$@\";"
                + " else compdef _\(name) \(name); fi",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    private static func function(_ place: CommandPlace<some Any>, in root: Command<some Any>)
        -> String
    {
        (["_\(root.name)"] + place.words).joined(separator: "_")
    }

    private static func leaf(_ command: Command<some Any>) -> [String] {
        var specifications = command.options.map { specification(of: $0) } + [help]
        for (index, positional) in command.positionals.enumerated() {
            let mark = positional.isRequired ? ":" : "::"
            let place = positional.isRepeated ? "*" : String(index + 1)
            specifications.append(
                "\(place)\(mark)\(message(positional.name)):\(action(positional))")
        }
        if command.rest != nil {
            specifications.append("*::program:_normal")
        }
        return arguments(specifications)
    }

    private static func group(_ place: CommandPlace<some Any>, in root: Command<some Any>)
        -> [String]
    {
        var names = place.command.subcommands.map { "\($0.name):\($0.summary)" }
        if place.words.isEmpty { names.append("help:print the help of a command") }
        var lines = ["    local -a commands=("]
        lines += names.map { "        " + Shell.zsh.quoted($0) }
        lines += ["    )", "    local context state line"]
        var specifications = [help, "1:command:->command", "*::arguments:->arguments"]
        if place.words.isEmpty { specifications.append("--version[print the versions]") }
        specifications = place.command.options.map { specification(of: $0) } + specifications
        lines += arguments(specifications, flags: "-C")
        lines += [
            "    case $state in",
            "    command) _describe command commands ;;",
            "    arguments)",
            "        case $line[1] in",
        ]
        for below in place.command.subcommands {
            let place = CommandPlace(words: place.words + [below.name], command: below)
            lines.append("        \(below.name)) \(function(place, in: root)) ;;")
        }
        return lines + ["        esac ;;", "    esac"]
    }

    private static func arguments(_ specifications: [String], flags: String = "-S") -> [String] {
        ["    _arguments \(flags) \\"]
            + specifications.dropLast().map { "        \(Shell.zsh.quoted($0)) \\" }
            + specifications.suffix(1).map { "        \(Shell.zsh.quoted($0))" }
    }

    private static let help = "(- *)--help[print help]"

    private static func specification(of option: ParameterDescription) -> String {
        let again = option.isRepeated ? "*" : ""
        let name = "\(again)--\(option.name)"
        guard option.kind == .option else { return "\(name)[\(message(option.summary))]" }
        return
            "\(name)=[\(message(option.summary))]:\(message(option.placeholder)):\(action(option))"
    }

    private static func action(_ parameter: ParameterDescription) -> String {
        if parameter.isPath { return "_files" }
        return parameter.choices.isEmpty ? " " : "(\(parameter.choices.joined(separator: " ")))"
    }

    /// Text between brackets or colons.
    private static func message(_ text: String) -> String {
        var result = ""
        for character in text {
            if "\\[]:".contains(character) { result.append("\\") }
            result.append(character)
        }
        return result
    }
}
