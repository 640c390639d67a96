internal import Base
internal import Glibc
internal import Launching
internal import Runs
internal import Sockets
internal import TLS

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
            ],
            details: [
                "An asset /assets/SEED/SIZE is the same bytes on every machine;"
                    + " /assets/SEED/SIZE/sha256 tells its digest. https is served with"
                    + " certificates of a test CA, whose path is printed."
            ],
            arguments: ContentArguments(),
            parameters: [
                .option(
                    "listen", \.content.listen, .hostPort, standard: "127.0.0.1:8081",
                    "the address for http; port 0 for a free one"),
                .option(
                    "tls-listen", \.content.tlsListen, .hostPort, standard: "127.0.0.1:8444",
                    "the address for https"),
                .option("root", \.content.folder, .path("FOLDER"), "serve the files in it"),
                .flag("json", \.isJSON, "say that it is ready in a line of JSON"),
            ],
            run: runContent)
    }
}

private struct ContentArguments {
    var content = ContentOptions()
    var isJSON = false
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
