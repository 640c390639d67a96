/// A deadline that can be moved for the price of a store.
///
/// Not `Sendable`: it belongs to one event loop.
package final class LoopTimer {
    /// When it fires, in milliseconds of the loop's clock; `.max` for never.
    package fileprivate(set) var due = UInt64.max
    /// The tick at which the wheel looks at it next; `.max` if the wheel does not know it.
    fileprivate var lookedAt = UInt64.max
    private let action: () -> Void

    init(_ action: @escaping () -> Void) {
        self.action = action
    }

    fileprivate func fire() {
        due = .max
        action()
    }
}

/// Timers hashed by time; a timer moves only when its slot comes up (a lazy hashed wheel).
///
/// Setting a later deadline is one store, so that a connection can set one for each read.
struct TimerWheel {
    /// In milliseconds.
    static let tickLength: UInt64 = 8
    private static let slotCount: UInt64 = 1024

    private var slots = [[LoopTimer]](repeating: [], count: Int(slotCount))
    /// All slots before this tick were looked at.
    private var tick: UInt64
    /// No slot holds a timer before this tick.
    private var nextOccupied = UInt64.max
    private var count = 0

    init(now: UInt64) {
        tick = now / Self.tickLength
    }

    /// Fires `timer` at `due`, or never if that is `.max`.
    mutating func set(_ timer: LoopTimer, due: UInt64) {
        timer.due = due
        guard due != .max else { return }
        let target = due / Self.tickLength + 1
        if timer.lookedAt > target { place(timer, at: target) }
    }

    private mutating func place(_ timer: LoopTimer, at target: UInt64) {
        let nearest = min(max(target, tick), tick + Self.slotCount - 1)
        timer.lookedAt = nearest
        slots[Int(nearest % Self.slotCount)].append(timer)
        count += 1
        nextOccupied = min(nextOccupied, nearest)
    }

    /// How long the loop may sleep, in milliseconds; -1 for ever.
    func timeout(now: UInt64) -> Int32 {
        guard nextOccupied != .max else { return -1 }
        let due = nextOccupied * Self.tickLength
        return due <= now ? 0 : Int32(clamping: due - now)
    }

    /// Takes the timers out whose time has come.
    mutating func expire(now: UInt64) -> [LoopTimer] {
        let current = now / Self.tickLength
        guard nextOccupied <= current else {
            // What is set next is hashed from here, however long nothing was.
            tick = max(tick, current)
            return []
        }
        var expired: [LoopTimer] = []
        var moved: [LoopTimer] = []
        tick = max(tick, nextOccupied)
        let last = min(current, tick + Self.slotCount - 1)
        while tick <= last {
            let index = Int(tick % Self.slotCount)
            tick += 1
            guard !slots[index].isEmpty else { continue }
            let timers = slots[index]
            slots[index].removeAll(keepingCapacity: true)
            count -= timers.count
            for timer in timers {
                // A timer that was moved forward stands in two slots; the later one is stale.
                guard timer.lookedAt == tick - 1 else { continue }
                timer.lookedAt = .max
                if timer.due <= now {
                    expired.append(timer)
                } else if timer.due != .max {
                    moved.append(timer)
                }
            }
        }
        // Only now: after a stall of more than a round, a place that is counted from a tick that
        // lags behind would be looked for in a round that is over, and the timer lost.
        tick = max(tick, current)
        for timer in moved { place(timer, at: timer.due / Self.tickLength + 1) }
        findNextOccupied()
        return expired
    }

    private mutating func findNextOccupied() {
        nextOccupied = .max
        guard count > 0 else { return }
        for offset in 0..<Self.slotCount where !slots[Int((tick + offset) % Self.slotCount)].isEmpty
        {
            nextOccupied = tick + offset
            return
        }
    }

    /// Fires what `expire` took out, unless one of them has stopped or moved another since.
    static func fire(_ timers: [LoopTimer], now: UInt64) {
        for timer in timers where timer.due <= now { timer.fire() }
    }
}
