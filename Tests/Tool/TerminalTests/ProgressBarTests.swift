import Base
import OutputCollector
import Synchronization
import Testing

@testable import Terminal

struct ProgressBarTests {
    @Test(
        arguments: [
            (done: 0, total: 10, columns: 41, text: "checking [                   ]   0%  0/10"),
            (done: 5, total: 10, columns: 41, text: "checking [#########          ]  50%  5/10"),
            (done: 10, total: 10, columns: 42, text: "checking [####################] 100% 10/10"),
            (done: 20, total: 10, columns: 42, text: "checking [####################] 100% 20/10"),
            (done: 5, total: 0, columns: 38, text: "checking [                  ]   0% 5/0"),
            (done: 5, total: 10, columns: 12, text: "checking 50%"),
            (done: 5, total: 10, columns: 6, text: "check…"),
        ] as [(Int64, Int64, Int, String)])
    func renders(_ row: (done: Int64, total: Int64, columns: Int, text: String)) {
        let text = ProgressBar.render(
            "checking", done: row.done, total: row.total, columns: row.columns)
        #expect(text == row.text)
    }

    @Test(arguments: [
        (999, "x [        ]   0%  999/20m"), (1_048_576, "x [        ]   4%   1m/20m"),
        (1_600_000, "x [        ]   7% 1.5m/20m"), (21_937_864, "x [########] 100%  20m/20m"),
    ])
    func rendersBytes(_ done: Int64, _ text: String) {
        #expect(
            ProgressBar.render("x", done: done, total: 21_937_864, in: .bytes, columns: 26)
                == text)
    }

    @Test func showsRateAndTimeLeft() {
        func bar(_ pace: String?, _ columns: Int) -> String {
            ProgressBar.render(
                "x", done: 1 << 20, total: 4 << 20, in: .bytes, pace: pace, columns: columns)
        }
        #expect(bar("1.5m/s 2s left", 40) == "x [#    ]  25%   1m/4m 1.5m/s 2s left   ")
        // Where there is no room, the bar goes first.
        #expect(bar("1.5m/s 2s left", 24) == bar(nil, 24))
    }

    @Test func drawsANewTitleAtOnce() throws {
        let (collector, clock) = (Collector(), Clock())
        var bar = ProgressBar(
            "a", total: 10, on: collector.stream(40), clock: { clock.now() })
        clock.advance(milliseconds: 300)
        try bar.advance(to: 1)
        try bar.advance(to: 1, titled: "b")
        #expect(collector.text.split(separator: "\r").map { $0.prefix(1) } == ["a", "b"])
    }

    /// A clock that a test sets.
    private final class Clock: Sendable {
        private let time = Mutex<UInt64>(0)

        func now() -> MonotonicTime { MonotonicTime(nanoseconds: time.withLock { $0 }) }
        func advance(milliseconds: UInt64) { time.withLock { $0 += milliseconds * 1_000_000 } }
    }

    @Test func waitsAndThenDrawsNowAndThen() throws {
        let (collector, clock) = (Collector(), Clock())
        var bar = ProgressBar(
            "checking", total: 100, on: collector.stream(40), clock: { clock.now() })
        try bar.advance(to: 1)
        clock.advance(milliseconds: 299)
        try bar.advance(to: 2)
        #expect(collector.text == "")
        clock.advance(milliseconds: 1)
        try bar.advance(to: 3)
        try bar.advance(to: 4)
        clock.advance(milliseconds: 100)
        try bar.advance(to: 5)
        try bar.finish()
        try bar.finish()
        let parts = collector.text.split(separator: "\r")
        #expect(parts.map { $0.suffix(7) } == ["  3/100", "  5/100", "\u{1B}[K"])
    }

    @Test func staysAwayFromPipesAndShortRuns() throws {
        let (pipe, terminal, clock) = (Collector(), Collector(), Clock())
        var piped = ProgressBar("x", total: 9, on: pipe.stream(), clock: { clock.now() })
        var short = ProgressBar("x", total: 9, on: terminal.stream(80), clock: { clock.now() })
        try short.advance(to: 9)
        try short.finish()
        clock.advance(milliseconds: 1000)
        try piped.advance(to: 9)
        try piped.finish()
        #expect(pipe.text == "")
        #expect(terminal.text == "")
    }
}
