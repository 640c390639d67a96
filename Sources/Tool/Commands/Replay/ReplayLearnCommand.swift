internal import Base
internal import CommandSyntax
internal import Comparison
internal import Replay
internal import TLS
internal import Terminal
internal import Traffic

extension Command {
    static var replayLearn: Command {
        Command(
            "learn", "propose rules from two recordings of the same doings",
            examples: [
                Example(
                    purpose: "what changes from one to the next, as rules to review",
                    line: "sallyport replay learn monday.sallyport tuesday.sallyport > my.rules"),
                Example(
                    purpose: "and where the two still differ with them",
                    line: "sallyport replay diff monday.sallyport tuesday.sallyport"
                        + " --rules my.rules"),
            ],
            details: [
                "Exchanges are paired as 'replay diff' does it. A part that differs is proposed to be"
                    + " ignored, or to be substituted where the response holds it, too; at its path"
                    + " alone if it differs nowhere else. Ids in paths are proposed as a path with"
                    + " stars. An example of the values stands above each rule, with secrets as"
                    + " ***. It exits with 3 if no request of one is in the other.",
                "A rule is a line: 'ignore', 'match' or 'substitute', then 'at' and the host, the"
                    + " path or both if it holds there alone ('at api.example/orders/*': a star is a"
                    + " segment, ** at the end all below), 'response' if it is not"
                    + " about the request, then 'query NAME', 'header NAME', 'body PATH',"
                    + " 'trailer NAME', 'authority', 'path', 'method' or 'status'. In a name * stands"
                    + " for anything: body $.items[*].id; \\* is a star. 'body' alone is a content"
                    + " without pieces (text, HTML, XML, bytes), 'body *' any. What is substituted does not count in a request, and"
                    + " where the recorded response holds its value, it gets the new one.",
            ],
            arguments: LearnArguments(),
            parameters: [
                .positional(\.first, .path("CAPTURE"), "a capture"),
                .positional(\.second, .path("CAPTURE2"), "another one of the same doings"),
            ],
            run: runLearn)
    }
}

private struct LearnArguments {
    var first = ""
    var second = ""
}

private func runLearn(
    _ arguments: LearnArguments, _ environment: Environment
) async throws -> ExitCode {
    let comparison = CaptureComparison(ComparisonConfiguration(sha256: { TLS.Digests.sha256($0) }))
    let lesson = try comparison.lesson(
        subject(arguments.first, environment), subject(arguments.second, environment))
    if lesson.pairCount == 0 {
        try environment.note(
            "nothing to learn from: no method and path is in both captures")
        return .inconclusive
    }
    for proposal in lesson.proposals {
        try environment.output.write(
            TerminalText.sanitized("# \(proposal.reason)") + "\n"
                + TerminalText.sanitized(proposal.rule.text) + "\n")
    }
    for list in lesson.lists {
        try environment.output.write(
            TerminalText.sanitized(
                "# \(list.reason): look at why; '\(list.rule.text)' ignores all of it")
                + "\n")
    }
    if lesson.proposals.isEmpty, lesson.lists.isEmpty {
        try environment.note(
            "no rule is proposed: \(lesson.pairCount) pairs of exchanges differ in nothing that"
                + " counts and was looked at"
        )
    }
    if lesson.partialCount > 0 {
        try environment.note(
            "contents over 1 MiB were not looked at, and no rule names what has no pieces in a"
                + " message; so many of \(lesson.pairCount) pairs have such: \(lesson.partialCount)"
        )
    }
    if lesson.singleCount > 0 {
        try environment.note(
            "\(lesson.singleCount) exchanges were not looked at: the other capture has none left that"
                + " stands for them")
    }
    return .clean
}

/// What an origin answered.
private func subject(
    _ path: String, _ environment: Environment
) throws -> CaptureComparison.Subject {
    CaptureComparison.Subject(name: path, source: try environment.openCapture(path)) {
        !$0.answeredByTool && $0.status > 0
    }
}
