internal import Base
internal import Sockets
internal import Synchronization

/// Does what takes the disk long beside the event loop: on threads of its own, or where it is
/// called if the disk is none.
final class DiskWorker: Sendable {
    private let isSlow: Bool
    let loop: EventLoop
    private let running = Mutex(0)
    private let waiting = Mutex<[@Sendable () -> Void]>([])

    init(for disk: any TransferDisk, on loop: EventLoop) {
        isSlow = disk.isSlow
        self.loop = loop
    }

    /// Waits for `work`; called on the loop.
    func run<Value: Sendable>(
        _ work: @escaping @Sendable () throws(DiskFailure) -> Value
    ) async throws(DiskFailure) -> Value {
        try await begin(work).value()
    }

    /// Begins `work`, whose end need not be waited for; called on the loop.
    func begin<Value: Sendable>(
        _ work: @escaping @Sendable () throws(DiskFailure) -> Value
    ) -> DiskWork<Value> {
        let begun = DiskWork<Value>(loop)
        guard isSlow else {
            begun.end(work)
            return begun
        }
        start {
            begun.end(work)
            begun.wakeup.loop.execute { begun.wakeup.wake() }
        }
        return begun
    }

    private func start(_ work: @escaping @Sendable () -> Void) {
        waiting.withLock { $0.append(work) }
        let mustStart = running.withLock { count in
            guard count < Self.threadLimit else { return false }
            count += 1
            return true
        }
        if mustStart { startThread(named: "disk") { self.work() } }
    }

    /// Ends when nothing waits.
    private func work() {
        while true {
            let next = running.withLock { count in
                let next = waiting.withLock { $0.isEmpty ? nil : $0.removeFirst() }
                if next == nil { count -= 1 }
                return next
            }
            guard let next else { return }
            next()
        }
    }

    private static let threadLimit = 2
}

/// What the disk does beside the loop.
final class DiskWork<Value: Sendable>: Sendable {
    fileprivate let wakeup: LoopWakeup
    private let result = Mutex<Result<Value, DiskFailure>?>(nil)

    fileprivate init(_ loop: EventLoop) {
        wakeup = LoopWakeup(loop)
    }

    fileprivate func end(_ work: () throws(DiskFailure) -> Value) {
        do throws(DiskFailure) {
            let value = try work()
            result.withLock { $0 = .success(value) }
        } catch {
            result.withLock { $0 = .failure(error) }
        }
    }

    var isDone: Bool { result.withLock { $0 != nil } }

    /// Waits for its end; one task of the loop does.
    func value() async throws(DiskFailure) -> Value {
        while true {
            if let result = result.withLock({ $0 }) { return try result.get() }
            _ = await wakeup.wait(until: .max)
        }
    }
}
