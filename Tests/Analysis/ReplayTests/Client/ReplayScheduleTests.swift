import Testing

@testable import Replay

struct ReplayScheduleTests {
    typealias Window = ReplaySchedule.Window

    /// Drives a schedule where each request takes one tick, and tells which go out together.
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let windows: [(start: Int64, end: Int64, needs: [Int])]
        var pace = ReplaySchedule.Pace.windows
        var limit = 64
        let rounds: [[Int]]
        var testDescription: String { name }
    }

    @Test(arguments: [
        Row(name: "nothing", windows: [], rounds: []),
        Row(
            name: "one after another", windows: [(0, 1, []), (2, 3, []), (4, 5, [])],
            rounds: [[0], [1], [2]]),
        Row(
            name: "all at once", windows: [(0, 9, []), (1, 9, []), (2, 9, [])],
            rounds: [[0, 1, 2]]),
        Row(
            name: "two by two", windows: [(0, 5, []), (1, 5, []), (5, 9, []), (6, 9, [])],
            rounds: [[0, 1], [2, 3]]),
        Row(
            name: "behind a long one", windows: [(0, 100, []), (1, 2, []), (3, 4, [])],
            rounds: [[0, 1], [2]]),
        Row(
            name: "at one moment", windows: [(0, 0, []), (0, 0, []), (0, 0, [])],
            rounds: [[0], [1], [2]]),
        Row(
            name: "bounded", windows: [(0, 9, []), (1, 9, []), (2, 9, [])], limit: 2,
            rounds: [[0, 1], [2]]),
        Row(
            name: "needs an answer", windows: [(0, 9, []), (1, 9, []), (2, 9, [0])],
            rounds: [[0, 1], [2]]),
        Row(
            name: "a rate overtakes windows", windows: [(0, 1, []), (2, 3, []), (4, 5, [])],
            pace: .rate(thousandths: 1_000_000_000), rounds: [[0, 1, 2]]),
        Row(
            name: "a rate waits for needs", windows: [(0, 1, []), (2, 3, [0]), (4, 5, [])],
            pace: .rate(thousandths: 1_000_000_000), rounds: [[0], [1, 2]]),
    ])
    func ordersAs(_ row: Row) {
        var schedule = ReplaySchedule(
            row.windows.map { Window(start: $0.start, end: $0.end, needs: $0.needs) },
            pace: row.pace, concurrencyLimit: row.limit)
        var rounds: [[Int]] = []
        var now: UInt64 = 100
        while true {
            var round: [Int] = []
            while case .send(let place) = schedule.step(now: now) { round.append(place) }
            if round.isEmpty { break }
            rounds.append(round)
            for place in round { schedule.end(place) }
            now += 1
        }
        #expect(rounds == row.rounds)
        #expect(schedule.step(now: now) == .done)
    }

    @Test(arguments: [
        (ReplaySchedule.Pace.timing(thousandths: 1000), [0, 40, 100] as [UInt64]),
        (.timing(thousandths: 500), [0, 20, 50]),
        (.timing(thousandths: 0), [0, 0, 0]),
        (.rate(thousandths: 20_000), [0, 50, 100]),
        (.rate(thousandths: 500), [0, 2000, 4000]),
    ])
    func waitsUntil(_ pace: ReplaySchedule.Pace, _ due: [UInt64]) {
        let windows = [Int64(5_000), 45_000, 105_000].map {
            Window(start: $0, end: 1_000_000)
        }
        var schedule = ReplaySchedule(windows, pace: pace, concurrencyLimit: 9)
        var now: UInt64 = 7
        var sent: [UInt64] = []
        while sent.count < 3 {
            switch schedule.step(now: now) {
            case .send: sent.append(now - 7)
            case .wait(let time):
                #expect(time > now)
                now = time
            case .pause, .done:
                Issue.record("has more to send")
                return
            }
        }
        #expect(sent == due)
        #expect(schedule.step(now: now) == .pause)
    }

    @Test func stopsPolitely() {
        var schedule = ReplaySchedule(
            [Window(start: 0, end: 1), Window(start: 2, end: 3)], pace: .windows,
            concurrencyLimit: 9)
        #expect(schedule.step(now: 0) == .send(0))
        schedule.stop()
        #expect(schedule.step(now: 0) == .pause)
        schedule.end(0)
        #expect(schedule.step(now: 0) == .done)
        #expect(schedule.sentCount == 1)
    }
}
