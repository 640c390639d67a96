internal import Base
internal import Sockets

/// A connection that one request opens and others wait for.
final class ClientOpening {
    private let loop: EventLoop
    private var waiting: [LoopWakeup] = []
    private var result: Failure??

    init(_ loop: EventLoop) {
        self.loop = loop
    }

    /// Waits until it is open, or why it is not; whoever opens it has deadlines.
    func failure() async -> Failure? {
        while true {
            if let result { return result }
            let wakeup = LoopWakeup(loop)
            waiting.append(wakeup)
            _ = await wakeup.wait(until: .max)
        }
    }

    func end(_ failure: Failure?) {
        result = .some(failure)
        for wakeup in waiting { wakeup.wake() }
        waiting = []
    }
}
