internal import Base
internal import Sockets
internal import Synchronization
internal import Traffic

/// Numbers that are unique in a capture, shared by all loops.
package final class RecordNumbers: Sendable {
    private let connection: Atomic<Int64>
    private let exchange: Atomic<Int64>

    /// The first numbers to give.
    package init(connection: Int64, exchange: Int64) {
        self.connection = Atomic(connection)
        self.exchange = Atomic(exchange)
    }

    package func nextConnection() -> Int64 {
        connection.wrappingAdd(1, ordering: .relaxed).oldValue
    }

    func nextExchange() -> Int64 {
        exchange.wrappingAdd(1, ordering: .relaxed).oldValue
    }
}

/// Gathers what one loop records and hands it over in batches.
///
/// Not `Sendable`: it belongs to its loop.
final class TrafficRecorder {
    private let sink: any TrafficSink
    let numbers: RecordNumbers
    private let loop: EventLoop
    private var pending: [TrafficEvent] = []
    private var pendingWeight = 0
    private var isFlushPlanned = false

    /// In bytes: a batch that is this heavy does not wait for the end of the round.
    private static let batchWeight = 1 << 20

    init(sink: any TrafficSink, numbers: RecordNumbers, loop: EventLoop) {
        self.sink = sink
        self.numbers = numbers
        self.loop = loop
    }

    func record(_ event: TrafficEvent) {
        pending.append(event)
        pendingWeight += event.weight
        if pendingWeight >= Self.batchWeight {
            flush()
        } else if !isFlushPlanned {
            isFlushPlanned = true
            // Held until then: the loop's last connection may end the server in this very round.
            loop.atEndOfRound { [self] in
                self.isFlushPlanned = false
                self.flush()
            }
        }
    }

    func flush() {
        guard !pending.isEmpty else { return }
        sink.submit(pending)
        pending.removeAll(keepingCapacity: true)
        pendingWeight = 0
    }

    /// Waits while whoever stores the records is behind, so that nothing has to be dropped.
    func waitForRoom() async {
        guard sink.isCongested else { return }
        flush()
        unsafe await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
            sink.whenRoom { unsafe continuation.resume() }
        }
    }
}

/// Records the content of one message while it passes.
struct BodyRecorder {
    private let exchange: Int64
    private let direction: Direction
    private let limit: Int64
    private(set) var body = BodyRecord()
    private var lastChunkCount = 0

    /// In bytes: longer contents are recorded in pieces of this size.
    private static let chunkSize = 256 << 10

    /// Records nothing.
    static let nothing = BodyRecorder(exchange: 0, direction: .request, limit: 0)

    init(exchange: Int64, direction: Direction, limit: Int64) {
        self.exchange = exchange
        self.direction = direction
        self.limit = limit
    }

    /// Takes a part of the content.
    mutating func append(_ bytes: Span<UInt8>, to recorder: TrafficRecorder) {
        let room = limit - body.size
        body.size += Int64(bytes.count)
        guard room > 0 else {
            body.isTruncated = body.isTruncated || bytes.count > 0
            return
        }
        let kept = Int(min(room, Int64(bytes.count)))
        if kept < bytes.count { body.isTruncated = true }
        var taken = 0
        while taken < kept {
            // Pieces are cut at the same places whatever the network did, so that the store finds
            // the same content again.
            let piece = min(kept - taken, Self.chunkSize - body.bytes.count)
            if body.chunkCount > 0, body.bytes.isEmpty {
                body.bytes.reserveCapacity(Self.chunkSize)
            }
            unsafe bytes.extracting(taken..<(taken + piece)).withUnsafeBufferPointer {
                unsafe body.bytes.append(contentsOf: $0)
            }
            taken += piece
            if body.bytes.count == Self.chunkSize { spill(to: recorder) }
        }
    }

    /// Sends what is held ahead of the record if nothing else has gone ahead since the last call: a
    /// stream that trickles is seen while it does, and a fast one keeps its even pieces.
    mutating func spillIfSlow(to recorder: TrafficRecorder) {
        if body.chunkCount == lastChunkCount { spill(to: recorder) }
        lastChunkCount = body.chunkCount
    }

    /// Sends what is held ahead of the record.
    mutating func spill(to recorder: TrafficRecorder) {
        guard !body.bytes.isEmpty else { return }
        recorder.record(
            .bodyChunk(
                exchange: exchange, direction: direction, sequence: body.chunkCount,
                bytes: body.bytes))
        body.chunkCount += 1
        body.bytes = []
    }

    mutating func noteTrailers(_ trailers: [UInt8]) {
        body.trailers = trailers
    }

    /// Ends the content; a rest behind earlier pieces becomes the last of them.
    mutating func finish(to recorder: TrafficRecorder) -> BodyRecord {
        if body.chunkCount > 0 { spill(to: recorder) }
        return body
    }
}
