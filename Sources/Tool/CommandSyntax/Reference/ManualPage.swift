/// The manual page of the tool in roff (man(7)), written from the same values as the help.
package struct ManualPage {
    private var lines: [String] = []

    package static func write(
        _ root: Command<some Any>, version: String, topics: [HelpTopic]
    ) -> String {
        var page = ManualPage()
        let name = root.name
        page.lines = [
            "'\\\" Made by '\(name) manual'.",
            ".TH \(name.uppercased()) 1 \"\" \"\(name) \(version)\" \"User Commands\"",
            // No hyphens where a line ends: options are copied from here.
            ".nh",
            ".SH NAME",
            "\(name) \\- \(text(root.summary))",
            ".SH SYNOPSIS",
            ".B \(name)",
            ".I COMMAND",
            "[\\fIOPTION\\fR...]",
            ".SH DESCRIPTION",
        ]
        page.lines.append(sentence(root.summary))
        page.add(paragraphs: root.details)
        page.lines.append(".SH EXAMPLES")
        page.add(examples: root.examples)
        page.lines.append(".SH COMMANDS")
        for place in CommandPlace.all(in: root) where place.command.invoke != nil {
            page.add(place, of: name)
        }
        page.add(topics)
        page.addExitStatus()
        return page.lines.joined(separator: "\n") + "\n"
    }

    private mutating func add(_ place: CommandPlace<some Any>, of name: String) {
        let command = place.command
        lines.append(".SS \"\(name) \(place.path)\"")
        lines.append(Self.sentence(command.summary))
        add(paragraphs: command.details)
        let arguments = command.positionals + [command.rest].compactMap(\.self)
        for parameter in arguments + command.options { add(parameter) }
        add(examples: command.examples)
    }

    private mutating func add(paragraphs: [String]) {
        for paragraph in paragraphs { lines += [".PP", Self.text(paragraph)] }
    }

    private mutating func add(_ parameter: ParameterDescription) {
        var name = parameter.short.map { "\\fB\\-\($0)\\fR, " } ?? ""
        switch parameter.kind {
        case .option:
            name += "\\fB\\-\\-\(Self.text(parameter.name))\\fR \\fI\(parameter.placeholder)\\fR"
        case .flag: name += "\\fB\\-\\-\(Self.text(parameter.name))\\fR"
        case .positional:
            name = "\\fI\(parameter.name)\\fR" + (parameter.isRepeated ? "..." : "")
        case .rest: name = "\\fB\\-\\-\\fR \\fI\(parameter.name)\\fR..."
        }
        lines += [".TP", name, Self.text(HelpText.summary(parameter))]
    }

    private mutating func add(examples: [CommandExample]) {
        for example in examples {
            lines += [".PP", Self.sentence(example.purpose), ".PP", ".EX"]
            lines += ["    " + Self.text(example.line), ".EE"]
        }
    }

    private mutating func add(_ topics: [HelpTopic]) {
        for topic in topics {
            lines.append(".SH \(topic.name.uppercased())")
            lines += [".PP", ".EX"]
            for line in topic.lines {
                let isText = !line.isEmpty && !line.hasPrefix(" ")
                if isText {
                    lines += [".EE", ".PP", Self.text(line), ".PP", ".EX"]
                } else {
                    lines.append(Self.text(line))
                }
            }
            lines.append(".EE")
        }
    }

    private mutating func addExitStatus() {
        lines.append(".SH EXIT STATUS")
        for code in ExitCode.allCases {
            lines += [".TP", ".B \(code.rawValue)", Self.text(code.meaning)]
        }
    }

    private static func sentence(_ summary: String) -> String {
        text(summary.prefix(1).uppercased() + summary.dropFirst() + ".")
    }

    /// Text that roff takes as it is: no escapes, no requests, dashes that can be copied, and ASCII
    /// alone.
    private static func text(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\e"
            case "-": result += "\\-"
            case "'": result += "\\(aq"
            case "`": result += "\\(ga"
            case "^": result += "\\(ha"
            case "~": result += "\\(ti"
            case "\n": result += " "
            case _ where !scalar.isASCII:
                let number = String(scalar.value, radix: 16, uppercase: true)
                result += "\\[u\(String(repeating: "0", count: max(0, 4 - number.count)))\(number)]"
            default: result.unicodeScalars.append(scalar)
            }
        }
        // A period in front would start a request.
        return result.hasPrefix(".") ? "\\&" + result : result
    }
}
