internal import Terminal

/// The help of a command: examples first, so that most readers need no more.
struct HelpText {
    private let columns: Int
    private var lines: [String] = []

    /// - Parameters:
    ///   - path: the words before the command's own, such as `sallyport flows`.
    ///   - columns: the terminal's width, `nil` if it is none.
    static func render(_ command: Command<some Any>, path: String, columns: Int?) -> String {
        var help = HelpText(columns: min(100, max(80, columns ?? 80)))
        let title = path.isEmpty ? command.name : "\(path) \(command.name)"
        help.addExamples(command.examples)
        help.addUsage(command, title: title)
        help.addDetails(command)
        help.addEntries("Commands:", command.subcommands.map { ($0.name, $0.summary) })
        help.addParameters(command.parameters, isWholeTool: path.isEmpty)
        if !command.subcommands.isEmpty {
            help.lines += ["", "'\(title) COMMAND --help' tells more about each."]
        }
        return help.lines.joined(separator: "\n") + "\n"
    }

    private init(columns: Int) {
        self.columns = columns
    }

    private mutating func addExamples(_ examples: [CommandExample]) {
        lines.append("Examples:")
        for (index, example) in examples.enumerated() {
            if index > 0 { lines.append("") }
            lines.append("  # \(example.purpose)")
            lines.append("  \(example.line)")
        }
        lines.append("")
    }

    private mutating func addUsage(_ command: Command<some Any>, title: String) {
        var words = command.parameters.filter { $0.kind == .positional }
            .map { ($0.isRequired ? $0.title : "[\($0.title)]") + ($0.isRepeated ? "…" : "") }
        if command.invoke == nil {
            words.append("COMMAND")
        } else if command.parameters.contains(where: { $0.kind == .option || $0.kind == .flag }) {
            words.append("[OPTION…]")
        }
        words += command.parameters.filter { $0.kind == .rest }.map { $0.title + "…" }
        lines.append("Usage: " + ([title] + words).joined(separator: " "))
    }

    private mutating func addDetails(_ command: Command<some Any>) {
        let summary = command.summary.prefix(1).uppercased() + command.summary.dropFirst() + "."
        for paragraph in [summary] + command.details {
            lines.append("")
            lines += TerminalText.wrapped(paragraph, columns: columns)
        }
    }

    private mutating func addParameters(
        _ parameters: [ParameterDescription], isWholeTool: Bool
    ) {
        let arguments = parameters.filter { $0.kind == .positional || $0.kind == .rest }
        addEntries("Arguments:", arguments.map { ($0.title, Self.summary($0)) })
        var options = parameters.filter { $0.kind == .option || $0.kind == .flag }
            .map { (title($0), Self.summary($0)) }
        options.append(("-h, --help", "print this help"))
        if isWholeTool {
            options.append(("    --version", "print the version, and those of the libraries"))
        }
        addEntries("Options:", options)
    }

    private func title(_ option: ParameterDescription) -> String {
        (option.short.map { "-\($0), " } ?? "    ") + option.title
    }

    /// What a parameter is for, with its choices and what holds without it.
    static func summary(_ parameter: ParameterDescription) -> String {
        var text = parameter.summary
        if (1...fewChoices).contains(parameter.choices.count) {
            text += ": \(inWords(parameter.choices))"
        }
        var remarks: [String] = []
        if let standard = parameter.standard { remarks.append("default: \(standard)") }
        if parameter.isRepeated, parameter.kind == .option { remarks.append("repeatable") }
        if !remarks.isEmpty { text += " (\(remarks.joined(separator: "; ")))" }
        return text
    }

    private mutating func addEntries(_ title: String, _ entries: [(String, String)]) {
        guard !entries.isEmpty else { return }
        lines += ["", title]
        let indentation = min(
            Self.entryLimit, 4 + (entries.map { TerminalText.width($0.0) }.max() ?? 0))
        for (name, summary) in entries {
            let text = TerminalText.wrapped(summary, columns: columns - indentation)
            let margin = String(repeating: " ", count: indentation)
            var first = "  " + name
            if TerminalText.width(first) + 2 > indentation {
                lines.append(first)
                first = margin
            } else {
                first += String(repeating: " ", count: indentation - TerminalText.width(first))
            }
            lines.append(first + (text.first ?? ""))
            lines += text.dropFirst().map { margin + $0 }
        }
    }

    private static let entryLimit = 34
}
