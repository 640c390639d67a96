import Base
import HTTPServer
import Sockets
import Synchronization

/// Counts what was pulled from a source that has no end.
final class Counter: Sendable {
    private struct State {
        var pulled = 0
        var isReleased = false
        var onRelease: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    var pulled: Int { state.withLock { $0.pulled } }

    func add(_ count: Int) { state.withLock { $0.pulled += count } }

    func release() {
        let action = state.withLock { state in
            state.isReleased = true
            return state.onRelease
        }
        action?()
    }

    /// Waits until the source is gone: the response has ended.
    func untilReleased(_ loop: EventLoop) async {
        await withCheckedContinuation { continuation in
            let isReleased = state.withLock { state in
                state.onRelease = { loop.execute { continuation.resume() } }
                return state.isReleased
            }
            if isReleased { continuation.resume() }
        }
    }
}

final class Endless: ResponseBodySource {
    private let counter: Counter

    init(_ counter: Counter) {
        self.counter = counter
    }

    deinit {
        counter.release()
    }

    func read(into buffer: ByteBuffer) async throws(ResponseInterruption) -> Int {
        let count = buffer.room
        buffer.append([UInt8](repeating: 0x61, count: count))
        counter.add(count)
        return count
    }
}
