internal import Base
internal import Replay
internal import Views

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
                "Requests are paired by method, origin and path in their order. A part that differs"
                    + " is proposed to be ignored, or to be substituted where the response holds it,"
                    + " too; so are parts of responses and fields of requests, for 'replay diff'."
                    + " An example of the values stands above each rule, with secrets as ***. It"
                    + " exits with 3 if no request of one is in the other.",
                "A rule is a line: 'ignore', 'match' or 'substitute', then 'response' if it is not"
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
    let lesson = try VolatileParts.lesson(
        try environment.openCapture(arguments.first), try environment.openCapture(arguments.second)
    ) { part, value in part.shown(value) }
    if lesson.pairCount == 0 {
        try environment.note(
            "nothing to learn from: no method, origin and path is in both captures")
        return .inconclusive
    }
    for proposal in lesson.proposals {
        try environment.output.write(
            TerminalText.sanitized("# \(proposal.reason)") + "\n"
                + TerminalText.sanitized(proposal.rule.text) + "\n")
    }
    if lesson.proposals.isEmpty {
        try environment.note(
            "no rule is proposed: \(lesson.pairCount) pairs of exchanges differ in nothing that"
                + " counts and was looked at"
        )
    }
    if lesson.partialCount > 0 {
        try environment.note(
            "messages of WebSockets, event streams and contents over 1 MiB were not looked at; so"
                + " many of \(lesson.pairCount) pairs have such: \(lesson.partialCount)")
    }
    if lesson.singleCount > 0 {
        try environment.note(
            "\(lesson.singleCount) exchanges were not looked at: the other capture has none of their"
                + " method, origin and path left")
    }
    return .clean
}
