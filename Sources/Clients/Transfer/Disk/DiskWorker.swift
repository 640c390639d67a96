internal import Base
internal import Sockets
internal import Synchronization

/// Does what takes the disk long beside the event loop: on threads of its own, or where it is
/// called if the disk is none.
final class DiskWorker: Sendable {
    private let isSlow: Bool
    private let loop: EventLoop
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
        guard isSlow else { return try work() }
        let wakeup = LoopWakeup(loop)
        let result = Box<Value>()
        start {
            do throws(DiskFailure) {
                let value = try work()
                result.value.withLock { $0 = .success(value) }
            } catch {
                result.value.withLock { $0 = .failure(error) }
            }
            wakeup.loop.execute { wakeup.wake() }
        }
        while true {
            if let result = result.value.withLock({ $0 }) { return try result.get() }
            _ = await wakeup.wait(until: .max)
        }
    }

    private final class Box<Value: Sendable>: Sendable {
        let value = Mutex<Result<Value, DiskFailure>?>(nil)
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
