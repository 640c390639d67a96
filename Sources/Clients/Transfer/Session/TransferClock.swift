package import Base
package import Sockets

/// Time, as a service sees it.
package protocol TransferClock: AnyObject, Sendable {
    var now: Timestamp { get }
    /// In milliseconds, never back.
    var elapsed: Int64 { get }
    /// Waits until `elapsed` is `time`, or somebody wakes.
    ///
    /// - Parameter isIdle: whether nothing else goes on, so that a clock that is made up may go on to
    ///   `time` at once.
    func wait(until time: Int64, waking: LoopWakeup, isIdle: Bool) async
}

/// The machine's clock.
package final class SystemClock: TransferClock {
    package init() {}

    package var now: Timestamp { .now() }

    package var elapsed: Int64 { Int64(clamping: MonotonicTime.now().nanoseconds / 1_000_000) }

    package func wait(until time: Int64, waking wakeup: LoopWakeup, isIdle: Bool) async {
        let left = time == .max ? UInt64.max : UInt64(max(0, time - elapsed))
        let (due, overflow) = wakeup.loop.now.addingReportingOverflow(left)
        _ = await wakeup.wait(until: overflow ? .max : due)
    }
}
