internal import Sockets

/// A wait on the loop's clock that ends early when nobody has to wait any more.
///
/// `@unchecked Sendable`: used on its loop's thread only.
@safe
final class ExchangePause: @unchecked Sendable {
    /// For work beside the loop.
    let presence = ClientPresence()
    private let loop: EventLoop
    /// How long a client that has ended its direction is waited for, in milliseconds.
    private let patience: UInt64
    private var timer: LoopTimer?
    /// When the wait under way ends; `nil` for one without end.
    private var due: UInt64?
    /// Whether the client has ended its direction: it may still read, or have gone, which nothing
    /// tells before something is sent.
    private var isHalfClosed = false
    /// Whether the wait under way has ended ahead of its time for that.
    private var isCutShort = false
    private var departure: LoopTimer?
    private var waiter: UnsafeContinuation<Void, Never>?
    /// Whether waiting has no sense any more, now and later.
    private(set) var isOver = false
    /// Whether what is waited for has no time.
    private(set) var isEndless = false
    /// Whether the wait under way ends with `wake`.
    private var isWakable = false
    /// Whether `wake` was called since the last wait that it ends.
    private var isWoken = false

    init(_ loop: EventLoop, patience: UInt64 = ServerLimits().halfClosedPatience) {
        self.loop = loop
        self.patience = patience
    }

    var now: UInt64 { loop.now }

    /// Waits until a time of the loop's clock; `nil` until `end`.
    ///
    /// - Returns: whether the time has come.
    func wait(until due: UInt64?) async -> Bool {
        if isOver || isHalfClosed && isTooLong(due) { return false }
        if let due, due <= loop.now { return true }
        let timer = self.timer ?? loop.makeTimer { [unowned self] in self.resume() }
        self.timer = timer
        isEndless = due == nil || isWakable
        isCutShort = false
        self.due = due
        loop.set(timer, due: due ?? .max)
        unsafe await withUnsafeContinuation { unsafe waiter = $0 }
        isEndless = false
        return !isOver && !isCutShort
    }

    /// For a client that may have gone.
    private func isTooLong(_ due: UInt64?) -> Bool {
        due.map { $0 > loop.now + patience } ?? true
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
        while !channel.isClosed, (channel.unacknowledgedCount ?? 0) > 0, loop.now < end {
            guard await wait(milliseconds: 1) else { return }
        }
    }

    /// The client has ended its direction: a pause that would take long ends at once, and work beside
    /// the loop has to be done soon.
    func halfClose() {
        if isEndless { return leave() }
        guard !isHalfClosed else { return }
        isHalfClosed = true
        if let timer, unsafe waiter != nil, isTooLong(due) {
            isCutShort = true
            loop.set(timer, due: .max)
            resume()
        }
        let departure = loop.makeTimer { [weak self] in self?.presence.leave() }
        self.departure = departure
        loop.set(departure, due: loop.now + patience)
    }

    /// The client has gone.
    func leave() {
        presence.leave()
        end()
    }

    /// Nobody waits here any more.
    func close() {
        if let timer { loop.set(timer, due: .max) }
        if let departure { loop.set(departure, due: .max) }
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
