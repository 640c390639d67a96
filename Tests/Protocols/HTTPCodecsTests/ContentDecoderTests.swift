import Base
import HTTPModel
import Testing

@testable import HTTPCodecs

struct PackedRow: Sendable, CustomTestStringConvertible {
    var name: String
    var packed: [UInt8]
    var codings: [ContentCoding]
    var testDescription: String { name }

    init(_ name: String, _ packed: [UInt8], _ codings: ContentCoding...) {
        self.name = name
        self.packed = packed
        self.codings = codings
    }
}

/// Unpacks in pieces that end at `cuts`.
private func decode(
    _ bytes: [UInt8], _ codings: [ContentCoding], limit: Int = 10_000_000, cuts: [Int] = []
) -> (content: [UInt8], outcome: ContentDecoder.Outcome) {
    let decoder = ContentDecoder(codings, limit: .bytes(limit))
    var content: [UInt8] = []
    var start = 0
    for end in cuts + [bytes.count] {
        content += decoder.whole(bytes.span.extracting(start..<end))
        start = end
    }
    return (content, decoder.finish())
}

extension ContentDecoder {
    /// All that comes of some bytes.
    func whole(_ bytes: Span<UInt8>) -> [UInt8] {
        var content: [UInt8] = []
        decode(bytes) { piece in
            #expect((1...decodingPieceLength).contains(piece.count))
            content += piece
            return true
        }
        return content
    }
}

@Suite struct ContentDecoderTests {
    static let rows: [PackedRow] = [
        .init("gzip", PackedContent.gzip, .gzip),
        .init("zlib", PackedContent.zlib, .deflate),
        .init("raw deflate", PackedContent.rawDeflate, .deflate),
        .init("brotli", PackedContent.brotli, .brotli),
        .init("zstd", PackedContent.zstd, .zstd),
        .init("gzip, br", PackedContent.brotliOfGzip, .gzip, .brotli),
        .init("our gzip", ContentEncoder.encode(PackedContent.text), .gzip),
        .init(
            "gzip thrice",
            ContentEncoder.encode(ContentEncoder.encode(ContentEncoder.encode(PackedContent.text))),
            .gzip,
            .gzip, .gzip),
        .init("br, gzip", ContentEncoder.encode(PackedContent.brotli), .brotli, .gzip),
        .init("none", PackedContent.text),
    ]

    @Test(arguments: rows)
    func unpacks(row: PackedRow) {
        let (content, outcome) = decode(row.packed, row.codings)
        #expect(content == PackedContent.text)
        #expect(outcome == .complete)
        let bytewise = decode(row.packed, row.codings, cuts: Array(row.packed.indices))
        #expect(bytewise.content == PackedContent.text)
        #expect(bytewise.outcome == .complete)
        for cut in row.packed.indices {
            let halves = decode(row.packed, row.codings, cuts: [cut])
            #expect(halves.content == PackedContent.text)
            #expect(halves.outcome == .complete)
        }
    }

    @Test(arguments: rows.dropLast())
    func tellsTruncation(row: PackedRow) {
        for count in 1..<row.packed.count {
            let (content, outcome) = decode(Array(row.packed.prefix(count)), row.codings)
            #expect(outcome == .truncated, "\(count)")
            #expect(PackedContent.text.starts(with: content))
        }
    }

    @Test(arguments: rows)
    func takesNothingForComplete(row: PackedRow) {
        let (content, outcome) = decode([], row.codings)
        #expect(content.isEmpty)
        #expect(outcome == .complete)
    }

    @Test(arguments: rows)
    func stopsAtTheLimit(row: PackedRow) {
        let exact = PackedContent.text.count
        // Packed thrice, the packed forms are below the limit as well.
        #expect(decode(row.packed, row.codings, limit: exact).outcome == .complete)
        for limit in [0, 1, exact / 2, exact - 1] {
            for cuts in [[], Array(row.packed.indices)] {
                let (content, outcome) = decode(
                    row.packed, row.codings, limit: limit, cuts: cuts)
                #expect(outcome == .limited)
                #expect(content.count <= limit)
                #expect(PackedContent.text.starts(with: content))
            }
        }
        #expect(decode(row.packed, row.codings, limit: .max).outcome == .complete)
        #expect(decode(row.packed, row.codings, limit: -1).outcome == .limited)
    }

    @Test(arguments: [
        PackedRow("brotli", PackedContent.brotliZeros, .brotli),
        PackedRow("zstd", PackedContent.zstdZeros, .zstd),
        PackedRow(
            "gzip", ContentEncoder.encode([UInt8](repeating: 0, count: PackedContent.zeroCount)),
            .gzip
        ),
        PackedRow(
            "gzip twice",
            ContentEncoder.encode(
                ContentEncoder.encode([UInt8](repeating: 0, count: PackedContent.zeroCount))),
            .gzip, .gzip),
    ])
    func defusesBombs(row: PackedRow) {
        let (content, outcome) = decode(row.packed, row.codings, limit: 100_000)
        #expect(outcome == .limited)
        #expect(content == [UInt8](repeating: 0, count: 100_000))
        let whole = decode(row.packed, row.codings, limit: PackedContent.zeroCount)
        #expect(whole.outcome == .complete)
        #expect(whole.content.count == PackedContent.zeroCount)
    }

