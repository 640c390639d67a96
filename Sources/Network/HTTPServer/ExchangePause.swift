internal import Sockets

/// A wait on the loop's clock that ends early when nobody has to wait any more.
///
/// `@unchecked Sendable`: used on its loop's thread only.
@safe
final class ExchangePause: @unchecked Sendable {
    private let loop: EventLoop
    private var timer: LoopTimer?
    private var waiter: UnsafeContinuation<Void, Never>?
    /// Whether waiting has no sense any more, now and later.
    private(set) var isOver = false
    /// Whether what is waited for has no time.
    private(set) var isEndless = false
    /// Whether the wait under way ends with `wake`.
    private var isWakable = false
    /// Whether `wake` was called since the last wait that it ends.
    private var isWoken = false

    init(_ loop: EventLoop) {
        self.loop = loop
    }

    var now: UInt64 { loop.now }

    /// Waits until a time of the loop's clock; `nil` until `end`.
    ///
    /// - Returns: whether the time has come.
    func wait(until due: UInt64?) async -> Bool {
        if isOver { return false }
        if let due, due <= loop.now { return true }
        let timer = self.timer ?? loop.makeTimer { [unowned self] in self.resume() }
        self.timer = timer
        isEndless = due == nil || isWakable
        loop.set(timer, due: due ?? .max)
        unsafe await withUnsafeContinuation { unsafe waiter = $0 }
        isEndless = false
        return !isOver
    }

    /// Waits so long; `nil` until `end`.
    func wait(milliseconds: UInt64?) async -> Bool {
        await wait(until: milliseconds.map { loop.now + min($0, Self.limit) })
    }

    /// Waits for `wake`, but no longer than so many milliseconds; `nil` for any time.
    ///
    /// - Returns: `false` behind `end`.
    func waitForWake(milliseconds: UInt64?) async -> Bool {
        defer { (isWakable, isWoken) = (false, false) }
        if isWoken { return !isOver }
        isWakable = true
        return await wait(milliseconds: milliseconds)
    }

    /// Ends the wait for it that is under way, or else the next one.
    func wake() {
        isWoken = true
        if isWakable { resume() }
    }

    /// Calls `wake` on the loop's thread, from any other.
    var waker: @Sendable () -> Void {
        { [weak self, loop] in
            let pause = self
            loop.execute { pause?.wake() }
        }
    }

    /// Waits until the peer's system has all that was sent, which a reset would take from it; no
    /// longer than two seconds, for a peer may take nothing.
    func untilAcknowledged(_ channel: Channel) async {
        let end = loop.now + 2_000
        while let count = channel.unacknowledgedCount, count > 0, loop.now < end {
            guard await wait(milliseconds: 1) else { return }
        }
    }

    /// Ends the wait, and every later one.
    func end() {
        isOver = true
        if let timer { loop.set(timer, due: .max) }
        resume()
    }

    private func resume() {
        guard let waiting = unsafe waiter else { return }
        unsafe waiter = nil
        unsafe waiting.resume()
    }

    /// In milliseconds: a day.
    private static let limit: UInt64 = 86_400_000
}
