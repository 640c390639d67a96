internal import Base

/// A person whose device a trace is made for: when they are up, when they travel, what they do with
/// their apps. Times of the day are in minutes of local time and may be beyond 24 hours for nights.
package struct TracePerson: Sendable {
    /// Something done at about the same time on some days.
    struct Habit: Sendable {
        let app: String
        /// When it is begun.
        let minute: Int
        /// By how much earlier or later.
        let jitter: Int
        /// In percent of the days.
        let chance: Int
        let days: DayKinds
        /// For how long, in minutes.
        let length: ClosedRange<Int>
    }

    enum DayKinds: Sendable {
        case all
        case weekdays
        case weekends
    }

    /// When the person is up, and how often they take the device in hand for something else.
    struct Day: Sendable {
        let rises: Int
        let sleeps: Int
        let pickups: ClosedRange<Int>
    }

    /// What an app's server does.
    struct Source: Sendable {
        let app: RefreshTrace.App
        /// How often something new comes, in a day and at night, each thousandths an hour.
        let dayRate: Int
        let nightRate: Int
        /// In percent: how often it comes with a push.
        let pushChance: Int
        let push: TracePush.Kind
        let thumbnails: ClosedRange<Int64>
        let assets: ClosedRange<Int64>
    }

    /// A way on which the network changes.
    struct Journey: Sendable {
        let leaves: Int
        let arrives: Int
        let days: DayKinds
    }

    package let name: String
    /// For people who read a list of them.
    package let summary: String
    let zoneMinutes: Int
    let weekday: Day
    let weekend: Day
    let habits: [Habit]
    let sources: [Source]
    let journeys: [Journey]
    /// Whether the device is charged while they sleep; else by day, now and then.
    let chargesAtNight: Bool
}

extension TracePerson {
    /// Those whose traces ship.
    package static let all: [TracePerson] = [
        commuter, nightWorker, weekendUser, heavyUser, rareUser,
    ]

    package static func named(_ name: String) -> TracePerson? { all.first { $0.name == name } }

    private static let commuter = TracePerson(
        name: "commuter", summary: "reads news on the train, morning and evening",
        zoneMinutes: 60, weekday: Day(rises: 390, sleeps: 1380, pickups: 18...30),
        weekend: Day(rises: 510, sleeps: 1440, pickups: 15...25),
        habits: [
            Habit(app: "news", minute: 425, jitter: 9, chance: 95, days: .weekdays, length: 5...15),
            Habit(app: "news", minute: 735, jitter: 15, chance: 70, days: .all, length: 3...8),
            Habit(
                app: "news", minute: 1065, jitter: 12, chance: 90, days: .weekdays, length: 5...15),
            Habit(app: "news", minute: 1290, jitter: 25, chance: 60, days: .all, length: 4...12),
            Habit(
                app: "podcasts", minute: 440, jitter: 10, chance: 80, days: .weekdays,
                length: 1...3),
            Habit(
                app: "podcasts", minute: 1080, jitter: 15, chance: 60, days: .weekdays,
                length: 1...3),
            Habit(
                app: "news", minute: 570, jitter: 30, chance: 80, days: .weekends, length: 5...20),
        ],
        sources: [.news(rate: 1200), .podcasts],
        journeys: [
            Journey(leaves: 415, arrives: 475, days: .weekdays),
            Journey(leaves: 1050, arrives: 1110, days: .weekdays),
        ],
        chargesAtNight: true)

    private static let nightWorker = TracePerson(
        name: "night-worker", summary: "is up at night and sleeps by day", zoneMinutes: -300,
        weekday: Day(rises: 960, sleeps: 1920, pickups: 15...28),
        weekend: Day(rises: 840, sleeps: 1620, pickups: 12...22),
        habits: [
            Habit(app: "news", minute: 990, jitter: 15, chance: 85, days: .all, length: 4...12),
            Habit(
                app: "news", minute: 1500, jitter: 10, chance: 90, days: .weekdays, length: 5...15),
            Habit(
                app: "news", minute: 1740, jitter: 12, chance: 75, days: .weekdays, length: 3...10),
            Habit(app: "mail", minute: 1020, jitter: 20, chance: 80, days: .all, length: 2...6),
            Habit(
                app: "mail", minute: 1620, jitter: 25, chance: 50, days: .weekdays, length: 1...4),
        ],
        sources: [.news(rate: 900), .mail],
        journeys: [
            Journey(leaves: 1260, arrives: 1300, days: .weekdays),
            Journey(leaves: 1810, arrives: 1850, days: .weekdays),
        ],
        chargesAtNight: true)

