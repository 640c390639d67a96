import Base
import Testing

@testable import Refresh

struct RefreshReportTests {
    private static func trace(_ name: String, seed: UInt64 = 1) throws -> RefreshTrace {
        RefreshTraceGenerator.generate(try #require(TracePerson.named(name)), seed: seed)
    }

    private static func report(_ trace: RefreshTrace, seed: UInt64 = 1) -> RefreshReport {
        RefreshReport(trace, seed: seed, trace.played(seed: seed).measures)
    }

    @Test func shipsTracesOfWeeks() throws {
        #expect(TracePerson.all.count >= 5)
        for person in TracePerson.all {
            let trace = RefreshTraceGenerator.generate(person)
            #expect(trace.events.last?.kind == .end)
            #expect(trace.events.last?.at ?? 0 >= 21 * 86_400)
            #expect(try RefreshTraceReader.read(trace.lines, name: person.name) == trace)
        }
    }

    @Test(arguments: TracePerson.all.map(\.name))
    func beatsTheTimer(_ name: String) throws {
        let report = Self.report(try Self.trace(name))
        #expect(report.scheduler.bytes < report.timer.bytes)
        #expect(report.scheduler.wakes < report.timer.wakes / 2)
        #expect(report.scheduler.meanStaleness < report.timer.meanStaleness)
        #expect(report.scheduler.freshOpenings > report.timer.freshOpenings)
        #expect(report.beatsTimer)
        #expect(report.scheduler.openings == report.timer.openings)
        // What fetches nothing ahead is hardly ever fresh.
        #expect(report.openingOnly.wakes == 0)
        #expect(report.scheduler.freshOpenings > 5 * report.openingOnly.freshOpenings)
        #expect(report.scheduler.violations == 0)
    }

    /// The table of the page is what comes out.
    @Test func standsInTheDocumentation() throws {
        let root = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
        let page = try Files.read("\(root)/Documentation/fetch.md").text
        let seconds = { (milliseconds: Int64) in (milliseconds + 500) / 1000 }
        for person in TracePerson.all {
            let report = Self.report(RefreshTraceGenerator.generate(person))
            let (mine, timer) = (report.scheduler, report.timer)
            let cells = [
                person.name, "\(mine.wakes) / \(timer.wakes)",
                "\(mine.bytes >> 20) / \(timer.bytes >> 20) MiB",
                "\(mine.radio / 60_000) / \(timer.radio / 60_000) min",
                "\(mine.freshOpenings) / \(timer.freshOpenings) of \(mine.openings)",
                "\(seconds(mine.meanStaleness)) / \(seconds(timer.meanStaleness)) s",
                "\(seconds(mine.age(percentile: 50))) / \(seconds(timer.age(percentile: 50))) s",
            ]
            let row = "| " + cells.joined(separator: " | ") + " |"
            #expect(page.contains(row), "\(row)")
        }
    }

    /// The timer gets no pushes: without them the scheduler is still better.
    @Test(arguments: TracePerson.all.map(\.name))
    func beatsTheTimerWithoutPushes(_ name: String) throws {
        var trace = try Self.trace(name)
        trace.events.removeAll { if case .pushed = $0.kind { true } else { false } }
        for index in trace.apps.indices { trace.apps[index].app.interval = .minimum }
        let report = Self.report(trace)
        #expect(report.scheduler.pushWakes == 0)
        #expect(report.scheduler.bytes < report.timer.bytes)
        #expect(report.scheduler.wakes < report.timer.wakes)
        #expect(report.scheduler.meanStaleness < report.timer.meanStaleness)
    }

    /// The traces were not chosen: others of the same people come out the same way, all together.
    @Test func beatsTheTimerOnOtherDays() throws {
        var (mine, timers) = (RefreshMeasures(), RefreshMeasures())
        for name in ["commuter", "weekend", "rare"] {
            for seed in 2...4 as ClosedRange<UInt64> {
                let report = Self.report(try Self.trace(name, seed: seed), seed: seed)
                #expect(report.scheduler.bytes < report.timer.bytes)
                #expect(report.scheduler.wakes < report.timer.wakes / 2)
                mine.stalenesses += report.scheduler.stalenesses
                timers.stalenesses += report.timer.stalenesses
            }
        }
        #expect(mine.meanStaleness < timers.meanStaleness)
        #expect(mine.freshOpenings > timers.freshOpenings)
    }

    @Test func writesTheSameLogForOneSeed() throws {
        let trace = try Self.trace("commuter")
        let first = trace.played(seed: 7)
        #expect(first == (try Self.trace("commuter")).played(seed: 7))
        #expect(trace.played(seed: 8).bytes != first.bytes)
        #expect(try Self.trace("commuter", seed: 2) != trace)
    }

    @Test(
        arguments: [
            (0, RefreshAdvice.nothing), (1, .push), (48, .push), (49, .fetch),
        ])
    func advises(_ count: Int, _ advice: RefreshAdvice) {
        let trace = RefreshTrace(
            name: "t", start: Timestamp(microseconds: 0), zoneMinutes: 0,
            apps: [RefreshTrace.App(RefreshApp("news"))],
            events: (0..<count).map {
                RefreshTrace.Event(at: Int64($0), .published("news", thumbnails: 0, assets: 0))
            } + [RefreshTrace.Event(at: 86_400, .end)])
        #expect(RefreshAdvice("news", in: trace) == advice)
    }

    @Test func ranksTheNearest() {
        var measures = RefreshMeasures()
        #expect(measures.age(percentile: 50) == 0)
        #expect(measures.meanAge == 0)
        measures.ages = [5, 1, 2, 4, 3]
        #expect(measures.age(percentile: 50) == 3)
        #expect(measures.age(percentile: 95) == 5)
        #expect(measures.age(percentile: 1) == 1)
        #expect(measures.meanAge == 3)
    }
}
