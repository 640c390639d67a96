package import Traffic

/// Numbers and hands over what the client did.
///
/// Not `Sendable`: it lives on the client's loop.
package final class ClientJournal {
    private let sink: (any TrafficSink)?
    private var connection: Int64
    private var exchange: Int64

    /// - Parameters:
    ///   - sink: `nil` to record nothing.
    ///   - connection: the first number to give.
    ///   - exchange: the first number to give.
    package init(_ sink: (any TrafficSink)?, connection: Int64 = 1, exchange: Int64 = 1) {
        self.sink = sink
        self.connection = connection
        self.exchange = exchange
    }

    var isRecording: Bool { sink != nil }

    func nextConnection() -> Int64 {
        defer { connection += 1 }
        return connection
    }

    func nextExchange() -> Int64 {
        defer { exchange += 1 }
        return exchange
    }

    func tell(_ event: TrafficEvent) {
        sink?.submit([event])
    }

    /// Waits while whoever stores the records is behind.
    func waitForRoom() async {
        guard let sink, sink.isCongested else { return }
        unsafe await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
            sink.whenRoom { unsafe continuation.resume() }
        }
    }
}

/// Records a content while it passes, in pieces of one size.
struct ContentJournal {
    private let exchange: Int64
    private let direction: Direction
    private(set) var body = BodyRecord()

    /// In bytes, as the proxy cuts them, so that the store finds the same content again.
    private static let pieceSize = 256 << 10

    init(exchange: Int64, _ direction: Direction) {
        self.exchange = exchange
        self.direction = direction
    }

    mutating func append(_ bytes: Span<UInt8>, to journal: ClientJournal) {
        body.size += Int64(bytes.count)
        guard journal.isRecording else { return }
        var taken = 0
        while taken < bytes.count {
            let count = min(bytes.count - taken, Self.pieceSize - body.bytes.count)
            unsafe bytes.extracting(taken..<taken + count).withUnsafeBufferPointer {
                unsafe body.bytes.append(contentsOf: $0)
            }
            taken += count
            if body.bytes.count == Self.pieceSize { spill(to: journal) }
        }
    }

    private mutating func spill(to journal: ClientJournal) {
        guard !body.bytes.isEmpty else { return }
        journal.tell(
            .bodyChunk(
                exchange: exchange, direction: direction, sequence: body.chunkCount,
                bytes: body.bytes))
        body.chunkCount += 1
        body.bytes = []
    }

    /// Ends the content; a rest behind earlier pieces becomes the last of them.
    mutating func finish(trailers: [UInt8], to journal: ClientJournal) -> BodyRecord {
        if body.chunkCount > 0 { spill(to: journal) }
        body.trailers = trailers
        return body
    }
}
