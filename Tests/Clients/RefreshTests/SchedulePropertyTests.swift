import Base
import Testing

@testable import Refresh

/// What holds for every trace, told from the trace and the log alone and not from the scheduler.
struct SchedulePropertyTests {
    private static let policy = RefreshPolicy()

    /// The people whose traces ship, and days that nobody would have.
    private static let rows: [(String, UInt64)] =
        TracePerson.all.map { ($0.name, 1) } + (0..<40).map { ("wild", $0) }

    private static func trace(_ name: String, _ seed: UInt64) throws -> RefreshTrace {
        guard name == "wild" else {
            return RefreshTraceGenerator.generate(
                try #require(TracePerson.named(name)), seed: seed, weeks: 4)
        }
        return WildTrace.make(seed: seed)
    }

    @Test(arguments: rows)
    func keepsItsPromises(_ name: String, _ seed: UInt64) throws {
        let trace = try Self.trace(name, seed)
        let log = trace.played(seed: seed)
        var witness = ScheduleWitness(trace, Self.policy)
        let broken = witness.firstBrokenPromise(log)
        #expect(broken == nil, "\(name) \(seed): \(broken ?? "")")
        #expect(witness.wakeCount > 0)
    }

    /// Without a history everything is quiet: only what happens anyway wakes anybody.
    @Test func guessesNothingBeforeItKnows() throws {
        let trace = try Self.trace("commuter", 1)
        let third = trace.start.microseconds / 1000 + 3 * 86_400_000
        let early = trace.played(seed: 1).entries.filter {
            guard $0.at < third, case .wake(let wake) = $0.decision else { return false }
            return wake.cause == .predicted
        }
        #expect(early.isEmpty)
    }

    /// By the clock on the commuter's wall: whoever sleeps is not guessed at.
    @Test func letsPeopleSleep() throws {
        let trace = try Self.trace("commuter", 1)
        let log = trace.played(seed: 1)
        var (causes, nights) = ([WakeCause: Int](), 0)
        for entry in log.entries {
            guard case .wake(let wake) = entry.decision else { continue }
            let time = LocalTime(entry.at, zoneMinutes: trace.zoneMinutes)
            guard (4..<24).contains(time.quarter) else { continue }
            nights += 1
            causes[wake.cause, default: 0] += 1
        }
        #expect(causes[.predicted] == nil)
        // Charged all night, each app is looked after every few hours, and not more.
        #expect(causes[.charging, default: 0] <= 28 * 2 * 3)
        #expect(nights > 0)
    }

    /// The same days, with apps that are in memory or not: the same wakes.
    @Test func wakesAlikeWhetherTheAppRunsOrNot() throws {
        let trace = try Self.trace("rare", 1)
        var ended = trace
        ended.events = trace.events.flatMap { event -> [RefreshTrace.Event] in
            guard case .device(.closed(let app)) = event.kind else { return [event] }
            return [event, RefreshTrace.Event(at: event.at, .device(.ended(app)))]
        }
        func wakes(_ trace: RefreshTrace) -> (when: [Int64], modes: Set<Wake.Mode>) {
            var (times, modes) = ([Int64](), Set<Wake.Mode>())
            for entry in trace.played(seed: 1).entries {
                guard case .wake(let wake) = entry.decision else { continue }
                times.append(entry.at)
                modes.insert(wake.mode)
            }
            return (times, modes)
        }
        let (running, launched) = (wakes(trace), wakes(ended))
        #expect(running.when == launched.when)
        #expect(launched.modes == [.launched, .resumed])
    }

    @Test func wakesNobodyWhoNeverAsked() throws {
        var trace = try Self.trace("commuter", 1)
        trace.events.removeAll { if case .pushed = $0.kind { true } else { false } }
        for index in trace.apps.indices { trace.apps[index].app.interval = .never }
        let measures = trace.played(seed: 1).measures
        #expect(measures.wakes == 0)
        #expect(measures.openings > 0)
    }
}
