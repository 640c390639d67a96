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

/// Gives what an import reads to a sink: numbers it, cuts contents into parts, and waits for the
/// sink. It also counts what could not be kept.
///
/// Not `Sendable`: one import has it.
package final class ImportWriter {
    package var losses = LossReport()
    package private(set) var connectionCount: Int64 = 0
    package private(set) var exchangeCount: Int64 = 0
    package private(set) var messageCount: Int64 = 0
    private let sink: any TrafficSink
    private var nextConnection: Int64
    private var nextExchange: Int64
    private var pending: [TrafficEvent] = []
    private var pendingWeight = 0

    /// - Parameters:
    ///   - nextConnection: the first number for a connection that is free in the sink.
    ///   - nextExchange: the first number for an exchange that is free there.
    package init(sink: any TrafficSink, nextConnection: Int64, nextExchange: Int64) {
        self.sink = sink
        self.nextConnection = nextConnection
        self.nextExchange = nextExchange
    }

    /// - Parameter isCounted: false for a connection that no record will tell of.
    package func makeConnectionNumber(counting isCounted: Bool = true) -> Int64 {
        defer { nextConnection += 1 }
        if isCounted { connectionCount += 1 }
        return nextConnection
    }

    package func makeExchangeNumber() -> Int64 {
        defer { nextExchange += 1 }
        exchangeCount += 1
        return nextExchange
    }

    package func write(_ event: TrafficEvent) {
        if case .message(let record) = event, record.isLast { messageCount += 1 }
        pending.append(event)
        pendingWeight += event.weight
        if pendingWeight >= Self.batchWeight { flush() }
    }

    /// Writes a content that is long ahead of its exchange.
    ///
    /// - Returns: what the exchange's record has to hold of it.
    package func body(
        _ bytes: [UInt8], of exchange: Int64, _ direction: Direction
    ) -> BodyRecord {
        var record = BodyRecord()
        record.size = Int64(bytes.count)
        guard bytes.count > Self.partSize else {
            record.bytes = bytes
            return record
        }
        for part in Self.parts(of: bytes) {
            write(
                .bodyChunk(
                    exchange: exchange, direction: direction, sequence: record.chunkCount,
                    bytes: part))
            record.chunkCount += 1
        }
        return record
    }

    /// Writes a message whose `bytes` are all of its content, in parts if it is long.
    package func write(message record: MessageRecord) {
        let parts = Self.parts(of: record.bytes)
        let held = Int64(record.bytes.count)
        let missing = max(record.size, held) - held
        for (index, bytes) in parts.enumerated() {
            var part = record
            part.part = index
            part.bytes = bytes
            part.isLast = index == parts.count - 1
            part.size = Int64(bytes.count) + (part.isLast ? missing : 0)
            write(.message(part))
        }
    }

    /// Called between the pieces of a file that unpacks as it is read; an error of it ends the
    /// import.
    package var checkpoint: () throws -> Void = {}

    /// Hands over what is held back.
    package func flush() {
        guard !pending.isEmpty else { return }
        sink.submit(pending)
        pending.removeAll(keepingCapacity: true)
        pendingWeight = 0
    }

    /// Returns once the sink can take more.
    package func waitForRoom() async {
        guard sink.isCongested else { return }
        await withCheckedContinuation { continuation in
            sink.whenRoom { continuation.resume() }
        }
    }

    private static func parts(of bytes: [UInt8]) -> [[UInt8]] {
        guard bytes.count > partSize else { return [bytes] }
        return stride(from: 0, to: bytes.count, by: partSize).map {
            Array(bytes[$0..<min($0 + partSize, bytes.count)])
        }
    }

    /// In bytes: what the capture file holds as one piece.
    private static let partSize = 1 << 20
    private static let batchWeight = 1 << 20
}
