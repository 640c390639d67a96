import Testing

@testable import TransferAnalysis

struct ByteRangesReaderTests {
    struct Row: CustomStringConvertible, Sendable {
        let description: String
        let content: String
        /// The range, where its content starts, and how much of it is there.
        let parts: [[Int64]]
        var violation: ByteRangesReader.Violation?
        var isComplete = true
    }

    private static let first = "--B\r\nContent-Type: a/b\r\nContent-Range: bytes 2-4/9\r\n\r\n234"
    private static let second = "\r\n--B\r\ncontent-range:bytes 7-8/9\r\n\r\n78"

    static let rows: [Row] = [
        Row(
            description: "one", content: first + "\r\n--B--\r\n", parts: [[2, 5, 54, 3]]),
        Row(
            description: "without a last line end", content: first + "\r\n--B--",
            parts: [[2, 5, 54, 3]]),
        Row(
            description: "two behind a preamble",
            content: "\r\nhello\r\n" + first + second
                + "\r\n--B--\r\nbye", parts: [[2, 5, 63, 3], [7, 9, 102, 2]]),
        Row(
            description: "a content like a boundary",
            content: "--B\nContent-Range: bytes 0-6/9\n\n\r\n--B--\r\n--B--\n",
            parts: [[0, 7, 32, 7]]),
        Row(
            description: "cut in the content", content: String(first.dropLast()),
            parts: [[2, 5, 54, 2]], isComplete: false),
        Row(
            description: "more content than was told", content: first + "X\r\n--B--\r\n",
            parts: [[2, 5, 54, 3]], violation: .boundary, isComplete: false),
        Row(
            description: "no place", content: "--B\r\nContent-Type: a/b\r\n\r\nabc", parts: [],
            violation: .range, isComplete: false),
        Row(
            description: "a place that makes no sense",
            content: "--B\r\nContent-Range: bytes 4-2/9\r\n\r\nabc", parts: [],
            violation: .range, isComplete: false),
        Row(
            description: "a line without an end",
            content: "--B\r\n" + String(repeating: "x", count: 9000), parts: [],
            violation: .line, isComplete: false),
        Row(
            description: "too many parts",
            content: String(
                repeating: "--B\r\nContent-Range: bytes 0-0/9\r\n\r\n0\r\n", count: 257),
            parts: [[Int64]](), violation: .parts, isComplete: false),
    ]

    @Test(arguments: rows)
    func reads(_ row: Row) {
        let bytes = [UInt8](row.content.utf8)
        // Whole, byte by byte, and cut at every offset.
        var cuts = [[bytes[...]], bytes.indices.map { bytes[$0...$0] }]
        if bytes.count < 500 { cuts += bytes.indices.map { [bytes[..<$0], bytes[$0...]] } }
        for pieces in cuts {
            var reader = ByteRangesReader(boundary: Array("B".utf8))
            var violation: ByteRangesReader.Violation?
            for piece in pieces where violation == nil {
                do throws(ByteRangesReader.Violation) {
                    try reader.read(piece)
                } catch {
                    violation = error
                }
            }
            reader.finish()
            #expect(violation == row.violation)
            #expect(reader.isComplete == row.isComplete)
            guard row.violation != .parts else { continue }
            let parts = reader.parts.map {
                [$0.range.lowerBound, $0.range.upperBound, $0.contentOffset, $0.count]
            }
            #expect(parts == row.parts)
        }
    }

    @Test func isCutAnywhere() {
        let bytes = [UInt8]((Self.first + Self.second + "\r\n--B--\r\n").utf8)
        for end in bytes.indices {
            var reader = ByteRangesReader(boundary: Array("B".utf8))
            #expect(throws: Never.self) { try reader.read(bytes[..<end]) }
            reader.finish()
            #expect(reader.isComplete == (end >= bytes.count - 2))
            #expect(reader.parts.allSatisfy { $0.contentOffset + $0.count <= end })
        }
    }
}
