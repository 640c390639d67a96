package import Base
internal import CPlatform
internal import Glibc
internal import Synchronization

/// One thread that runs tasks and waits for sockets: the executor of every task that is started on
/// it, so that code reads straight and never hops.
///
/// `@unchecked Sendable`: everything but `foreign`, `thread`, `stopping` and `wakeDescriptor` is touched
/// on the loop's own thread only, which `isCurrent` and the executor's contract ensure.
@safe
package final class EventLoop: TaskExecutor, @unchecked Sendable {
    package let index: Int
    private let wakeDescriptor: Int32
    private let foreign = Mutex(ForeignWork())
    private let stopping = Atomic(false)
    /// The one that runs it, 0 before; asked by any thread that brings a task.
    private let thread = Atomic<pthread_t>(0)

    private var poller: Poller
    private var jobs: [UnownedJob] = []
    private var running: [UnownedJob] = []
    private var channels: [Channel?] = []
    private var freeSlots: [UInt32] = []
    private var generation: UInt32 = 0
    /// Channels closed in this round; they stay until its events are done.
    private var closedSlots: [UInt32] = []
    private var wheel: TimerWheel
    private var roundEnd: [() -> Void] = []
    private var nextRound: [() -> Void] = []
    /// Counts the rounds: in each, what is ready runs, and then the sockets are asked.
    private(set) var round: UInt64 = 0
    private var roundStart: MonotonicTime
    /// The last round that was long: its tasks kept each other waiting.
    private(set) var lastLongRound: UInt64 = 0
    /// In nanoseconds.
    private static let longRound: UInt64 = 2_000_000

    /// The loop's clock, in milliseconds: read once a round.
    package private(set) var now: UInt64
    /// Buffers for plaintext and for the wire, of 64 KiB and a little for TLS's own.
    package let buffers = BufferPool(capacity: 72 * 1024, keepLimit: 16)

    private struct ForeignWork {
        var jobs: [UnownedJob] = []
        var actions: [@Sendable () -> Void] = []
        var isWoken = false

        /// Notes that the loop must look; whether the caller has to wake it.
        mutating func mustWake() -> Bool {
            defer { isWoken = true }
            return !isWoken
        }
    }

    /// - Throws: `SystemError` if the kernel has no descriptors left.
    package convenience init(index: Int) throws(SystemError) {
        let poller = try Poller()
        let descriptor = platform_eventfd()
        guard descriptor >= 0 else { throw SystemError(errno) }
        do throws(SystemError) {
            try poller.add(descriptor, token: Self.wakeToken)
        } catch {
            close(descriptor)
            throw error
        }
        self.init(index: index, poller: poller, wakeDescriptor: descriptor)
    }

    private init(index: Int, poller: consuming Poller, wakeDescriptor: Int32) {
        self.index = index
        self.poller = poller
        self.wakeDescriptor = wakeDescriptor
        roundStart = MonotonicTime.now()
        now = roundStart.nanoseconds / 1_000_000
        wheel = TimerWheel(now: now)
    }

    deinit {
        close(wakeDescriptor)
    }

    private static let wakeToken = UInt64.max
    /// How many generations of jobs run before the loop looks at its sockets.
    private static let batchLimit = 16

    /// Whether the caller runs on this loop's thread.
    package var isCurrent: Bool {
        thread.load(ordering: .relaxed) == pthread_self()
    }

    // MARK: Executor

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if isCurrent {
            jobs.append(job)
        } else {
            let mustWake = foreign.withLock { work in
                work.jobs.append(job)
                return work.mustWake()
            }
            if mustWake { wake() }
        }
    }

    /// Runs `action` on the loop's thread, soon.
    package func execute(_ action: @escaping @Sendable () -> Void) {
        let mustWake = foreign.withLock { work in
            work.actions.append(action)
            return work.mustWake()
        }
        if mustWake { wake() }
    }

    /// Runs `action` at the end of this round, before the loop waits; on the loop's thread only.
    package func atEndOfRound(_ action: @escaping () -> Void) {
        roundEnd.append(action)
    }

    /// Runs `action` once the sockets were asked and before what is ready runs; on the loop's thread
    /// only.
    func atStartOfNextRound(_ action: @escaping () -> Void) {
        nextRound.append(action)
    }

    /// How long this round has lasted, in nanoseconds; asks the clock.
    var roundAge: UInt64 { MonotonicTime.now().nanoseconds - roundStart.nanoseconds }

    private func wake() {
        eventfd_write(wakeDescriptor, 1)
    }

    /// Runs until `stop()`; the calling thread becomes the loop's.
    package func run() {
        thread.store(pthread_self(), ordering: .relaxed)
        while !stopping.load(ordering: .acquiring) {
            takeForeignWork()
            runJobs()
            finishRound()
            if roundAge >= Self.longRound { lastLongRound = round }
            let hasWork = !jobs.isEmpty || !roundEnd.isEmpty || !nextRound.isEmpty
            let timeout = hasWork ? 0 : wheel.timeout(now: now)
            poller.wait(timeout: timeout) { readiness in
                if readiness.token == Self.wakeToken {
                    var value: eventfd_t = 0
                    _ = unsafe eventfd_read(wakeDescriptor, &value)
                } else {
                    self.channel(readiness.token)?.becomeReady(readiness)
                }
            }
            beginRound()
            let expired = wheel.expire(now: now)
            if !expired.isEmpty { TimerWheel.fire(expired, now: now) }
        }
    }

    private func beginRound() {
        round += 1
        roundStart = MonotonicTime.now()
        now = roundStart.nanoseconds / 1_000_000
        guard !nextRound.isEmpty else { return }
        let actions = nextRound
        nextRound.removeAll(keepingCapacity: true)
        for action in actions { action() }
    }

    /// Makes `run()` return; from any thread.
    package func stop() {
        stopping.store(true, ordering: .releasing)
        wake()
    }

    private func takeForeignWork() {
        let work = foreign.withLock { work in
            guard work.isWoken else { return ForeignWork?.none }
            defer { work = ForeignWork() }
            return work
        }
        guard let work else { return }
        jobs.append(contentsOf: work.jobs)
        for action in work.actions { action() }
    }

    private func runJobs() {
        let executor = unsafe asUnownedTaskExecutor()
        // Tasks that keep waking each other must not keep the sockets waiting.
        var batches = 0
        while !jobs.isEmpty, batches < Self.batchLimit {
            batches += 1
            swap(&jobs, &running)
            for job in running {
                unsafe job.runSynchronously(on: executor)
            }
            running.removeAll(keepingCapacity: true)
        }
    }

    private func finishRound() {
        if !roundEnd.isEmpty {
            let actions = roundEnd
            roundEnd.removeAll(keepingCapacity: true)
            for action in actions { action() }
        }
        for slot in closedSlots {
            channels[Int(slot)] = nil
            freeSlots.append(slot)
        }
        closedSlots.removeAll(keepingCapacity: true)
    }

    // MARK: Channels and timers

    private func channel(_ token: UInt64) -> Channel? {
        guard let channel = channels[Int(token & 0xFFFF_FFFF)], channel.token == token else {
            return nil
        }
        return channel
    }

    func register(_ channel: Channel) throws(SystemError) -> UInt64 {
        let slot: UInt32
        if let free = freeSlots.popLast() {
            slot = free
        } else {
            slot = UInt32(channels.count)
            channels.append(nil)
        }
        generation &+= 1
        let token = UInt64(generation & 0x7FFF_FFFF) << 32 | UInt64(slot)
        do {
            try poller.add(channel.descriptor, token: token)
        } catch {
            freeSlots.append(slot)
            throw error
        }
        channels[Int(slot)] = channel
        return token
    }

    func unregister(_ channel: Channel) {
        closedSlots.append(UInt32(channel.token & 0xFFFF_FFFF))
    }

    /// Closes every channel, so that each task that waits goes on and ends.
    package func closeAllChannels() {
        for channel in channels { channel?.close() }
    }

    /// A timer that calls `action` on the loop's thread; set it with `set`.
    package func makeTimer(_ action: @escaping () -> Void) -> LoopTimer {
        LoopTimer(action)
    }

    /// - Parameter due: in milliseconds of `now`; `.max` stops the timer.
    package func set(_ timer: LoopTimer, due: UInt64) {
        wheel.set(timer, due: due)
    }

    /// Suspends the calling task, which must run on this loop.
    package func sleep(milliseconds: UInt64) async {
        var timer: LoopTimer?
        unsafe await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
            let made = LoopTimer { unsafe continuation.resume() }
            timer = made
            wheel.set(made, due: now + milliseconds)
        }
        withExtendedLifetime(timer) {}
    }
}
