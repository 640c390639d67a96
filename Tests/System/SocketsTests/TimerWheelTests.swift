import Testing

@testable import Sockets

/// The wheel played as a loop plays it, on a clock of its own.
private final class WheelScript {
    private(set) var now: UInt64
    private var wheel: TimerWheel
    private var timers: [String: LoopTimer] = [:]
    private var log: [(name: String, at: UInt64)] = []
    /// What a timer does besides being noted.
    var reactions: [String: (WheelScript) -> Void] = [:]

    init(now: UInt64 = 1_000_000) {
        self.now = now
        wheel = TimerWheel(now: now)
    }

    func set(_ name: String, at due: UInt64) {
        let timer =
            timers[name]
            ?? LoopTimer { [unowned self] in
                log.append((name, now))
                reactions[name]?(self)
            }
        timers[name] = timer
        wheel.set(timer, due: due)
    }

    func set(_ name: String, in delay: UInt64) { set(name, at: now + delay) }

    func stop(_ name: String) { set(name, at: .max) }

    var timeout: Int32 { wheel.timeout(now: now) }

    /// Looks at the wheel after the clock went on, however far.
    func jump(to time: UInt64) {
        now = time
        TimerWheel.fire(wheel.expire(now: now), now: now)
    }

    /// Sleeps as long as the wheel allows until the clock stands at `time`.
    ///
    /// - Returns: how often it woke up.
    @discardableResult
    func run(to time: UInt64) -> Int {
        var wakeUps = 0
        while now < time {
            let timeout = timeout
            let next = timeout < 0 ? time : min(time, now + UInt64(max(timeout, 1)))
            jump(to: next)
            wakeUps += 1
        }
        return wakeUps
    }

    @discardableResult
    func run(for delay: UInt64) -> Int { run(to: now + delay) }

    /// The names that fired since this was last asked.
    func takeFired() -> [String] {
        defer { log = [] }
        return log.map(\.name)
    }

    func takeLog() -> [(name: String, at: UInt64)] {
        defer { log = [] }
        return log
    }
}

/// How late a timer may be: its slot begins at most a tick after it, and lasts a tick.
private let latitude = TimerWheel.tickLength * 2

struct TimerWheelTests {
    @Test func sleepsForEverWithoutTimers() {
        let script = WheelScript()
        #expect(script.timeout == -1)
        script.run(for: 100_000)
        #expect(script.takeFired() == [])
    }

    @Test(arguments: [0, 1, 7, 8, 9, 100, 8_183, 8_184, 8_191, 8_192, 8_200, 60_000, 10_000_000])
    func firesOnceAndNeverEarly(_ delay: UInt64) {
        for start in [999_992, 999_999, 1_000_000, 1_000_001] as [UInt64] {
            let script = WheelScript(now: start)
            script.set("a", in: delay)
            script.run(for: delay + 100_000)
            let log = script.takeLog()
            #expect(log.map(\.name) == ["a"])
            for entry in log {
                #expect(entry.at >= start + delay)
                #expect(entry.at <= start + delay + latitude)
            }
            #expect(script.timeout == -1)
        }
    }

    @Test func takesALaterDeadlineForTheFirstOne() {
        let script = WheelScript()
        script.set("a", in: 100)
        for _ in 0..<50 {
            script.run(for: 10)
            script.set("a", in: 100)
        }
        #expect(script.takeFired() == [])
        script.run(for: 100 + latitude)
        #expect(script.takeFired() == ["a"])
    }

    @Test func firesEarlierWhenMovedForward() {
        let script = WheelScript()
        script.set("a", in: 5_000)
        script.run(for: 10)
        script.set("a", in: 50)
        script.run(for: 50 + latitude)
        #expect(script.takeFired() == ["a"])
        script.run(for: 20_000)
        #expect(script.takeFired() == [])
    }

    @Test func staysSilentWhenStopped() {
        let script = WheelScript()
        script.set("a", in: 50)
        script.stop("a")
        script.run(for: 20_000)
        #expect(script.takeFired() == [])
        script.set("a", in: 50)
        script.run(for: 100)
        #expect(script.takeFired() == ["a"])
    }

    @Test func firesAgainIntoASlotItLeftBefore() {
        let script = WheelScript()
        script.set("a", in: 800)
        script.set("a", in: 80)
        script.run(for: 100)
        #expect(script.takeFired() == ["a"])
        script.set("a", in: 700)
        script.run(for: 5_000)
        #expect(script.takeFired() == ["a"])
    }

    /// A loop that had no timer for long looks at its wheel only when it gets one again.
    @Test(arguments: [1_000, 8_192, 16_384, 20_000, 100_000, 10_000_000] as [UInt64])
    func keepsATimerThatIsSetAfterALongPause(_ pause: UInt64) {
        for delay in [1, 100, 9_000, 30_000] as [UInt64] {
            let script = WheelScript()
            script.run(for: pause)
            let start = script.now
            script.set("a", in: delay)
            let wakeUps = script.run(for: delay + 1_000)
            let log = script.takeLog()
            #expect(log.map(\.name) == ["a"], "after \(pause) ms, due in \(delay) ms")
            #expect(log.allSatisfy { $0.at >= start + delay && $0.at <= start + delay + latitude })
            #expect(wakeUps < 12)
        }
    }