    /// A middle that is a bomb though the content is nothing: many empty gzip members, packed.
    @Test func defusesABombInTheMiddle() {
        let empty = ContentEncoder.encode([])
        let middle = (0..<10_000).flatMap { _ in empty }
        let (content, outcome) = decode(ContentEncoder.encode(middle), [.gzip, .gzip], limit: 1000)
        #expect(content.isEmpty)
        #expect(outcome == .limited)
    }

    /// Sixteen megabytes of zeros, thrice packed: what comes out is in proportion to what goes in.
    @Test func limitsByWhatWentIn() {
        let once = ContentEncoder.encode([UInt8](repeating: 0, count: 1 << 24))
        let packed = ContentEncoder.encode(ContentEncoder.encode(once))
        let limit = ContentDecoder.Limit(floor: 1 << 20, ratio: 1100)
        let decoder = ContentDecoder([.gzip, .gzip, .gzip], limit: limit)
        #expect(decoder.whole(packed.span).count == 1 << 20 + packed.count * 1100)
        #expect(decoder.finish() == .limited)
        // One coding alone cannot reach it.
        let single = ContentDecoder([.gzip], limit: limit)
        #expect(single.whole(once.span).count == 1 << 24)
        #expect(single.finish() == .complete)
    }

    @Test(arguments: rows)
    func endsWhereNobodyWantsMore(row: PackedRow) throws {
        let decoder = ContentDecoder(row.codings, limit: .recorded)
        var pieces = 0
        let goesOn = decoder.decode(row.packed.span) { _ in
            pieces += 1
            return false
        }
        #expect(!goesOn && pieces == 1)
        #expect(!decoder.decode(row.packed.span) { _ in true })
        let failing = ContentDecoder(row.codings, limit: .recorded)
        #expect(throws: CancellationError.self) {
            try failing.decode(row.packed.span) { _ in throw CancellationError() }
        }
        #expect(failing.whole(row.packed.span) == [])
    }

    @Test(arguments: rows.dropLast())
    func tellsCorruption(row: PackedRow) {
        let garbage = [UInt8](repeating: 0xF7, count: 64)
        let (content, outcome) = decode(garbage, row.codings)
        #expect(content.isEmpty)
        #expect(outcome == .corrupt(row.codings[row.codings.count - 1]))
    }

    @Test func keepsWhatCameBeforeCorruption() {
        var packed = ContentEncoder.encode(PackedContent.text)
        packed[packed.count - 6] ^= 1
        let (content, outcome) = decode(packed, [.gzip])
        #expect(content == PackedContent.text)
        #expect(outcome == .corrupt(.gzip))
    }

    @Test func tellsWhichCodingIsCorrupt() {
        let packed = ContentEncoder.encode([UInt8](repeating: 0xF7, count: 64))
        #expect(decode(packed, [.brotli, .gzip]).outcome == .corrupt(.brotli))
        #expect(decode(packed, [.gzip, .brotli]).outcome == .corrupt(.brotli))
    }

    @Test func refusesALongWindow() {
        #expect(decode(PackedContent.zstdLongWindow, [.zstd]).outcome == .corrupt(.zstd))
    }

    /// libzstd would unpack the first rows: a frame of its format 0.6.
    @Test(
        arguments: [
            ([0x26, 0xB5, 0x2F, 0xFD, 0x18, 0xFF, 0x3B, 0x20], .corrupt(.zstd), false),
            (
                PackedContent.zstd + [0x26, 0xB5, 0x2F, 0xFD, 0x18, 0xFF, 0x3B, 0x20],
                .corrupt(.zstd), true
            ),
            ([0x28, 0xB5, 0x2F], .truncated, false),
            ([0x5A, 0x2A, 0x4D, 0x18, 2, 0, 0, 0, 9, 9] + PackedContent.zstd, .complete, true),
            (PackedContent.zstd + [0x50, 0x2A, 0x4D, 0x18, 0, 0, 0, 0], .complete, true),
        ] as [([UInt8], ContentDecoder.Outcome, Bool)])
    func knowsFramesOfZstd(
        _ packed: [UInt8], _ outcome: ContentDecoder.Outcome, _ givesText: Bool
    ) {
        for cuts in [[], Array(packed.indices)] {
            let (content, decoded) = decode(packed, [.zstd], cuts: cuts)
            #expect(decoded == outcome)
            #expect(content == (givesText ? PackedContent.text : []))
        }
    }

    /// Its head says 5 bytes, and 4 stand in it, with the last block empty or not: broken at every
    /// cut, also behind a frame that is sound.
    @Test(
        arguments: [
            [0x22, 0, 0, 0x61, 0, 0, 0, 1, 0, 0], [0x22, 0, 0, 0x61, 1, 0, 0], [0x23, 0, 0, 0x61],
        ] as [[UInt8]])
    func framesOfZstdAreAsLongAsTheySay(_ blocks: [UInt8]) {
        let frame = [0x28, 0xB5, 0x2F, 0xFD, 0x20, 0x05] + blocks
        for packed in [frame, PackedContent.zstd + frame] {
            for cuts in [[], Array(packed.indices)] + packed.indices.map({ [$0] }) {
                #expect(decode(packed, [.zstd], cuts: cuts).outcome == .corrupt(.zstd), "\(cuts)")
            }
        }
        let sound = [0x28, 0xB5, 0x2F, 0xFD, 0x20, 0x04] + blocks
        #expect(decode(sound, [.zstd]).outcome == .complete)
        #expect(decode(sound, [.zstd], cuts: Array(sound.indices)).outcome == .complete)
    }

    /// libzstd takes a compressed block without a byte for broken, but only where its frame is
    /// there whole.
    @Test func framesOfZstdAreReadAlikeHoweverTheyCome() {
        let frame: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x20, 0, 5, 0, 0]
        for packed in [frame, PackedContent.zstd + frame] {
            for cuts in [[], Array(packed.indices)] + packed.indices.map({ [$0] }) {
                #expect(decode(packed, [.zstd], cuts: cuts).outcome == .complete, "\(cuts)")
            }
        }
    }

    @Test func unpacksAllMembers() {
        let packed = PackedContent.gzip + ContentEncoder.encode([]) + ContentEncoder.encode([1, 2])
        for cuts in [[], Array(packed.indices)] {
            let (content, outcome) = decode(packed, [.gzip], cuts: cuts)
            #expect(content == PackedContent.text + [1, 2])
            #expect(outcome == .complete)
        }
        let twice = PackedContent.zstd + PackedContent.zstd
        #expect(decode(twice, [.zstd]).content == PackedContent.text + PackedContent.text)
        let short = PackedContent.gzip + PackedContent.gzip.prefix(5)
        #expect(decode(short, [.gzip]).outcome == .truncated)
    }

    @Test(arguments: [
        PackedRow("gzip", PackedContent.gzip, .gzip),
        PackedRow("zlib", PackedContent.zlib, .deflate),
        PackedRow("raw", PackedContent.rawDeflate, .deflate),
        PackedRow("brotli", PackedContent.brotli, .brotli),
    ])
    func passesOverWhatFollows(row: PackedRow) {
        // The second byte would start a gzip member, had there not been the first.
        let packed = row.packed + [0x00, 0x1F, 0x8B, 0x08]
        for cuts in [[], Array(packed.indices)] {
            let (content, outcome) = decode(packed, row.codings, cuts: cuts)
            #expect(content == PackedContent.text)
            #expect(outcome == .complete)
        }
    }

    @Test func survivesMutations() {
        var generator = SeededGenerator(state: 7)
        for row in Self.rows.dropLast() {
            for _ in 0..<200 {
                var packed = row.packed
                for _ in 0..<3 {
                    let index = Int.random(in: 0..<packed.count, using: &generator)
                    packed[index] = UInt8.random(in: 0...255, using: &generator)
                }
                let (content, _) = decode(packed, row.codings, limit: 5000)
                #expect(content.count <= 5000)
                let bytewise = decode(
                    packed, row.codings, limit: 5000, cuts: Array(packed.indices))
                #expect(bytewise.content.count <= 5000)
            }
        }
    }
}

@Suite struct ContentCodingTests {
    @Test(arguments: [
        ("Content-Encoding: gzip", [ContentCoding.gzip]), ("content-encoding: X-GZIP", [.gzip]),
        ("Content-Encoding: deflate", [.deflate]), ("Content-Encoding: br", [.brotli]),
        ("Content-Encoding: ZSTD", [.zstd]), ("Content-Encoding: identity", []),
        ("Content-Encoding:", []), ("A: gzip", []),
        ("Content-Encoding: gzip, br", [.gzip, .brotli]),
        ("Content-Encoding: gzip\r\nContent-Encoding: br", [.gzip, .brotli]),
        ("Content-Encoding: ,gzip ,, identity,\tbr,gzip", [.gzip, .brotli, .gzip]),
        ("Content-Encoding: gzip,gzip,gzip,gzip", nil), ("Content-Encoding: compress", nil),
        ("Content-Encoding: gzip;q=1", nil), ("Content-Encoding: gzip br", nil),
        ("Content-Encoding: aes128gcm, gzip", nil),
    ])
    func reads(fields: String, expected: [ContentCoding]?) throws {
        let head = try responseHead("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n")
        #expect(ContentCoding.codings(of: head.fields) == expected)
    }
}
