package import Recording
package import Traffic

/// Reads recorded traffic in the format of another tool.
package protocol CaptureImporter {
    /// Reads all of `input` and writes what it tells; it holds one exchange at a time.
    ///
    /// What came before a flaw is written and is not lost.
    ///
    /// Errors: a `Failure` that says at which byte the input is malformed, and those of `input`.
    ///
    /// - Parameter input: returns the next bytes, none at the end.
    func read(_ input: @escaping () throws -> [UInt8], into writer: ImportWriter) async throws
}

/// Numbers and counts what an import reads, and what could not be kept.
///
/// Not `Sendable`: one import has it.
package final class ImportWriter {
    package var losses = LossReport()
    package private(set) var connectionCount: Int64 = 0
    package private(set) var exchangeCount: Int64 = 0
    package private(set) var messageCount: Int64 = 0
    /// Takes exchanges with their contents; messages are written here.
    package let recorder: TrafficRecorder
    /// Called between the pieces of a file that unpacks as it is read; an error of it ends the
    /// import.
    package var checkpoint: () throws -> Void = {}
    /// What is noted of every connection.
    package var standingNotes: [ConnectionNote] = []

    /// - Parameters:
    ///   - nextConnection: the first number for a connection that is free in the sink.
    ///   - nextExchange: the first number for an exchange that is free there.
    package init(sink: any TrafficSink, nextConnection: Int64, nextExchange: Int64) {
        // Flushed when a batch is full, and at the end.
        recorder = TrafficRecorder(
            sink: sink, numbers: RecordNumbers(connection: nextConnection, exchange: nextExchange),
            planFlush: { _ in })
    }

    /// - Parameter isCounted: false for a connection that no record will tell of.
    package func makeConnectionNumber(counting isCounted: Bool = true) -> Int64 {
        if isCounted { connectionCount += 1 }
        return recorder.numbers.nextConnection()
    }

    package func makeExchangeNumber() -> Int64 {
        exchangeCount += 1
        return recorder.numbers.nextExchange()
    }

    package func write(_ event: TrafficEvent) {
        switch event {
        case .message(let snapshot) where snapshot.record.isLast: messageCount += 1
        case .connection(var record) where !standingNotes.isEmpty:
            record.notes += standingNotes.filter { note in
                !record.notes.contains { $0.code == note.code }
            }
            return recorder.record(.connection(record))
        default: break
        }
        recorder.record(event)
    }

    /// Writes a content that is long ahead of its exchange.
    ///
    /// - Returns: what the exchange's record has to hold of it.
    package func body(
        _ bytes: [UInt8], of exchange: Int64, _ direction: Direction
    ) -> BodyRecord {
        var body = BodyRecorder(exchange: exchange, direction: direction)
        body.append(bytes.span, to: recorder)
        return body.finish(to: recorder)
    }

    /// Writes a message whose `bytes` are all of its content, in parts if it is long.
    package func write(message record: MessageRecord) {
        var part = record
        part.bytes = []
        part.size = 0
        var message = OpenMessage(part)
        message.append(record.bytes.span, keeping: record.bytes.count) { write(.message($0)) }
        message.record.size += max(0, record.size - Int64(record.bytes.count))
        write(.message(message.record))
    }
}

extension ConnectionNote {
    /// Of connections in a copy that an export made without secrets.
    package static let secretsMasked = ConnectionNote(
        .secretsMasked, "from a copy that was made without its secrets")
}
