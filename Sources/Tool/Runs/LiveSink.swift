internal import Base
internal import Sockets
internal import Synchronization
internal import Traffic

/// Passes records on to the store and shows each that has ended as a line.
///
/// The lines are written on a thread of their own: a terminal that is slow, or stopped, must not
/// hold the traffic up.
final class LiveSink: TrafficSink {
    private let store: any TrafficSink
    private let log: LiveLog
    private let output: OutputStream
    private let loop: EventLoop
    private let waiting = Atomic(0)
    private let dropped = Atomic(0)

    /// Lines that may wait to be written; more are counted and not shown.
    private static let waitingLimit = 4096

    init(store: any TrafficSink, log: LiveLog, output: OutputStream, loop: EventLoop) {
        self.store = store
        self.log = log
        self.output = output
        self.loop = loop
    }

    var isCongested: Bool { store.isCongested }

    func whenRoom(_ resume: @escaping @Sendable () -> Void) {
        store.whenRoom(resume)
    }

    func submit(_ events: [TrafficEvent]) {
        store.submit(events)
        let lines = events.compactMap(line)
        guard !lines.isEmpty else { return }
        guard waiting.load(ordering: .relaxed) < Self.waitingLimit else {
            dropped.wrappingAdd(lines.count, ordering: .relaxed)
            return
        }
        waiting.wrappingAdd(lines.count, ordering: .relaxed)
        loop.execute { [self] in write(lines) }
    }

    private func line(_ event: TrafficEvent) -> String? {
        switch event {
        case .exchange(let exchange):
            exchange.durationMicroseconds == nil ? nil : log.line(for: exchange)
        case .connection(let connection):
            connection.closedAt == nil ? nil : log.line(for: connection)
        case .bodyChunk, .message: nil
        }
    }

    private func write(_ lines: [String]) {
        waiting.wrappingSubtract(lines.count, ordering: .relaxed)
        var text = lines.joined(separator: "\n") + "\n"
        let missed = dropped.exchange(0, ordering: .relaxed)
        if missed > 0 { text += "… \(missed) lines not shown\n" }
        do throws(Failure) {
            try output.write(text)
        } catch {
            // Nobody looks any more; the capture has it all.
            dropped.wrappingAdd(lines.count, ordering: .relaxed)
        }
    }
}
