import Base
import Testing

@testable import Refresh

/// How an app hears of the transfers that it left to a daemon.
struct TransferWakeTests {
    typealias Step = SchedulerScript.Step

    private static let ended = Step.transfers("news")
    private static let heard = [
        "wake 1 news launched transfer", "finished 1 news newData", "snapshot news",
    ]

    private static let rows: [(String, [(Int64, Step)], [String])] = [
        (
            "woken, whatever its interval",
            [(10, ended), (11, .pass), (12, .pass), (13, .complete(1, .newData))], heard
        ),
        ("not before others had time to end", [(10, ended), (11, .pass)], []),
        (
            "others that end meanwhile", [(10, ended), (11, ended), (12, .complete(1, .newData))],
            heard
        ),
        (
            "it is no activity",
            [
                (200, ended), (203, .complete(1, .newData)), (280, .event(.screen(isOn: true))),
                (299, .pass), (300, .pass),
            ], heard + ["window screen", "wake 2 news resumed screen"]
        ),
        (
            "in use", [(10, .event(.opened("news"))), (20, ended)],
            ["foreground news", "transfers-ended news"]
        ),
        (
            "opened meanwhile", [(10, ended), (11, .event(.opened("news"))), (20, .pass)],
            ["foreground news", "transfers-ended news"]
        ),
        (
            "removed from the switcher, until it is opened",
            [
                (10, .event(.removed("news"))), (20, ended), (25, ended),
                (90, .event(.opened("news"))),
            ],
            ["deferred news removed", "foreground news", "transfers-ended news"]
        ),
        (
            "refresh is off, until it is on",
            [
                (10, .event(.allowed("news", false))), (20, ended),
                (90, .event(.allowed("news", true))),
            ],
            ["deferred news refused", "wake 1 news launched transfer"]
        ),
        (
            "more end while it hears",
            [
                (10, ended), (12, ended), (13, .complete(1, .newData)), (14, .pass),
            ], heard + ["wake 2 news resumed transfer"]
        ),
        (
            "ended before it has heard", [(10, ended), (13, .event(.ended("news")))],
            [
                "wake 1 news launched transfer", "finished 1 news failed",
                "wake 2 news launched transfer",
            ]
        ),
        (
            "the radio is up behind it", [(400, ended), (402, .complete(1, .newData))],
            ["window radio", "wake 1 news launched radio", "wake 2 news resumed transfer"]
                + ["finished 1 news newData", "snapshot news"]
        ),
        ("nobody's", [(10, .transfers("mail"))], ["dropped mail unknownApp"]),
    ]

    @Test(arguments: rows)
    func decides(_ name: String, _ steps: [(Int64, Step)], _ told: [String]) {
        var script = SchedulerScript([.test("news")])
        #expect(script.play(steps) == told, "\(name)")
    }

    /// What a management server changes counts from then on.
    @Test func isConfigured() {
        let midnight = SchedulerScript.midnight
        var scheduler = RefreshScheduler(
            [.test("news")], RefreshPolicy(), seed: 1, at: midnight)
        _ = scheduler.take(.link(.cellular), at: midnight + 1000)
        _ = scheduler.configure(
            "news", allowsCellular: false, isLocal: false, at: midnight + 2000)
        #expect(
            scheduler.take(.screen(isOn: true), at: midnight + 400_000).map(SchedulerScript.words)
                == ["held news link"])
        #expect(
            scheduler.configure(
                "news", allowsCellular: true, isLocal: false, at: midnight + 401_000
            ).map(SchedulerScript.words) == ["window screen", "wake 1 news launched screen"])
        #expect(
            scheduler.configure(
                "mail", allowsCellular: true, isLocal: false, at: midnight + 402_000
            ).isEmpty)
    }
}
