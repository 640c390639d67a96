import Base
import HTTPCodecs
import Testing

@testable import Formats

/// Files of some 80 KB that would be 80 MiB.
///
/// Deflate makes 1032 bytes of one at most, so that a file is bounded by its own length; what has
/// to be held is how much of it is unpacked at once, and that no more is than is read.
struct PackedSourceTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let start: String
        /// What follows it 80 Mi times.
        let filler: UInt8
        var testDescription: String { name }
    }

    private static func pack(
        _ start: String, _ filler: UInt8, _ coding: ContentCoding = .gzip
    ) -> [UInt8] {
        let encoder = ContentEncoder(coding)
        let begin = [UInt8](start.utf8)
        let piece = [UInt8](repeating: filler, count: 1 << 20)
        var packed = begin.isEmpty ? [] : encoder.encode(begin.span)
        for _ in 0..<80 { packed += encoder.encode(piece.span) }
        return packed + encoder.finish()
    }

    /// In steps, although all of the file comes at once.
    @Test(arguments: [ContentCoding.gzip, .deflate])
    func unpacksALittleAtATime(_ coding: ContentCoding) throws {
        let packed = Self.pack("", 0, coding)
        #expect(packed.count < 100_000)
        var parts = [packed]
        let read = { parts.popLast() ?? [] }
        var source = PackedSource(read) { Failure("malformed", party: .tool, $0) }
        var (count, longest) = (0, 0)
        while true {
            let piece = try source.next()
            guard !piece.isEmpty else { break }
            count += piece.count
            longest = max(longest, piece.count)
        }
        #expect(count == 80 << 20)
        #expect(longest < 2 << 20)
    }

    static let flawed = [
        Row(name: "zeros", start: "", filler: 0),
        Row(
            name: "arrays", start: #"{"log":{"version":"1.2","entries":["#,
            filler: UInt8(ascii: "[")),
        Row(name: "a number", start: #"{"log":{"version":"#, filler: UInt8(ascii: "1")),
    ]

    /// What comes first tells that it is no HAR, and the rest is not unpacked.
    @Test(arguments: flawed)
    func unpacksNoFurtherThanAFlaw(_ row: Row) async {
        let result = await Self.read(Self.pack(row.start, row.filler))
        #expect(result.code == "har-malformed")
        #expect(result.pieces == 1)
    }

    /// - Returns: the code of the failure, and how many pieces were unpacked until then.
    private static func read(_ packed: [UInt8]) async -> (code: String?, pieces: Int) {
        let writer = ImportWriter(sink: MemoryTraffic(), nextConnection: 1, nextExchange: 1)
        var pieces = 0
        writer.checkpoint = { pieces += 1 }
        var parts = [packed]
        do {
            try await HARImporter().read({ parts.popLast() ?? [] }, into: writer)
            return (nil, pieces)
        } catch {
            return ((error as? Failure)?.code, pieces)
        }
    }
}
