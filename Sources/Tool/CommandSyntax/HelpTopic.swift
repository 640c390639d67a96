internal import Terminal

/// Help about what several commands share: `sallyport help NAME`.
package struct HelpTopic {
    package let name: String
    /// Lines that are printed as they are if they begin with a space, and wrapped if not.
    let lines: [String]

    package init(name: String, lines: [String]) {
        self.name = name
        self.lines = lines
    }

    package func render(columns: Int?) -> String {
        let columns = min(100, max(80, columns ?? 80))
        let text = lines.flatMap { line in
            line.hasPrefix(" ") || line.isEmpty
                ? [line] : TerminalText.wrapped(line, columns: columns)
        }
        return text.joined(separator: "\n") + "\n"
    }
}
