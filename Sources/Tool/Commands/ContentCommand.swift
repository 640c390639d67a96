internal import Base
internal import CommandSyntax
internal import Glibc
internal import Launching
internal import Presentation
internal import Runs
internal import Sockets
internal import TLS
internal import Terminal

extension Command {
    /// `content`: the fake origin beside the proxy.
    static var content: Command {
        Command(
            "content", "serve a folder and generated assets over http and https",
            examples: [
                Example(purpose: "generated assets only", line: "sallyport content"),
                Example(
                    purpose: "a folder, on ports of your choice",
                    line: "sallyport content --root ./site --listen 127.0.0.1:9000"
                        + " --tls-listen 127.0.0.1:9443"),
                Example(
                    purpose: "an asset of 20 GB that needs no disk",
                    line: "curl http://127.0.0.1:8081/assets/7/20g | sha256sum"),
                Example(
                    purpose: "a download that breaks off",
                    line: "curl -O 'http://127.0.0.1:8081/faults/cut:400000/assets/7/1m'"),
                Example(
                    purpose: "an upload, which stays in a folder",
                    line: "sallyport content --uploads ./uploads &"
                        + " curl -T movie.mp4 http://127.0.0.1:8081/uploads/"),
            ],
            details: [
                "An asset /assets/SEED/SIZE is the same bytes on every machine;"
                    + " /assets/SEED/SIZE/sha256 tells its digest. https is served with"
                    + " certificates of a test CA, whose path is printed.",
                "/faults lists what can go wrong, by the URL of a request or by a scenario.",
            ],
            arguments: ContentArguments(),
            parameters: [
                .option(
                    "listen", \.content.listen, .hostPort, standard: "127.0.0.1:8081",
                    "the address for http; port 0 for a free one"),
                .option(
                    "tls-listen", \.content.tlsListen, .hostPort, standard: "127.0.0.1:8444",
                    "the address for https"),
                .option(
                    "zone", \.content.zone, .domainName, standard: "sallyport.test",
                    "what the names of its flawed TLS hosts are below, as in time-expired.DOMAIN"),
                .option("root", \.content.folder, .path("FOLDER"), "serve the files in it"),
                .option(
                    "uploads", \.content.uploads, .path("FOLDER"),
                    "keep what is uploaded to /uploads in it"),
                .option(
                    "uploads-limit", \.content.uploadByteLimit, .byteCount(0...1 << 50),
                    standard: "1g", "the size of all uploads together"),
                .option(
                    "scenario", \.content.scenario, .path("FILE"),
                    "let go wrong what it has rules for"),
                .option(
                    "seed", \.content.seed, .count(), standard: "1",
                    "what is drawn for faults is drawn from it"),
                .option(
                    "journal", \.content.journal, .path("FILE"),
                    "add what clients do to it, a line of JSON for each request"),
                .flag("json", \.isJSON, "say that it is ready in a line of JSON"),
            ],
            subcommands: [.contentJournal],
            run: runContent)
    }

    /// `content journal`: what clients did.
    private static var contentJournal: Command {
        Command(
            "journal", "list what clients did, and judge it",
            examples: [
                Example(
                    purpose: "what was asked for and answered", line: "sallyport content journal"),
                Example(
                    purpose: "whether a download went on where it broke off",
                    line: "sallyport content journal --path '/assets/*' --assert no-byte-twice"
                        + " --assert if-range --assert whole"),
                Example(
                    purpose: "begin anew, between two tests",
                    line: "sallyport content journal --reset"),
            ],
            details: [
                "An assertion is no-byte-twice, if-range, retries:N[:TIME], no-cleartext, whole or"
                    + " parallel:N; each is judged over the requests of one client for one target."
            ],
            arguments: JournalArguments(),
            parameters: [
                .option(
                    "server", \.query.server, .hostPort, standard: "127.0.0.1:8081",
                    "the content server's address for http"),
                .option("client", \.query.client, .text("LABEL"), "of this client only"),
                .option(
                    "path", \.query.path, .text("PATTERN"),
                    "for these paths only; * stands for any text"),
                .option(
                    "range", \.query.range, .text("PATTERN"),
                    "with this Range only, such as 'bytes=400-'; * for any"),
                .repeated("assert", \.query.assertions, .text("RULE"), "what has to hold"),
                .flag("reset", \.query.resets, "forget all requests, and count faults anew"),
                .flag("json", \.query.isJSON, "print a JSON document"),
            ],
            run: runJournal)
    }
}

private struct ContentArguments {
    var content = ContentOptions()
    var isJSON = false
}

private struct JournalArguments {
    var query = JournalQuery()
}

private func runJournal(
    _ arguments: JournalArguments, _ environment: Environment
) async throws -> ExitCode {
    let loops = try EventLoops(count: 1)
    defer { loops.stop() }
    let query = arguments.query
    let answer = try await withTaskExecutorPreference(loops.all[0]) {
        try await query.ask(on: loops.all[0])
    }
    try environment.output.write(answer.content)
    switch answer.outcome {
    case "failed": return .findings
    case "unseen": return .inconclusive
    default: return .clean
    }
}

private func runContent(
    _ arguments: ContentArguments, _ environment: Environment
) async throws -> ExitCode {
    let signals = try StopSignals()
    let loops = try EventLoops(count: availableProcessorCount())
    let service = try ContentService(
        arguments.content, variables: environment.variables, loops: loops.all)
    signals.watch(onStop: { _ in service.stop() }, onTick: {})
    if arguments.isJSON {
        let ready = service.json(processID: getpid())
        try environment.output.write(ready.line + [UInt8(ascii: "\n")])
    } else {
        try environment.output.write(service.text)
    }
    let endedInOrder = await service.run()
    loops.stop()
    return endedInOrder ? .clean : .inconclusive
}

extension ContentService {
    /// Where it is, for people.
    var text: String {
        """
        content server: http://\(HostPort(http).reachable)/ and https://\(HostPort(https).reachable)/
        its test CA: \(TerminalText.sanitized(authority.certificatePath))

        """
    }
}
