internal import Base
internal import CommandSyntax
internal import Refresh
internal import Runs

extension Command {
    static var fetchRun: Command {
        Command(
            "run", "keep feeds up to date until interrupted, or refresh them once",
            examples: [
                Example(
                    purpose: "a feed; its files go to transfers in the background",
                    line: "sallyport fetch run https://example.org/podcast.rss --assets ./episodes"),
                Example(
                    purpose: "once, from a timer of the system",
                    line: "sallyport fetch run https://example.org/feed.json --once"),
                Example(
                    purpose: "woken by the pushes of a content server",
                    line: "sallyport fetch run http://127.0.0.1:8081/feeds/json/news"
                        + " --app com.example.news --push http://127.0.0.1:8081"),
                Example(
                    purpose: "with a script that plays the device",
                    line:
                        "./device.sh | sallyport fetch run https://example.org/feed.json --events -"
                ),
            ],
            details: [
                "Prints a line for each decision, wake, push, result and transfer: text on a terminal,"
                    + " JSON otherwise.",
                "Without --events, this machine is taken for a device whose app was opened once and"
                    + " whose screen is on, so that the app is woken whenever its quiet period is over."
                    + " With --events the device begins with its screen off, unlocked, on battery and"
                    + " Wi-Fi, and what happens to it is read: events of a trace without 'at', a line of"
                    + " JSON each, such as {\"event\":\"open\",\"app\":\"app\"}.",
                "With --once each feed is fetched once, as in a wake. It exits with 0 if there is new"
                    + " data or none, 1 if a feed failed, 3 if no server was asked (the feeds are gone, or"
                    + " their servers want to be left alone), and 4 if it could not run.",
            ],
            arguments: FetchRunArguments(), parameters: runParameters, run: runFetch)
    }

    private static var runParameters: [Parameter<FetchRunArguments>] {
        [
            .list(\.urls, .httpURL, "the feeds, by http or https"),
            .option(
                "app", \.app, .appName, standard: "app",
                "the name of the app that they are of, and of the session of its transfers"),
            .option(
                "interval", \.interval, .refreshInterval, standard: "minimum",
                "how long nothing wakes the app behind its last activity: never (wake it for pushes"
                    + " alone), minimum, or seconds"),
            .option(
                "push", \.service, .httpURL, "a push service, such as that of a content server"),
            .option(
                "device", \.device, .appName, standard: "device", "what the push service calls it"),
            .option(
                "topic", \.topic, .appName, "what pushes are sent to (default: the app's name)"),
            .option(
                "store", \.store, .path("FOLDER"),
                "where the state is (default: in the state folder of the tool)"),
            .option(
                "assets", \.assets, .path("FOLDER"),
                "where whole files go (default: assets in the folder of the state)"),
            .option(
                "transfers", \.transfers, .path("FOLDER"),
                "where the transfers are (default: in the state folder of the tool)"),
            .option(
                "ca", \.authorities, .path("FILE"),
                "certificates to trust besides the system's, in PEM"),
        ] + proxySourceParameters.map { $0.lifted(to: \.proxies) } + [
            .option(
                "managed", \.managed, .httpURL,
                "a management server that says how the app is configured, at the start and each"
                    + " hour, and is told counts"),
            .flag("once", \.isOnce, "fetch each feed once, and exit"),
            .option(
                "events", \.events, .path("FILE"),
                "read what happens to the device; - for standard input"),
            .option(
                "seed", \.seed, .count(), standard: "1", "what is drawn for pauses is drawn from it"
            ),
            .flag("json", \.isJSON, "print JSON, on a terminal too"),
        ]
    }

    static var fetchItems: Command {
        Command(
            "items", "list what has been fetched",
            examples: [
                Example(purpose: "all of it", line: "sallyport fetch items"),
                Example(
                    purpose: "of another folder, for a program",
                    line: "sallyport fetch items --store ./news --json"),
            ],
            arguments: FetchItemsArguments(),
            parameters: [
                .option(
                    "store", \.store, .path("FOLDER"),
                    "where the state is (default: in the state folder of the tool)"),
                .flag("json", \.isJSON, "print a line of JSON for each"),
            ],
            run: runFetchItems)
    }
}

struct FetchRunArguments {
    var urls: [String] = []
    var app = "app"
    var interval = RefreshInterval.minimum
    var service: String?
    var device = "device"
    var topic: String?
    var store: String?
    var assets: String?
    var transfers: String?
    var authorities: String?
    var proxies = ProxySource()
    var managed: String?
    var isOnce = false
    var events: String?
    var seed: Int64 = 1
    var isJSON = false
}

struct FetchItemsArguments {
    var store: String?
    var isJSON = false
}

extension ValueSyntax where Value == String {
    /// A name that goes into URLs and into names of sessions.
    fileprivate static var appName: ValueSyntax {
        .reading("NAME", wanted: "a name of letters, digits, '.', '_' and '-'") { text in
            let isName =
                (1...64).contains(text.utf8.count)
                && text.utf8.allSatisfy {
                    $0.isASCIILetter || $0.isASCIIDigit || [0x2D, 0x2E, 0x5F].contains($0)
                }
            return isName ? text : nil
        }
    }
}

extension ValueSyntax where Value == RefreshInterval {
    fileprivate static var refreshInterval: ValueSyntax {
        .reading(
            "INTERVAL", wanted: "never, minimum or a number of seconds", RefreshInterval.init)
    }
}