    private static let weekendUser = TracePerson(
        name: "weekend", summary: "hardly uses the apps before Saturday", zoneMinutes: 540,
        weekday: Day(rises: 400, sleeps: 1350, pickups: 8...14),
        weekend: Day(rises: 540, sleeps: 1470, pickups: 25...40),
        habits: [
            Habit(
                app: "photos", minute: 600, jitter: 25, chance: 90, days: .weekends, length: 10...30
            ),
            Habit(
                app: "photos", minute: 900, jitter: 40, chance: 80, days: .weekends, length: 5...30),
            Habit(
                app: "photos", minute: 1260, jitter: 30, chance: 85, days: .weekends,
                length: 10...40),
            Habit(
                app: "news", minute: 630, jitter: 20, chance: 75, days: .weekends, length: 5...15),
            Habit(
                app: "photos", minute: 1080, jitter: 45, chance: 70, days: .weekends, length: 3...9),
            Habit(
                app: "news", minute: 1275, jitter: 40, chance: 25, days: .weekdays, length: 3...8),
        ],
        sources: [.photos, .news(rate: 700)],
        journeys: [Journey(leaves: 780, arrives: 860, days: .weekends)], chargesAtNight: true)

    private static let heavyUser = TracePerson(
        name: "heavy", summary: "has the device in hand all day", zoneMinutes: 0,
        weekday: Day(rises: 420, sleeps: 1430, pickups: 45...70),
        weekend: Day(rises: 480, sleeps: 1490, pickups: 45...75),
        habits: (0..<14).map { number in
            Habit(
                app: ["news", "photos", "mail"][number % 3], minute: 440 + number * 68, jitter: 22,
                chance: 80, days: .all, length: 2...14)
        },
        sources: [.news(rate: 2500), .photos, .mail, .podcasts],
        journeys: [
            Journey(leaves: 510, arrives: 545, days: .weekdays),
            Journey(leaves: 1080, arrives: 1120, days: .all),
        ],
        chargesAtNight: false)

    private static let rareUser = TracePerson(
        name: "rare", summary: "takes the device in hand a few times a day", zoneMinutes: 120,
        weekday: Day(rises: 420, sleeps: 1320, pickups: 4...8),
        weekend: Day(rises: 450, sleeps: 1320, pickups: 3...8),
        habits: [
            Habit(app: "news", minute: 1170, jitter: 50, chance: 40, days: .all, length: 3...10),
            Habit(app: "news", minute: 480, jitter: 40, chance: 25, days: .all, length: 2...6),
            Habit(
                app: "podcasts", minute: 1200, jitter: 60, chance: 15, days: .all, length: 1...4),
        ],
        sources: [.news(rate: 800), .podcasts], journeys: [], chargesAtNight: true)
}

extension TracePerson.Source {
    fileprivate static func news(rate: Int) -> Self {
        var app = RefreshApp("news")
        app.interval = .minimum
        return Self(
            app: RefreshTrace.App(app, documentSize: 24_000), dayRate: rate, nightRate: rate / 6,
            pushChance: 0, push: .silent, thumbnails: 4_000...16_000, assets: 0...0)
    }

    /// Each episode is announced by a silent push, and is a large file.
    fileprivate static let podcasts: Self = {
        var app = RefreshApp("podcasts")
        app.interval = .seconds(3600)
        return Self(
            app: RefreshTrace.App(app, documentSize: 60_000), dayRate: 180, nightRate: 40,
            pushChance: 100, push: .silent, thumbnails: 20_000...40_000,
            assets: 20_000_000...60_000_000)
    }()

    /// Its files are closed while the device is locked.
    fileprivate static let mail: Self = {
        var app = RefreshApp("mail")
        app.interval = .seconds(900)
        app.storage = .complete
        app.buffersWhileLocked = true
        return Self(
            app: RefreshTrace.App(app, documentSize: 12_000), dayRate: 1500, nightRate: 300,
            pushChance: 50, push: .alertWithContent, thumbnails: 0...2_000, assets: 0...2_000_000)
    }()

    fileprivate static let photos: Self = {
        var app = RefreshApp("photos")
        app.interval = .minimum
        app.storage = .complete
        return Self(
            app: RefreshTrace.App(app, documentSize: 8_000), dayRate: 600, nightRate: 50,
            pushChance: 0, push: .silent, thumbnails: 8_000...60_000,
            assets: 1_000_000...8_000_000)
    }()
}
