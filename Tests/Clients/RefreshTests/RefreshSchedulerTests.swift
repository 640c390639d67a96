import Base
import Testing

@testable import Refresh

struct RefreshSchedulerTests {
    typealias Step = SchedulerScript.Step

    private static let on = Step.event(.screen(isOn: true))
    private static let off = Step.event(.screen(isOn: false))
    private static let news = RefreshApp.test("news")
    private static let vault = RefreshApp.test("vault") { $0.storage = .complete }
    private static let buffered = RefreshApp.test("mail") {
        $0.storage = .complete
        $0.buffersWhileLocked = true
    }
    private static let local = RefreshApp.test("nas") { $0.isLocal = true }

    private static let rows: [(String, [RefreshApp], [(Int64, Step)], [String])] = [
        ("never asked", [.test("news", .never)], [(9_000, on), (20_000, .pass)], []),
        (
            "a quiet period first", [news], [(200, on), (299, .pass), (300, .pass)],
            ["window screen", "wake 1 news launched screen"]
        ),
        (
            "seconds count from the last use", [.test("news", .seconds(3600))],
            [
                (100, .event(.opened("news"))), (200, .event(.closed("news"))), (300, on),
                (3799, .pass), (3800, .pass),
            ],
            ["foreground news", "window screen", "wake 1 news resumed screen"]
        ),
        (
            "and from the last fetch", [.test("news", .seconds(600))],
            [(700, on), (705, .complete(1, .newData)), (1304, .pass), (1305, .pass)],
            [
                "window screen", "wake 1 news launched screen", "finished 1 news newData",
                "snapshot news", "window screen", "wake 2 news resumed screen",
            ]
        ),
        (
            "nothing new doubles the pause, something new halves it", [news],
            [
                (300, on), (300, .complete(1, .noData)), (899, .pass),
                (900, .complete(2, .newData)),
                (1199, .pass), (1200, .pass),
            ],
            [
                "window screen", "wake 1 news launched screen", "finished 1 news noData",
                "snapshot news", "window screen", "wake 2 news resumed screen",
                "finished 2 news newData", "snapshot news", "window screen",
                "wake 3 news resumed screen",
            ]
        ),
        (
            "no wake while it is used", [news],
            [(300, .event(.opened("news"))), (301, on), (5000, .pass)], ["foreground news"]
        ),
        (
            "somebody else's radio", [news], [(400, .event(.radio(2000)))],
            ["window radio", "wake 1 news launched radio"]
        ),
        (
            "a radio that is off again", [news], [(200, .event(.radio(99_000))), (400, .pass)], []
        ),
        (
            "a charger", [news], [(400, .event(.power(isCharging: true, level: 3)))],
            ["window charging", "wake 1 news launched charging"]
        ),
        (
            "an empty battery", [news],
            [(10, .event(.power(isCharging: false, level: 14))), (400, on), (500, off), (600, on)],
            ["held news battery"]
        ),
        (
            "no network", [news], [(10, .event(.link(.none))), (400, on)], ["held news link"]
        ),
        (
            "not over cellular",
            [.test("news") { $0.allowsCellular = false }],
            [(10, .event(.link(.cellular))), (400, on), (500, .event(.link(.wifi)))],
            ["held news link", "window screen", "wake 1 news launched screen"]
        ),
        (
            "one window for all", [news, .test("mail"), .test("late", .seconds(350))],
            [(330, on), (350, .pass)],
            [
                "window screen", "wake 1 news launched screen",
                "wake 2 mail launched screen coalesced", "wake 3 late launched screen coalesced",
            ]
        ),
        (
            "no more than four at once", (1...6).map { .test("\($0)") },
            [(400, on), (401, .complete(2, .noData))],
            [
                "window screen", "wake 1 1 launched screen", "wake 2 2 launched screen coalesced",
                "wake 3 3 launched screen coalesced", "wake 4 4 launched screen coalesced",
                "finished 2 2 noData", "snapshot 2", "wake 5 5 launched screen coalesced",
            ]
        ),
        (
            "windows keep apart", [news, .test("late", .seconds(460))],
            [(330, on), (331, .complete(1, .newData)), (569, .pass), (570, .pass)],
            [
                "window screen", "wake 1 news launched screen", "finished 1 news newData",
                "snapshot news", "window screen", "wake 2 late launched screen",
            ]
        ),
        (
            "no completion", [news], [(400, on), (429, .pass), (430, .pass)],
            [
                "window screen", "wake 1 news launched screen", "violation noCompletion 1 news",
                "finished 1 news failed", "terminated news",
            ]
        ),
        (
            "a completion too late", [news], [(400, on), (433, .complete(1, .newData))],
            [
                "window screen", "wake 1 news launched screen", "violation noCompletion 1 news",
                "finished 1 news failed", "terminated news", "violation lateCompletion 1 news",
            ]
        ),
        (
            "two completions", [news],
            [(400, on), (402, .complete(1, .noData)), (403, .complete(1, .newData))],
            [
                "window screen", "wake 1 news launched screen", "finished 1 news noData",
                "snapshot news", "violation secondCompletion 1 news",
            ]
        ),
        ("a token of nobody", [news], [(10, .complete(1, .noData))], []),
        (
            "too much at once", [news],
            [(400, on), (402, .report(1, WakeReport(.newData, bytes: 3 << 20, processor: 5_001)))],
            [
                "window screen", "wake 1 news launched screen", "finished 1 news newData",
                "violation overBytes 1 news", "violation overProcessor 1 news", "terminated news",
            ]
        ),
        (
            "two wakes that overlap end each by itself", [news],
            [
                (10, .push(.silent, "news")), (11, .push(.silent, "news")),
                (12, .complete(1, .noData)), (13, .complete(2, .newData)),
            ],
            [
                "wake 1 news launched push", "wake 2 news resumed push", "finished 1 news noData",
                "snapshot news", "finished 2 news newData", "snapshot news",
            ]
        ),
        (
            "an alert wakes nobody", [news], [(10, .push(.alert, "news"))], ["banner news"]
        ),
        (
            "the wake comes before what is seen", [news],
            [(10, .push(.alertWithContent, "news"))], ["wake 1 news launched push", "banner news"]
        ),
        (
            "a push takes others along", [news, .test("mail")], [(400, .push(.silent, "news"))],
            ["wake 1 news launched push", "window radio", "wake 2 mail launched radio"]
        ),
        (
            "refresh is off", [news],
            [
                (10, .event(.allowed("news", false))), (400, on), (401, .push(.silent, "news")),
                (402, .push(.alertWithContent, "news")), (403, .event(.allowed("news", true))),
            ],
            [
                "dropped news refused", "dropped news refused", "banner news", "window screen",
                "wake 1 news launched screen",
            ]
        ),
        (
            "removed until it is opened", [news],
            [
                (10, .event(.removed("news"))), (400, on), (401, .push(.silent, "news")),
                (500, .event(.opened("news"))), (501, .event(.closed("news"))), (801, .pass),
            ],
            [
                "dropped news removed", "foreground news", "window screen",
                "wake 1 news resumed screen",
            ]
        ),
        (
            "a push in front of the user", [news],
            [(10, .event(.opened("news"))), (11, .push(.silent, "news"))],
            ["foreground news", "delivered news"]
        ),
        (
            "a push that came in use, of an app that was left", [news],
            [
                (10, .event(.opened("news"))), (11, .push(.silent, "news")),
                (12, .event(.closed("news"))), (41, .returned("news")),
            ],
            ["foreground news", "delivered news", "wake 1 news resumed push"]
        ),
        (
            "of one that was removed", [news],
            [
                (10, .event(.opened("news"))), (11, .push(.silent, "news")),
                (12, .event(.removed("news"))), (41, .returned("news")),
            ],
            ["foreground news", "delivered news", "dropped news removed"]
        ),
        (
            "a push for nobody", [news], [(10, .push(.silent, "other"))],
            ["dropped other unknownApp"]
        ),
        (
            "a failed push is tried again", [news],
            [(10, .push(.silent, "news")), (11, .complete(1, .failed)), (80, .pass)],
            [
                "wake 1 news launched push", "finished 1 news failed", "snapshot news",
                "wake 2 news resumed push",
            ]
        ),
        (
            "locked: it waits", [vault],
            [
                (10, .event(.locked)), (20, .push(.silent, "vault")), (400, on),
                (410, .event(.unlocked)),
            ],
            ["deferred vault locked", "held vault locked", "wake 1 vault launched push"]
        ),
        (
            "locked: it goes aside and is merged once", [buffered],
            [
                (10, .event(.locked)), (20, .push(.silent, "mail")), (21, .complete(1, .newData)),
                (30, .push(.silent, "mail")), (31, .complete(2, .noData)),
                (40, .event(.unlocked)), (50, .event(.locked)), (51, .event(.unlocked)),
            ],
            [
                "wake 1 mail launched push aside", "finished 1 mail newData", "snapshot mail",
                "wake 2 mail resumed push aside", "finished 2 mail noData", "snapshot mail",
                "merge mail 1",
            ]
        ),
        (
            "behind a reboot nothing is open before the first unlocking", [news, buffered],
            [
                (10, .event(.rebooted)), (20, .push(.silent, "news")),
                (21, .push(.silent, "mail")), (22, .event(.unlocked)),
            ],
            [
                "deferred news locked", "deferred mail locked", "wake 1 news launched push",
                "wake 2 mail launched push",
            ]
        ),
        (
            "a reboot ends wakes", [news],
            [(400, on), (401, .event(.rebooted)), (402, .complete(1, .newData))],
            [
                "window screen", "wake 1 news launched screen", "finished 1 news failed",
                "violation lateCompletion 1 news",
            ]
        ),
        (
            "the local network: asked in front of the user alone", [local],
            [
                (400, on), (500, .event(.opened("nas"))), (501, .event(.closed("nas"))),
                (900, .pass), (901, .event(.consent("nas", isGranted: true))),
            ],
            [
                "held nas consent", "ask nas", "foreground nas", "window screen",
                "wake 1 nas resumed screen",
            ]
        ),
        (
            "the local network: denied, and granted later", [local],
            [
                (1, .event(.opened("nas"))), (2, .event(.consent("nas", isGranted: false))),
                (3, .event(.closed("nas"))), (400, on), (401, .push(.silent, "nas")),
                (500, .event(.opened("nas"))), (501, .event(.closed("nas"))),
                (502, .push(.silent, "nas")), (503, .event(.consent("nas", isGranted: true))),
            ],
            [
                "ask nas", "foreground nas", "held nas consent", "deferred nas consent",
                "foreground nas", "deferred nas consent", "wake 1 nas resumed push",
            ]
        ),
    ]

