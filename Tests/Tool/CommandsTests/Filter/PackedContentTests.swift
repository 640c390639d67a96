import Base
import Findings
import HTTPCodecs
import Testing
import Traffic

@testable import Filters
@testable import Views

/// Filters on contents of a few kilobytes at most that would be 80 MiB.
struct PackedContentTests {
    struct Bomb: CustomTestStringConvertible, Sendable {
        let coding: String
        let packed: [UInt8]
        var testDescription: String { coding }
    }

    static let bombs = [
        Bomb(coding: "gzip, gzip", packed: ContentEncoder.encode(packed(.gzip))),
        Bomb(coding: "br", packed: packed(.brotli)),
        Bomb(coding: "zstd", packed: packed(.zstd)),
    ]

    /// A word and 80 MiB of zeros.
    private static func packed(_ coding: ContentCoding) -> [UInt8] {
        let encoder = ContentEncoder(coding)
        let word = [UInt8]("begun".utf8)
        let zeros = [UInt8](repeating: 0, count: 1 << 20)
        var packed = encoder.encode(word.span)
        for _ in 0..<80 { packed += encoder.encode(zeros.span) }
        return packed + encoder.finish()
    }

    /// What is looked through is bounded, and so is what is held of it.
    @Test(arguments: bombs)
    func looksNoFurtherThanTheLimit(_ bomb: Bomb) throws {
        #expect(bomb.packed.count < 16 << 10)
        let exchange = Self.exchange(bomb)
        let filter = Self.filter(nil, bomb)
        var (count, longest) = (0, 0)
        try filter.content(of: exchange, .response) { piece in
            count += piece.count
            longest = max(longest, piece.count)
            return true
        }
        #expect(count == CaptureFilter.contentLimit)
        #expect(longest <= 64 << 10)
    }

    @Test(arguments: bombs)
    func endsWhereItIsFound(_ bomb: Bomb) throws {
        var pieces = 0
        let filter = Self.filter(try FilterReader.read("body~begun", for: .exchanges), bomb) {
            pieces += 1
        }
        #expect(try filter.accepts(Self.exchange(bomb)))
        #expect((1...2).contains(pieces))
    }

    /// An interrupt need not wait for the end of a content.
    @Test(arguments: bombs, [0, 1, 20])
    func stopsInsideOfAContent(_ bomb: Bomb, limit: Int) throws {
        var left = limit
        let filter = Self.filter(try FilterReader.read("body~zzz", for: .exchanges), bomb) {
            left -= 1
            if left < 0 { throw CancellationError() }
        }
        let exchange = Self.exchange(bomb)
        #expect(throws: CancellationError.self) { try filter.accepts(exchange) }
        #expect(left == -1)
    }

    private static func exchange(_ bomb: Bomb) -> ExchangeRecord {
        var record = ExchangeRecord(
            id: 1, connection: 1, startedAt: SampleCapture.start, scheme: .http,
            authority: "a.test")
        record.requestHead = [UInt8]("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n".utf8)
        record.responseHead = [UInt8](
            "HTTP/1.1 200 OK\r\nContent-Encoding: \(bomb.coding)\r\n\r\n".utf8)
        record.status = 200
        record.responseBody.size = Int64(bomb.packed.count)
        return record
    }

    private static func filter(
        _ filter: Filter?, _ bomb: Bomb, checkpoint: @escaping () throws -> Void = {}
    ) -> CaptureFilter {
        var source = FakeTrafficSource()
        source.exchangeRecords = [exchange(bomb)]
        source.contents[.init(exchange: 1, direction: .response)] = bomb.packed
        let configuration = FindingsConfiguration(
            digests: DigestFunctions(
                sha256: { _ in [] }, sha1: { _ in [] }, md5: { _ in [] }, hmacSHA256: { _, _ in [] }
            ),
            runKey: [], registrableDomain: { $0 })
        return CaptureFilter(
            filter, in: source, configuration: configuration, checkpoint: checkpoint)
    }
}
