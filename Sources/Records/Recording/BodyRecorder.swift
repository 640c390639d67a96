package import Traffic

/// Records the content of one message while it passes.
///
/// Whatever the source, contents are cut at the same places: the store keeps equal pieces once.
package struct BodyRecorder {
    private let exchange: Int64
    private let direction: Direction
    private let byteLimit: Int64
    package private(set) var body = BodyRecord()
    private var lastChunkCount = 0

    /// In bytes: longer contents are recorded in pieces of this size.
    package static let pieceSize = 256 << 10

    /// Records nothing.
    package static let nothing = BodyRecorder(exchange: 0, direction: .request, byteLimit: 0)

    /// - Parameter byteLimit: bytes past it are counted but not recorded.
    package init(exchange: Int64, direction: Direction, byteLimit: Int64 = .max) {
        self.exchange = exchange
        self.direction = direction
        self.byteLimit = byteLimit
    }

    /// Takes the next part of the content, however it is cut.
    package mutating func append(_ bytes: Span<UInt8>, to recorder: TrafficRecorder) {
        let room = byteLimit - body.size
        body.size += Int64(bytes.count)
        guard room > 0 else {
            body.isTruncated = body.isTruncated || bytes.count > 0
            return
        }
        let kept = Int(min(room, Int64(bytes.count)))
        if kept < bytes.count { body.isTruncated = true }
        var taken = 0
        while taken < kept {
            let piece = min(kept - taken, Self.pieceSize - body.bytes.count)
            if body.chunkCount > 0, body.bytes.isEmpty {
                body.bytes.reserveCapacity(Self.pieceSize)
            }
            unsafe bytes.extracting(taken..<(taken + piece)).withUnsafeBufferPointer {
                unsafe body.bytes.append(contentsOf: $0)
            }
            taken += piece
            if body.bytes.count == Self.pieceSize { spill(to: recorder) }
        }
    }

    /// Sends what is held ahead of the record if nothing else has gone ahead since the last call: a
    /// stream that trickles is seen while it does, and a fast one keeps its even pieces.
    package mutating func spillIfSlow(to recorder: TrafficRecorder) {
        if body.chunkCount == lastChunkCount { spill(to: recorder) }
        lastChunkCount = body.chunkCount
    }

    /// Sends what is held ahead of the record.
    private mutating func spill(to recorder: TrafficRecorder) {
        guard !body.bytes.isEmpty else { return }
        recorder.record(
            .bodyChunk(
                exchange: exchange, direction: direction, sequence: body.chunkCount,
                bytes: body.bytes))
        body.chunkCount += 1
        body.bytes = []
    }

    package mutating func noteTrailers(_ trailers: [UInt8]) {
        body.trailers = trailers
    }

    /// Ends the content; a rest behind earlier pieces becomes the last of them.
    package mutating func finish(to recorder: TrafficRecorder) -> BodyRecord {
        if body.chunkCount > 0 { spill(to: recorder) }
        return body
    }
}
