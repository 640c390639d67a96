import Base
import Testing
import Traffic

@testable import Recording

@Suite struct BodyRecorderTests {
    private let sink = TrafficCollector()

    private static let piece = BodyRecorder.pieceSize

    struct Row: Sendable, CustomTestStringConvertible {
        let count: Int
        /// Sizes of what went ahead.
        let chunks: [Int]
        /// In bytes: what the record holds.
        let rest: Int
        var limit = Int64.max
        var testDescription: String { "\(count) bytes, limit \(limit)" }
    }

    static let rows = [
        Row(count: 0, chunks: [], rest: 0),
        Row(count: 1, chunks: [], rest: 1),
        Row(count: piece - 1, chunks: [], rest: piece - 1),
        Row(count: piece, chunks: [piece], rest: 0),
        Row(count: piece + 1, chunks: [piece, 1], rest: 0),
        Row(count: 3 * piece + 7, chunks: [piece, piece, piece, 7], rest: 0),
        Row(count: 10, chunks: [], rest: 4, limit: 4),
        Row(count: 2 * piece, chunks: [piece, 5], rest: 0, limit: Int64(piece) + 5),
        Row(count: 10, chunks: [], rest: 0, limit: 0),
    ]

    /// However the content comes, it is cut at the same places.
    @Test(arguments: rows, [1 << 30, 1009, 16_384, 262_145])
    func cutsEvenly(_ row: Row, _ step: Int) {
        let content = (0..<row.count).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        let recorder = TrafficRecorder(sink: sink)
        var body = BodyRecorder(exchange: 1, direction: .request, byteLimit: row.limit)
        for start in stride(from: 0, to: content.count, by: step) {
            let end = min(start + step, content.count)
            body.append(content.span.extracting(start..<end), to: recorder)
        }
        let record = body.finish(to: recorder)
        #expect(sink.chunks(.request).map(\.count) == row.chunks)
        #expect(record.chunkCount == row.chunks.count)
        #expect(record.bytes.count == row.rest)
        #expect(record.size == Int64(row.count))
        #expect(record.isTruncated == (row.count > Int(clamping: row.limit)))
        let kept = sink.chunks(.request).flatMap(\.self) + record.bytes
        #expect(kept == Array(content.prefix(kept.count)))
    }

    @Test func showsAStreamThatTrickles() {
        let recorder = TrafficRecorder(sink: sink)
        var body = BodyRecorder(exchange: 1, direction: .response)
        body.append([1, 2].span, to: recorder)
        body.spillIfSlow(to: recorder)
        #expect(sink.chunks(.response) == [[1, 2]])
        // A fast one went ahead by itself since then.
        body.append([UInt8](repeating: 3, count: Self.piece + 1).span, to: recorder)
        body.spillIfSlow(to: recorder)
        #expect(sink.chunks(.response).map(\.count) == [2, Self.piece])
        body.spillIfSlow(to: recorder)
        #expect(sink.chunks(.response).map(\.count) == [2, Self.piece, 1])
    }
}
