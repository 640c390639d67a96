package import Traffic

/// Gathers what one loop, one client or one import records, and hands it over in batches.
///
/// Not `Sendable`: it belongs to whoever records.
package final class TrafficRecorder {
    package let numbers: RecordNumbers
    private let sink: (any TrafficSink)?
    private let planFlush: (TrafficRecorder) -> Void
    private var pending: [TrafficEvent] = []
    private var pendingWeight = 0

    /// In bytes: a batch that is this heavy is handed over at once.
    private static let batchWeight = 1 << 20

    /// - Parameters:
    ///   - sink: `nil` to record nothing.
    ///   - planFlush: called when the first event of a batch waits; it sees to it that `flush` is
    ///     called. As it stands, each event is a batch.
    package init(
        sink: (any TrafficSink)?, numbers: RecordNumbers = RecordNumbers(),
        planFlush: @escaping (TrafficRecorder) -> Void = { $0.flush() }
    ) {
        self.sink = sink
        self.numbers = numbers
        self.planFlush = planFlush
    }

    package var isRecording: Bool { sink != nil }

    package func record(_ event: TrafficEvent) {
        guard sink != nil else { return }
        pending.append(event)
        pendingWeight += event.weight
        if pendingWeight >= Self.batchWeight {
            flush()
        } else if pending.count == 1 {
            planFlush(self)
        }
    }

    package func flush() {
        guard let sink, !pending.isEmpty else { return }
        sink.submit(pending)
        pending.removeAll(keepingCapacity: true)
        pendingWeight = 0
    }

    /// Whether the sink is behind. To be asked ahead of `waitForRoom` where each exchange passes: a
    /// call that may wait costs more than the answer.
    package var isCongested: Bool { sink?.isCongested ?? false }

    /// Waits while the sink is behind, so that nothing has to be dropped.
    package func waitForRoom() async {
        guard let sink, sink.isCongested else { return }
        flush()
        unsafe await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
            sink.whenRoom { unsafe continuation.resume() }
        }
    }
}
