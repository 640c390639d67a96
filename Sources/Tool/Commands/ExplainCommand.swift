internal import Base
internal import CommandSyntax
internal import Findings
internal import Terminal

extension Command {
    /// `explain`: what a rule of `check` means.
    static var explain: Command {
        Command(
            "explain", "tell what a rule means, how it decides and what to do",
            examples: [
                Example(purpose: "the rules, a line each", line: "sallyport explain"),
                Example(purpose: "one of them", line: "sallyport explain NOTLS-STARTTLS"),
            ],
            arguments: ExplainArguments(),
            parameters: [
                .optional(
                    \.rule, .choice("RULE"), "a rule as reports name it; lists them by default"),
                .flag("json", \.isJSON, "print JSON Lines"),
            ],
            run: runExplain)
    }
}

private struct ExplainArguments {
    var rule: RuleID?
    var isJSON = false
}

private func runExplain(
    _ arguments: ExplainArguments, _ environment: Environment
) async throws -> ExitCode {
    let palette = environment.console.palette
    let lines: [String]
    if arguments.isJSON {
        lines = (arguments.rule.map { [$0] } ?? RuleID.allCases).map(\.json.line.text)
    } else if let rule = arguments.rule {
        lines = story(
            of: rule, palette, columns: min(100, max(60, environment.output.columns ?? 80)))
    } else {
        let width = RuleID.allCases.map(\.rawValue.count).max() ?? 0
        lines = RuleID.allCases.map { rule in
            let margin = String(repeating: " ", count: width - rule.rawValue.count + 2)
            return palette.paint(rule.rawValue, .bold) + margin + rule.text.title
        }
    }
    try environment.output.write(lines.map { $0 + "\n" }.joined())
    return .clean
}

private func story(of rule: RuleID, _ palette: Palette, columns: Int) -> [String] {
    let weaknesses = rule.text.weaknesses.map { "CWE-\($0)" }.joined(separator: ", ")
    let severity = rule.text.worst.map { $0 == .info ? "info" : "\($0.rawValue) at worst" }
    let parts = [
        ("severity", severity ?? "depends"), ("why", rule.text.reason),
        ("decided", rule.text.decision),
        ("left alone", rule.text.exceptions),
        ("fix", rule.text.advice), ("judges", "the \(rule.text.party.rawValue)"),
        ("see", weaknesses),
    ]
    let margin = 14
    return ["\(palette.paint(rule.rawValue, .bold))  \(rule.text.title)"]
        + parts.flatMap { word, text in
            TerminalText.wrapped(text, columns: columns - margin).enumerated().map { index, line in
                let head = index == 0 ? "  \(word)" : ""
                return head + String(repeating: " ", count: margin - head.count) + line
            }
        }
}
