internal import Base

/// Makes a trace of some weeks for a person, from a seed: the same each time.
///
/// The device is in hand for what the person does with the apps and for other things, and sleeps
/// in between; servers publish by themselves. Everything is drawn, so that nothing comes at the
/// same minute twice.
package struct RefreshTraceGenerator {
    private let person: TracePerson
    private let seed: UInt64
    private let dayCount: Int
    private var drawn: UInt64 = 0
    private var events: [(at: Int64, order: Int, kind: RefreshTrace.Kind)] = []

    /// One time in hand, in seconds since the start.
    private struct Session {
        let start: Int64
        let length: Int64
        /// `nil` for something that is none of the apps.
        let app: String?
        var end: Int64 { start + length }
    }

    package static let weekLimit = 52
    /// Shipped traces are this long.
    package static let weeks = 6

    /// - Parameter weeks: from 1 to 52.
    package static func generate(
        _ person: TracePerson, seed: UInt64 = 1, weeks: Int = weeks
    ) -> RefreshTrace {
        let weeks = min(max(1, weeks), weekLimit)
        var generator = RefreshTraceGenerator(person, seed: seed, dayCount: weeks * 7)
        return generator.generate()
    }

    private init(_ person: TracePerson, seed: UInt64, dayCount: Int) {
        self.person = person
        self.dayCount = dayCount
        self.seed = person.name.utf8.reduce(seed) { SplitMix.mix($0 ^ UInt64($1)) }
    }

    private mutating func generate() -> RefreshTrace {
        add(0, .device(.link(.wifi)))
        add(0, .device(.power(isCharging: false, level: 80)))
        for source in person.sources { publish(source) }
        var sessions: [Session] = []
        for day in 0..<dayCount {
            sessions += habits(on: day) + pickups(on: day)
            travel(on: day)
            charge(on: day)
        }
        play(sessions)
        let end = Int64(dayCount) * 86_400
        let kept = events.filter { $0.at < end }.sorted { ($0.at, $0.order) < ($1.at, $1.order) }
        return RefreshTrace(
            name: person.name, start: start, zoneMinutes: person.zoneMinutes,
            apps: person.sources.map(\.app),
            events: kept.map { RefreshTrace.Event(at: $0.at, $0.kind) }
                + [RefreshTrace.Event(at: end, .end)])
    }

    /// Local midnight of Monday, 2026-03-02.
    private var start: Timestamp {
        let seconds = 1_772_409_600 - Int64(person.zoneMinutes) * 60
        return Timestamp(microseconds: seconds * 1_000_000)
    }

    private mutating func draw(_ range: ClosedRange<Int64>) -> Int64 {
        drawn += 1
        let width = UInt64(range.upperBound - range.lowerBound) + 1
        return range.lowerBound + Int64(SplitMix.word(seed: seed, drawn) % width)
    }

    private mutating func happens(percent: Int) -> Bool { draw(0...99) < percent }

    private mutating func add(_ at: Int64, _ kind: RefreshTrace.Kind) {
        events.append((max(0, at), events.count, kind))
    }

    // MARK: Servers

    /// Hour by hour, as often as the rate says in the mean.
    private mutating func publish(_ source: TracePerson.Source) {
        for hour in 0..<Int64(dayCount) * 24 {
            let isDay = (6..<22).contains(hour % 24)
            var rate = Int64(isDay ? source.dayRate : source.nightRate)
            while rate > 0 {
                if draw(0...999) < rate {
                    let at = hour * 3600 + draw(0...3599)
                    add(
                        at,
                        .published(
                            source.app.app.name, thumbnails: draw(source.thumbnails),
                            assets: draw(source.assets)))
                    if happens(percent: source.pushChance) {
                        add(at + 1, .pushed(source.app.app.name, TracePush(source.push)))
                    }
                }
                rate -= 1000
            }
        }
    }

    // MARK: The person

    private static func isWeekend(_ day: Int) -> Bool { day % 7 >= 5 }

    private static func holds(_ days: TracePerson.DayKinds, on day: Int) -> Bool {
        switch days {
        case .all: true
        case .weekdays: !isWeekend(day)
        case .weekends: isWeekend(day)
        }
    }

    private func hours(of day: Int) -> TracePerson.Day {
        Self.isWeekend(day) ? person.weekend : person.weekday
    }

    private static func midnight(_ day: Int) -> Int64 { Int64(day) * 86_400 }

    private mutating func habits(on day: Int) -> [Session] {
        var sessions: [Session] = []
        for habit in person.habits where Self.holds(habit.days, on: day) {
            let jitter = Int64(habit.jitter) * 60
            let (offset, length) = (
                draw(-jitter...jitter),
                draw(Int64(habit.length.lowerBound) * 60...Int64(habit.length.upperBound) * 60)
            )
            guard happens(percent: habit.chance) else { continue }
            let start = Self.midnight(day) + Int64(habit.minute) * 60 + offset
            sessions.append(Session(start: start, length: length + 20, app: habit.app))
        }
        return sessions
    }

    private mutating func pickups(on day: Int) -> [Session] {
        let hours = hours(of: day)
        let count = draw(Int64(hours.pickups.lowerBound)...Int64(hours.pickups.upperBound))
        return (0..<count).map { _ in
            let minute = draw(Int64(hours.rises) * 60...Int64(hours.sleeps) * 60)
            return Session(
                start: Self.midnight(day) + minute, length: draw(15...420), app: nil)
        }
    }

    /// Cellular on the way, with a tunnel in it; now and then the network is just gone.
    private mutating func travel(on day: Int) {
        for journey in person.journeys where Self.holds(journey.days, on: day) {
            let leaves = Self.midnight(day) + Int64(journey.leaves) * 60 + draw(-300...300)
            let arrives = Self.midnight(day) + Int64(journey.arrives) * 60 + draw(-300...300)
            let tunnel = leaves + (arrives - leaves) / 3 + draw(0...300)
            add(leaves, .device(.link(.cellular)))
            add(tunnel, .device(.link(.none)))
            add(tunnel + draw(40...240), .device(.link(.cellular)))
            add(arrives, .device(.link(.wifi)))
        }
    }

    private mutating func charge(on day: Int) {
        let hours = hours(of: day)
        let start: Int64
        let length: Int64
        if person.chargesAtNight {
            start = Self.midnight(day) + Int64(hours.sleeps) * 60 - draw(0...1800)
            length = draw(21_600...27_000)
        } else {
            start = Self.midnight(day) + Int64(hours.rises) * 60 + draw(14_400...28_800)
            length = draw(3600...7200)
        }
        add(start, .device(.power(isCharging: true, level: Int(draw(25...60)))))
        add(start + length, .device(.power(isCharging: false, level: 100)))
    }

    /// Sessions do not overlap: one that would begin in another is not had.
    private mutating func play(_ sessions: [Session]) {
        var free: Int64 = 0
        for session in sessions.sorted(by: { ($0.start, $0.length) < ($1.start, $1.length) })
        where session.start >= free {
            let unlocked = session.start + draw(1...3)
            add(session.start, .device(.screen(isOn: true)))
            add(unlocked, .device(.unlocked))
            if let app = session.app {
                add(unlocked + draw(2...12), .device(.opened(app)))
                add(session.end, .device(.closed(app)))
            } else if happens(percent: 60) {
                add(unlocked + 4, .device(.radio(draw(2_000...60_000))))
            }
            add(session.end + 1, .device(.screen(isOn: false)))
            add(session.end + 2, .device(.locked))
            free = session.end + 60
        }
    }
}
