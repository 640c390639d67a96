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
    package private(set) var isStopped = false

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
        isStopped = true
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

    private func suspend(until time: UInt64) async {
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
