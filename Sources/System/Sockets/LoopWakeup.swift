/// Lets one task of a loop wait for another one, or for the time.
///
/// `@unchecked Sendable`: used on its loop's thread only.
@safe
package final class LoopWakeup: @unchecked Sendable {
    package let loop: EventLoop
    private var waiter: UnsafeContinuation<Void, Never>?
    private var timer: LoopTimer?
    /// Whether something came while nobody waited.
    private var isDue = false
    private var hasStopped = false
    /// When all waiting ends, in milliseconds of the loop's clock.
    private var limit = UInt64.max
    package var isStopped: Bool { hasStopped || loop.now >= limit }

    package init(_ loop: EventLoop) {
        self.loop = loop
    }

    /// Lets whoever waits, now or next, go on.
    package func wake() {
        isDue = true
        resume()
    }

    /// Ends all waiting for good.
    package func stop() {
        hasStopped = true
        resume()
    }

    /// Ends all waiting for good when the loop's clock shows so many milliseconds.
    package func stop(at time: UInt64) {
        limit = min(limit, time)
        // Whoever waits does so from now on no longer than that.
        resume()
    }

    /// - Parameter deadline: in milliseconds of the loop's clock.
    /// - Returns: whether it was woken in time.
    package func wait(until deadline: UInt64) async -> Bool {
        while !isDue, !isStopped, loop.now < deadline { await suspend(until: deadline) }
        defer { isDue = false }
        return isDue || isStopped
    }

    /// Waits for so many milliseconds, whatever comes.
    package func rest(for time: UInt64) async {
        let end = loop.now + time
        while !isStopped, loop.now < end { await suspend(until: end) }
    }

    private func suspend(until deadline: UInt64) async {
        let time = min(deadline, limit)
        if time != .max {
            let timer = timer ?? loop.makeTimer { [unowned self] in resume() }
            self.timer = timer
            loop.set(timer, due: time)
        }
        unsafe await withUnsafeContinuation { unsafe waiter = $0 }
        if let timer { loop.set(timer, due: .max) }
    }

    private func resume() {
        guard let waiting = unsafe waiter else { return }
        unsafe waiter = nil
        unsafe waiting.resume()
    }
}
