internal import Base
internal import CommandSyntax
internal import Origins
internal import Runs
internal import Transfer

extension Command {
    /// `transfer`: downloads and uploads that go on by themselves.
    static var transfer: Command {
        Command(
            "transfer", "download and upload in the background, across crashes and restarts",
            examples: [
                Example(
                    purpose: "a download that goes on when the terminal is closed",
                    line: "sallyport transfer get https://example.org/film.mp4 --output film.mp4"),
                Example(
                    purpose: "the same, and wait for it; an interrupt ends the waiting only",
                    line: "sallyport transfer get https://example.org/film.mp4 --output film.mp4"
                        + " --wait"),
                Example(
                    purpose: "an upload that goes on where it broke off",
                    line: "sallyport transfer put film.mp4 https://example.org/films/film.mp4"),
                Example(purpose: "how far they are", line: "sallyport transfer list"),
                Example(
                    purpose: "forget one that has ended",
                    line: "sallyport transfer acknowledge 1b4e28ba"),
            ],
            details: [
                "A daemon does the transfers. It starts by itself, and ends when nothing was left to do"
                    + " for a minute; what is under way goes on when it is started next.",
                "What has come is put together only of parts of one version of the file: where nothing"
                    + " proves that, the file is fetched anew. A file that changes while it is uploaded"
                    + " fails.",
            ],
            subcommands: [
                .transferGet, .transferPut, .transferList, .transferShow, .transferWait,
                changing("resume", "let a transfer go on") { .resume($0) },
                changing("suspend", "stop a transfer until it is resumed") { .suspend($0) },
                changing("cancel", "end a transfer, and remove what has come of it") {
                    .cancel($0)
                },
                changing(
                    "acknowledge", "forget a transfer that has ended; the file stays where it is"
                ) { .acknowledge($0, event: nil) },
                .transferDaemon, .transferStop,
            ])
    }

    private static var transferGet: Command {
        Command(
            "get", "download a file",
            examples: [
                Example(
                    purpose: "in the background",
                    line: "sallyport transfer get https://example.org/film.mp4 --output film.mp4"),
                Example(
                    purpose: "wait for it, and see that it is the right one",
                    line: "sallyport transfer get https://example.org/disk.iso --output disk.iso"
                        + " --wait --sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
                ),
                Example(
                    purpose: "from a server with a CA of your own, and with a login",
                    line: "sallyport transfer get https://intern.example/a --output a"
                        + " --ca ca.pem --login-file login.txt"),
            ],
            details: [
                "Prints the transfer's ID. With --wait it shows a bar on a terminal and otherwise a line"
                    + " of JSON whenever something has changed, and forgets the transfer when it has told"
                    + " how it ended.",
                "It exits with 0 if the transfer is enqueued, or with --wait completed, with 1 if it"
                    + " failed or was cancelled, 3 if it waits for what you have to do (a login, to be"
                    + " resumed) or the waiting was interrupted, and 4 if it could not run.",
            ],
            arguments: TransferGetArguments(),
            parameters: [
                .positional(\.url, .httpURL, "what to download, by http or https"),
                .option(
                    "output", short: "o", \.output, .path("FILE"), "where the download goes; needed"
                ),
                .flag("replace", \.replaces, "replace a file that is there"),
                .option(
                    "sha256", \.digest, .sha256, "what the file's SHA-256 has to be"),
            ] + transferCommonParameters.map { $0.lifted(to: \.common) } + [
                .flag("json", \.place.isJSON, "print JSON, on a terminal too")
            ] + transferPlaceParameters.map { $0.lifted(to: \.place) },
            run: runTransferGet)
    }

    private static var transferList: Command {
        Command(
            "list", "list the transfers",
            examples: [
                Example(purpose: "all of them", line: "sallyport transfer list"),
                Example(
                    purpose: "for a program", line: "sallyport transfer list --session app --json"),
            ],
            arguments: TransferListArguments(),
            parameters: [
                .option("session", \.session, .text("NAME"), "those of this session only"),
                .flag("json", \.place.isJSON, "print a line of JSON for each"),
            ] + transferPlaceParameters.map { $0.lifted(to: \.place) },
            run: runTransferList)
    }

    private static var transferShow: Command {
        Command(
            "show", "show all that is known of a transfer",
            examples: [
                Example(purpose: "one of the list", line: "sallyport transfer show 1b4e28ba")
            ],
            arguments: TransferArguments(),
            parameters: [
                transferIDParameter, .flag("json", \.place.isJSON, "print a line of JSON"),
            ] + transferPlaceParameters.map { $0.lifted(to: \.place) },
            run: runTransferShow)
    }

    private static var transferWait: Command {
        Command(
            "wait", "wait for a transfer's end, as get and put do with --wait",
            examples: [
                Example(
                    purpose: "for one that an interrupt left going on",
                    line: "sallyport transfer wait 1b4e28ba")
            ],
            details: [
                "It forgets the transfer when it has told how it ended, and exits with 0 if it is"
                    + " completed, with 1 if it failed or was cancelled, 3 if it waits for what you have"
                    + " to do or the waiting was interrupted, and 4 if it could not run."
            ],
            arguments: TransferArguments(),
            parameters: [
                transferIDParameter, .flag("json", \.place.isJSON, "print JSON, on a terminal too"),
            ] + transferPlaceParameters.map { $0.lifted(to: \.place) },
            run: runTransferWait)
    }