    /// A clock that jumps by fourteen years, or a machine that was suspended: the wake under way is over,
    /// and what could have been in between is not made up for.
    @Test func leavesOutWhatNobodyCouldTake() {
        let gap: Int64 = 14 * 365 * 86_400
        var script = SchedulerScript([Self.news])
        #expect(
            script.play([(300, Self.on)])
                == ["window screen", "wake 1 news launched screen"])
        let now = SchedulerScript.midnight + (300 + gap) * 1000
        #expect(
            script.scheduler.catchUp(to: now).map(SchedulerScript.words) == [
                "violation noCompletion 1 news", "finished 1 news failed", "terminated news",
            ])
        #expect(script.scheduler.catchUp(to: now).isEmpty)
        #expect(script.scheduler.advance(to: now).isEmpty)
        let next = (script.scheduler.nextTime ?? 0) - now
        #expect((1...86_400_000).contains(next), "\(next)")
    }

    /// A timer that is a little late is no gap.
    @Test func isNotLateForALittle() {
        var script = SchedulerScript([Self.news])
        #expect(script.play([(200, Self.on)]).isEmpty)
        #expect(
            script.scheduler.catchUp(to: SchedulerScript.midnight + 301_000).isEmpty)
        #expect(script.play([(301, .pass)]) == ["window screen", "wake 1 news launched screen"])
    }

    @Test(arguments: rows.indices)
    func decides(_ index: Int) {
        let (name, apps, steps, expected) = Self.rows[index]
        var script = SchedulerScript(apps)
        #expect(script.play(steps) == expected, "\(name)")
    }

    /// What an app takes too much of is missing until the next day.
    @Test func starvesWhoTakesTooMuch() {
        var policy = RefreshPolicy()
        policy.wifiByteLimit = 1000
        var script = SchedulerScript([Self.news], policy)
        #expect(
            script.play([
                (400, Self.on), (401, .report(1, WakeReport(.newData, bytes: 1000))),
                (720, Self.off), (730, Self.on), (80_000, Self.off), (80_001, Self.on),
                (80_002, .push(.silent, "news")),
            ]) == [
                "window screen", "wake 1 news launched screen", "finished 1 news newData",
                "snapshot news", "held news budget", "deferred news budget",
            ])
        #expect(script.play([(86_399, .pass)]) == [])
        #expect(script.play([(86_400, .pass)]) == ["wake 2 news resumed push"])
    }

    /// Wakes that are never completed take their part of the budget, however many pushes come.
    @Test func starvesWhoNeverCompletes() {
        var policy = RefreshPolicy()
        policy.radioLimit = 60_000
        var script = SchedulerScript([.test("news", .never)], policy)
        let over = { (wake: Int) in
            ["violation noCompletion \(wake) news", "finished \(wake) news failed"]
        }
        #expect(
            script.play([
                (10, .push(.silent, "news")), (40, .pass), (41, .push(.silent, "news")),
                (71, .pass), (72, .push(.silent, "news")), (900, .push(.silent, "news")),
            ])
                == ["wake 1 news launched push"] + over(1) + [
                    "terminated news", "wake 2 news launched push",
                ] + over(2) + ["terminated news", "deferred news budget", "deferred news budget"])
    }

    /// Failures back off, within bounds, and what the server wants is heeded.
    @Test func leavesFailingServersAlone() {
        var script = SchedulerScript([.test("news", .seconds(0))])
        var gaps: [Int64] = []
        var now: Int64 = 400
        #expect(script.play([(now, Self.on)]).count == 2)
        for number in 1...12 as ClosedRange<UInt64> {
            _ = script.play([(now + 1, .complete(number, .failed))])
            let from = now
            while script.play([(now, .pass)]).isEmpty { now += 1 }
            gaps.append(now - from)
        }
        #expect(gaps.first ?? 0 >= 300)
        #expect(gaps.last ?? 0 > 3000)
        #expect(gaps.allSatisfy { $0 <= 7202 })
        var asked = SchedulerScript([.test("news", .seconds(0))])
        #expect(
            asked.play([
                (400, Self.on), (401, .report(1, WakeReport(.failed, retryAfter: 1_800_000))),
                (2200, .pass),
            ]).count == 4)
        #expect(asked.play([(2201, .pass)]).count == 2)
    }

    /// Two weeks of breakfasts, and the app is fetched before the next one.
    @Test func learnsWhenItIsUsed() {
        var script = SchedulerScript([.test("news", .seconds(3600))])
        for day in 0..<12 as Range<Int64> {
            let breakfast = day * 86_400 + 7 * 3600 + 5 * 60
            _ = script.play([
                (breakfast, .event(.opened("news"))), (breakfast + 300, .event(.closed("news"))),
            ])
            var told: [String] = []
            while let next = script.scheduler.nextTime,
                next < SchedulerScript.midnight + (day + 1) * 86_400_000
            {
                told += script.scheduler.advance(to: next).map(SchedulerScript.words)
            }
        }
        let monday = 14 * 86_400 as Int64
        _ = script.play([(monday, .pass)])
        var wakes: [Int64] = []
        while let next = script.scheduler.nextTime,
            next < SchedulerScript.midnight + (monday + 86_400) * 1000
        {
            for decision in script.scheduler.advance(to: next) {
                guard case .wake(let wake) = decision else { continue }
                wakes.append((next - SchedulerScript.midnight) / 1000 - monday)
                _ = script.scheduler.complete(wake.token, WakeReport(.newData), at: next)
            }
        }
        // In the quarter before, less the lead, or in that of the use.
        #expect(wakes.first.map { (24_180...25_500).contains($0) } ?? false, "\(wakes)")
        #expect(wakes.allSatisfy { (24_180...27_000).contains($0) }, "\(wakes)")
    }
}
