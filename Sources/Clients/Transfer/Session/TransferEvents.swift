internal import Sockets

/// What the owner of a session is told, in order; progress that was not taken is forgotten for later
/// progress of the same task, so that no more waits than there are tasks.
///
/// `@unchecked Sendable`: used on the service's loop.
package final class TransferEvents: @unchecked Sendable {
    package let session: String
    private let wakeup: LoopWakeup
    private var kept: [TransferEvent] = []
    private var progress: [String: TransferEvent] = [:]
    private var order: [String] = []
    private(set) var isClosed = false
    /// Called when a kept event has been taken.
    var onDelivery: (TransferEvent) -> Void = { _ in }

    init(session: String, on loop: EventLoop) {
        self.session = session
        wakeup = LoopWakeup(loop)
    }

    /// The next event; `nil` once it was closed.
    package func next() async -> TransferEvent? {
        while true {
            if let event = take() { return event }
            if isClosed { return nil }
            _ = await wakeup.wait(until: .max)
        }
    }

    /// The next event, if there is one now.
    package func take() -> TransferEvent? {
        if !kept.isEmpty {
            let event = kept.removeFirst()
            onDelivery(event)
            return event
        }
        guard !order.isEmpty else { return nil }
        return progress.removeValue(forKey: order.removeFirst())
    }

    func add(_ event: TransferEvent) {
        if event.isKept {
            kept.append(event)
        } else if progress.updateValue(event, forKey: event.task.identifier) == nil {
            order.append(event.task.identifier)
        }
        wakeup.wake()
    }

    /// Ends the events; those that were not acknowledged are told to whoever attaches next.
    package func close() {
        isClosed = true
        wakeup.wake()
    }
}