    /// A machine may stand still in the middle, for longer than the wheel goes round.
    @Test(arguments: [8_000, 16_400, 40_000, 1_000_000] as [UInt64])
    func keepsTimersThroughAStall(_ stall: UInt64) {
        let script = WheelScript()
        script.set("soon", in: 10)
        script.set("far", in: 3_600_000)
        script.jump(to: script.now + stall)
        #expect(script.takeFired() == ["soon"])
        script.run(for: 3_600_000 - stall + latitude)
        #expect(script.takeFired() == ["far"])
    }

    @Test func letsATimerStopAnotherThatIsDueToo() {
        let script = WheelScript()
        script.reactions["a"] = { $0.stop("b") }
        script.reactions["b"] = { $0.stop("a") }
        script.set("a", in: 10)
        script.set("b", in: 10)
        script.run(for: 1_000)
        #expect(script.takeFired().count == 1)
    }

    @Test func letsATimerMoveAnotherThatIsDueToo() {
        let script = WheelScript()
        script.reactions["a"] = { $0.set("b", in: 500) }
        script.set("a", in: 10)
        script.set("b", in: 10)
        let start = script.now
        script.run(for: 1_000)
        let log = script.takeLog()
        #expect(log.map(\.name) == ["a", "b"])
        #expect(log.allSatisfy { $0.name == "a" || $0.at >= start + 500 })
    }

    @Test func letsATimerSetItselfAgain() {
        let script = WheelScript()
        script.reactions["a"] = { $0.set("a", in: 100) }
        script.set("a", in: 100)
        script.run(for: 10_000)
        #expect((80...100).contains(script.takeFired().count))
    }

    @Test func copesWithTheEndOfTime() {
        let script = WheelScript()
        script.set("a", at: .max - 1)
        script.run(for: 100_000)
        #expect(script.takeFired() == [])
        #expect(script.timeout >= 0)
    }

    @Test func keepsManyTimersApart() {
        let script = WheelScript()
        let start = script.now
        for number in 0..<20_000 { script.set("\(number)", in: UInt64(number)) }
        script.run(for: 21_000)
        let log = script.takeLog()
        #expect(Set(log.map(\.name)).count == 20_000)
        #expect(log.count == 20_000)
        for entry in log {
            let due = start + (UInt64(entry.name) ?? 0)
            guard entry.at >= due, entry.at <= due + latitude else {
                Issue.record("\(entry.name) fired at \(entry.at - start)")
                return
            }
        }
    }
}

/// Random play against a list of deadlines.
struct TimerWheelModelTests {
    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func firesWhatIsDue(seed: UInt64) {
        var random = SeededGenerator(state: seed)
        let script = WheelScript(now: UInt64.random(in: 0..<1 << 40, using: &random))
        // The deadline, and when it was set: one in the past is looked at in the next tick.
        var model: [String: (due: UInt64, setAt: UInt64)] = [:]
        for _ in 0..<3_000 {
            let name = "\(Int.random(in: 0..<20, using: &random))"
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                let due = Self.due(script.now, &random)
                script.set(name, at: due)
                model[name] = due == .max ? nil : (due, script.now)
            case 5..<8: script.jump(to: Self.wakeUp(script, &random))
            case 8: script.jump(to: script.now + UInt64.random(in: 0...40, using: &random))
            default: script.jump(to: script.now + UInt64.random(in: 0...60_000, using: &random))
            }
            for (fired, at) in script.takeLog() {
                guard let entry = model.removeValue(forKey: fired), entry.due <= at else {
                    Issue.record("timer \(fired) fired early, twice or though it was stopped")
                    return
                }
            }
            guard Self.isOnTime(script, model) else { return }
        }
    }

    private static func due(_ now: UInt64, _ random: inout SeededGenerator) -> UInt64 {
        switch Int.random(in: 0..<8, using: &random) {
        case 0: .max
        case 1: now - min(now, UInt64.random(in: 0...100, using: &random))
        case 2: now + UInt64.random(in: 0...600_000, using: &random)
        case 3: now + 8_192 + UInt64.random(in: 0...16, using: &random) - 8
        default: now + UInt64.random(in: 0...500, using: &random)
        }
    }

    /// When the loop would wake up by itself, or a little earlier or later.
    private static func wakeUp(
        _ script: WheelScript, _ random: inout SeededGenerator
    ) -> UInt64 {
        guard script.timeout >= 0 else { return script.now + 1 }
        let planned = script.now + UInt64(script.timeout)
        return max(script.now, planned + UInt64.random(in: 0...4, using: &random) - 2)
    }

    private static func isOnTime(
        _ script: WheelScript, _ model: [String: (due: UInt64, setAt: UInt64)]
    ) -> Bool {
        for (name, entry) in model {
            let latest = max(entry.due, entry.setAt) + latitude
            guard script.now <= latest else {
                Issue.record("timer \(name) was due at \(entry.due) and it is \(script.now)")
                return false
            }
            guard script.timeout >= 0, script.now + UInt64(script.timeout) <= latest else {
                Issue.record("the loop would sleep beyond timer \(name)")
                return false
            }
        }
        return true
    }
}

/// A generator whose sequence depends on the seed only.
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