    private static func changing(
        _ name: String, _ summary: String,
        _ request: @escaping @Sendable (String) -> DaemonRequest
    ) -> Command {
        Command(
            name, summary,
            examples: [
                Example(purpose: "one of the list", line: "sallyport transfer \(name) 1b4e28ba")
            ],
            arguments: TransferArguments(),
            parameters: [transferIDParameter]
                + transferPlaceParameters.map { $0.lifted(to: \.place) }
        ) { arguments, environment in
            try await arguments.change(request, environment)
        }
    }

    private static var transferDaemon: Command {
        Command(
            "daemon", "do the transfers, in the foreground",
            examples: [
                Example(
                    purpose: "in a unit of the system, or to see what it says",
                    line: "sallyport transfer daemon"),
                Example(
                    purpose: "by a company's proxy",
                    line: "sallyport transfer daemon --proxy http://proxy.example:3128"),
            ],
            details: [
                "The other commands start one when they need it, which ends when nothing was left to do"
                    + " for a minute; one that is started by hand stays.",
                "Without --proxy, --profile and --proxy-script it takes the proxies of the variables"
                    + " http_proxy, https_proxy, all_proxy and no_proxy, which commands that start it hand"
                    + " on. Of a script it reads conditions on the host, and on the URL without its path; it"
                    + " has no JavaScript.",
            ],
            arguments: TransferDaemonArguments(),
            parameters: transferPlaceParameters.map { $0.lifted(to: \.place) } + [
                .flag(
                    "until-idle", \.endsWhenIdle,
                    "end when nothing was left to do for a minute and nobody is connected")
            ] + proxySourceParameters.map { $0.lifted(to: \.proxies) },
            run: runTransferDaemon)
    }

    private static var transferStop: Command {
        Command(
            "stop", "stop the daemon; its transfers go on when it is started next",
            examples: [Example(purpose: "before an update", line: "sallyport transfer stop")],
            arguments: TransferPlace(), parameters: transferPlaceParameters,
            run: runTransferStop)
    }
}

private var transferIDParameter: Parameter<TransferArguments> {
    .positional(\.id, .text("ID"), "the transfer, as the list has it; its beginning is enough")
}

/// What both directions have.
var transferCommonParameters: [Parameter<TransferCommonArguments>] {
    [
        .flag("wait", \.waits, "wait until the transfer has ended"),
        .option(
            "ca", \.authorities, .path("FILE"),
            "certificates to trust besides the system's, in PEM"),
        .option(
            "login-file", \.login, .path("FILE"),
            "a file that only you can read, whose first line is the user:password for an"
                + " origin that asks for it"),
        .option(
            "session", \.session, .text("NAME"), standard: "default",
            "under which name a program takes the transfer up again"),
        .flag(
            "discretionary", \.isDiscretionary,
            "wait for power and a network that costs nothing"),
        .flag("no-cellular", \.avoidsCellular, "wait for another network than a cellular one"),
    ]
}

/// Where a client's proxies are named.
var proxySourceParameters: [Parameter<ProxySource>] {
    [
        .option(
            "proxy", \.proxy, .upstream,
            "the proxy that leads to all hosts, or to those of PATTERN"),
        .option(
            "profile", \.profile, .path("FILE"),
            "a configuration profile whose proxy is taken, and whose CAs are trusted"),
        .option(
            "proxy-script", \.script, .text("FILE|URL"), "a script that names the proxies (PAC)"),
    ]
}

var transferPlaceParameters: [Parameter<TransferPlace>] {
    [
        .option(
            "folder", \.folder, .path("FOLDER"),
            "where the transfers are (default: in the state folder of the tool)")
    ]
}

/// Whose transfers, and how they are printed.
struct TransferPlace {
    var folder: String?
    var isJSON = false
}

struct TransferDaemonArguments {
    var endsWhenIdle = false
    var place = TransferPlace()
    var proxies = ProxySource()
}

struct TransferArguments {
    var id = ""
    var place = TransferPlace()
}

struct TransferListArguments {
    var session: String?
    var place = TransferPlace()
}

struct TransferGetArguments {
    var url = ""
    var output: String?
    var replaces = false
    var digest: [UInt8]?
    var common = TransferCommonArguments()
    var place = TransferPlace()
}

struct TransferCommonArguments {
    var waits = false
    var authorities: String?
    var login: String?
    var session = "default"
    var isDiscretionary = false
    var avoidsCellular = false
}

extension ValueSyntax where Value == String {
    /// A URL by http or https, without a user in it.
    static var httpURL: ValueSyntax {
        ValueSyntax("URL") { text throws(UsageFailure) in
            do throws(Failure) {
                _ = try OriginLocation(text)
            } catch {
                throw UsageFailure(error.detail)
            }
            return text
        }
    }
}

extension ValueSyntax where Value == [UInt8] {
    /// A digest in hexadecimal.
    static var sha256: ValueSyntax {
        .reading("HEX", wanted: "a SHA-256 of 64 hexadecimal digits") { text in
            bytes(fromHex: text).flatMap { $0.count == 32 ? $0 : nil }
        }
    }
}
