extension Command {
    /// `replay`: recorded traffic used again.
    static var replay: Command {
        Command(
            "replay", "use recorded traffic again: compare it",
            examples: [
                Example(
                    purpose: "how the traffic of one build differs from that of another",
                    line: "sallyport replay diff before.sallyport after.sallyport")
            ],
            subcommands: [
                .replayDiff
            ])
    }
}
