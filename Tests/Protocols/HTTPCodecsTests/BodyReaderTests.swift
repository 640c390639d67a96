import Base
import HTTPModel
import Testing

@testable import HTTPCodecs

/// What a body came to: its content, what was taken, and how it ended.
struct BodyReading: Equatable {
    var content: [UInt8] = []
    var consumed = 0
    var isComplete = false
    var violation: HTTP1Violation?
    var trailers: [String] = []
    var trailerBytes: [UInt8] = []
}

/// Feeds `bytes` in pieces that end at `cuts`.
func readBody(_ reader: BodyReader, _ bytes: [UInt8], cuts: [Int] = []) -> BodyReading {
    var reader = reader
    var reading = BodyReading()
    var start = 0
    for end in cuts + [bytes.count] {
        let piece = Array(bytes[start..<end])
        var reported = 0
        do throws(HTTP1Violation) {
            let count = try reader.consume(piece.span) { range in
                #expect(range.lowerBound >= reported && !range.isEmpty)
                reported = range.upperBound
                reading.content += piece[range]
            }
            #expect(count >= reported && count <= piece.count)
            #expect(count == piece.count || reader.isComplete)
            reading.consumed += count
        } catch {
            reading.violation = error
            #expect(throws: error) { try reader.consume([UInt8](piece).span) { _ in } }
            // How much the call before the violation took depends on the cut.
            reading.consumed = -1
            return reading
        }
        start = end
    }
    reading.isComplete = reader.isComplete
    reading.trailers = reader.trailers.pairs.map { "\($0.name)=\($0.value)" }
    reading.trailerBytes = reader.trailers.raw
    return reading
}

/// Reads whole, byte by byte and cut in two at every offset; the three must agree.
func readEveryWay(_ reader: BodyReader, _ bytes: [UInt8]) -> BodyReading {
    let whole = readBody(reader, bytes)
    #expect(readBody(reader, bytes, cuts: Array(bytes.indices)) == whole, "byte by byte")
    for cut in bytes.indices {
        let reading = readBody(reader, bytes, cuts: [cut])
        #expect(reading == whole, "cut at \(cut)")
    }
    return whole
}

struct ChunkRow: Sendable, CustomTestStringConvertible {
    var name: String
    var input: String
    /// Content that came before the end or the violation.
    var content: String
    var expected: String
    var testDescription: String { name }

    init(_ name: String, _ input: String, _ content: String, _ expected: String) {
        self.name = name
        self.input = input
        self.content = content
        self.expected = expected
    }
}

@Suite struct BodyReaderTests {
    /// `consumed|trailers`.
    static let sound: [ChunkRow] = [
        .init("empty", "0\r\n\r\n", "", "5|"),
        .init("one chunk", "5\r\nhello\r\n0\r\n\r\n", "hello", "15|"),
        .init("two chunks", "5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n", "hello!", "21|"),
        .init("CRLF as content", "4\r\n\r\n\r\n\r\n0\r\n\r\n", "\r\n\r\n", "14|"),
        .init("chunk that looks like an end", "5\r\n0\r\n\r\n\r\n0\r\n\r\n", "0\r\n\r\n", "15|"),
        .init(
            "hex in both cases", "a\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n\r\n",
            "01234567890123456789", "35|"),
        .init("leading zeros", "0005\r\nhello\r\n000\r\n\r\n", "hello", "20|"),
        .init("16 digits", "0000000000000005\r\nhello\r\n0000000000000000\r\n\r\n", "hello", "45|"),
        .init("extension", "5;a=b\r\nhello\r\n0;c\r\n\r\n", "hello", "21|"),
        .init("quoted extension", "5;a=\"b;\tc\"\r\nhello\r\n0\r\n\r\n", "hello", "24|"),
        .init("blanks before an extension", "5 \t ; a = b \r\nhello\r\n0\r\n\r\n", "hello", "26|"),
        .init("obs-text in an extension", "5;\u{FC}\r\nhello\r\n0\r\n\r\n", "hello", "18|"),
        .init("request behind", "0\r\n\r\nGET / HTTP/1.1\r\n", "", "5|"),
        .init("LF behind", "0\r\n\r\n\n", "", "5|"),
        .init("trailer", "1\r\n!\r\n0\r\nA: 1\r\n\r\n", "!", "17|A=1"),
        .init("trailers", "0\r\nB: 2\r\na:  1 \r\n\r\nrest", "", "19|B=2,a=1"),
        .init(
            "trailers without meaning",
            "0\r\nContent-Length: 5\r\nTransfer-Encoding: x\r\nHost: h\r\n\r\n", "",
            "55|Content-Length=5,Transfer-Encoding=x,Host=h"),
    ]

    @Test(arguments: sound)
    func readsSoundChunks(row: ChunkRow) {
        let reading = readEveryWay(BodyReader(.chunked), Array(row.input.utf8))
        #expect(reading.violation == nil)
        #expect(reading.isComplete)
        #expect(reading.content.text == row.content)
        #expect("\(reading.consumed)|\(reading.trailers.joined(separator: ","))" == row.expected)
        if reading.trailers.isEmpty {
            #expect(reading.trailerBytes == [])
        } else {
            let body = row.input.utf8.prefix(reading.consumed)
            #expect(Array(body.suffix(reading.trailerBytes.count)) == reading.trailerBytes)
            #expect(reading.trailerBytes.first != 0x0D)
        }
    }

    static let refused: [ChunkRow] = [
        .init("no size", "\r\nhello\r\n0\r\n\r\n", "", "invalid-chunk-size"),
        .init("extension without a size", ";a\r\nhello\r\n", "", "invalid-chunk-size"),
        .init("space before a size", " 5\r\nhello\r\n0\r\n\r\n", "", "invalid-chunk-size"),
        .init("tab before a size", "\t5\r\nhello\r\n0\r\n\r\n", "", "invalid-chunk-size"),
        .init("space behind a size", "5 \r\nhello\r\n0\r\n\r\n", "", "invalid-chunk-size"),
        .init("blank and a digit", "5 5\r\nhello\r\n0\r\n\r\n", "", "invalid-chunk-size"),
        .init("plus", "+5\r\nhello\r\n0\r\n\r\n", "", "invalid-chunk-size"),
        .init("minus", "-5\r\nhello\r\n0\r\n\r\n", "", "invalid-chunk-size"),
        .init("0x", "0x5\r\nhello\r\n0\r\n\r\n", "", "invalid-chunk-size"),
        .init("h", "5h\r\nhello\r\n0\r\n\r\n", "", "invalid-chunk-size"),
        .init("underscore", "1_0\r\nhello\r\n0\r\n\r\n", "", "invalid-chunk-size"),
        .init("comma", "5,5\r\nhello\r\n0\r\n\r\n", "", "invalid-chunk-size"),
        .init("NUL", "5~00\r\nhello\r\n0\r\n\r\n", "", "invalid-chunk-size"),
        .init("full-width digit", "~EF~BC~95\r\nhello\r\n", "", "invalid-chunk-size"),
        .init("17 digits", "00000000000000005\r\nhello\r\n0\r\n\r\n", "", "invalid-chunk-size"),
        .init("2^63", "8000000000000000\r\nhello", "", "invalid-chunk-size"),
        .init("2^64 + 5", "10000000000000005\r\nhello\r\n", "", "invalid-chunk-size"),
        .init("all ones", "FFFFFFFFFFFFFFFF\r\nhello", "", "invalid-chunk-size"),
        .init("zero that is too long", "00000000000000000\r\n\r\n", "", "invalid-chunk-size"),
        .init("LF behind a size", "5\nhello\r\n0\r\n\r\n", "", "bare-lf"),
        .init("LF in an extension", "5;a\nhello\r\n0\r\n\r\n", "", "bare-lf"),
        .init("LF behind blanks", "5 \nhello\r\n0\r\n\r\n", "", "bare-lf"),
        .init("LF as a line", "\n5\r\nhello", "", "bare-lf"),
        .init("CR behind a size", "5\rhello\r\n0\r\n\r\n", "", "bare-cr"),
        .init("CR CR LF", "5\r\r\nhello\r\n0\r\n\r\n", "", "bare-cr"),
        .init("CR in an extension", "5;a\rb\r\nhello\r\n0\r\n\r\n", "", "bare-cr"),
        .init("NUL in an extension", "5;~00\r\nhello\r\n", "", "invalid-chunk-extension"),
        .init("DEL in an extension", "5;a~7F\r\nhello\r\n", "", "invalid-chunk-extension"),
        .init("content too long", "4\r\nhello\r\n0\r\n\r\n", "hell", "missing-chunk-end"),
        .init("content too short", "6\r\nhello\r\n0\r\n\r\n", "hello\r", "bare-lf"),
        .init("size directly behind content", "5\r\nhello0\r\n\r\n", "hello", "missing-chunk-end"),
        .init("LF behind content", "5\r\nhello\n0\r\n\r\n", "hello", "bare-lf"),
        .init("CR behind content", "5\r\nhello\r0\r\n\r\n", "hello", "bare-cr"),
        .init("two CRLFs behind content", "1\r\na\r\n\r\n0\r\n\r\n", "a", "invalid-chunk-size"),
        .init("second chunk bad", "1\r\na\r\n2\r\nbc\r\nz\r\n", "abc", "invalid-chunk-size"),
        .init("LF as the end", "0\r\n\n", "", "bare-lf"),
        .init("CR as the end", "0\r\n\rX", "", "bare-cr"),
        .init("LF behind a trailer", "0\r\nA: 1\n\r\n", "", "bare-lf"),
        .init("fold in a trailer", "0\r\nA: 1\r\n b\r\n\r\n", "", "obs-fold"),
        .init("space before a trailer", "0\r\n A: 1\r\n\r\n", "", "obs-fold"),
        .init("request for a trailer", "0\r\nGET / HTTP/1.1\r\n\r\n", "", "invalid-field-name"),
        .init("trailer without colon", "0\r\nA\r\n\r\n", "", "invalid-field-name"),
        .init("trailer with a blank", "0\r\nA : 1\r\n\r\n", "", "space-before-colon"),
        .init("control in a trailer", "0\r\nA: ~01\r\n\r\n", "", "invalid-field-value"),
    ]

    @Test(arguments: refused)
    func refusesChunks(row: ChunkRow) {
        let reading = readEveryWay(BodyReader(.chunked), wire(row.input))
        #expect(reading.violation?.code == row.expected)
        #expect(reading.content.text == row.content)
    }

    @Test(arguments: [
        ("line of the limit", "5;45678\r\nhello\r\n", nil),
        ("line over it", "5;456789\r\nhello\r\n", HTTP1Violation.chunkLineTooLong),
        ("line without end", "5;aaaaaaaaaaa", .chunkLineTooLong),
        ("extensions of the limit", "1;23456\r\na\r\n1;23456\r\na\r\n", nil),
        ("extensions over it", "1;23456\r\na\r\n1;234567\r\na\r\n", .chunkExtensionsTooLarge),
        ("blanks count", "1     ;\r\na\r\n1;2345678\r\na\r\n", .chunkExtensionsTooLarge),
        ("trailers of the limit", "0\r\nA: 4567\r\nB: 4567\r\n\r\n", nil),
        ("trailers over it", "0\r\nA: 4567\r\nB: 45678\r\n\r\n", .headTooLarge),
        ("trailers without end", "0\r\nA: 4567890\r\nB: 45678", .headTooLarge),
        ("trailer line over it", "0\r\nA: 45678901\r\n\r\n", .fieldLineTooLong),
        ("trailer line without end", "0\r\nA: 456789012345", .fieldLineTooLong),
        ("too many trailers", "0\r\nA:\r\nB:\r\nC:\r\n\r\n", .tooManyFields),
    ])
    func holdsLimits(name: String, input: String, expected: HTTP1Violation?) {
        let limits = HeadLimits(fieldLineLimit: 12, blockLimit: 20, fieldCountLimit: 2)
        let reader = BodyReader(
            .chunked, trailerLimits: limits, chunkLineLimit: 9, chunkExtensionLimit: 12)
        let input = Array(input.utf8)
        let whole = readBody(reader, input)
        #expect(whole.violation == expected)
        for cut in input.indices {
            let reading = readBody(reader, input, cuts: [cut])
            #expect(reading.content == whole.content)
            // Within a line that is cut, the limit of a line is seen within a KiB.
            #expect(reading.violation == expected || reading.violation == nil)
        }
    }

    @Test func keepsTrailersWithinTheirLimit() throws {
        var reader = BodyReader(.chunked)
        let start = Array("0\r\nX: ".utf8)
        _ = try reader.consume(start.span) { _ in }
        var count = 0
        do throws(HTTP1Violation) {
            while count < 100_000 {
                let byte: [UInt8] = [0x61]
                count += try reader.consume(byte.span) { _ in }
            }
            Issue.record("never refused")
        } catch {
            #expect(error == .fieldLineTooLong)
            #expect(count < 16_384 + 1024)
        }
    }

    @Test(arguments: [
        (BodyFraming.none, "hello", "", true), (.length(0), "hello", "", true),
        (.length(3), "hello", "hel", true), (.length(5), "hello", "hello", true),
        (.length(6), "hello", "hello", false), (.length(.max), "hello", "hello", false),
        (.untilClose, "hello", "hello", false), (.tunnel, "hello", "hello", false),
    ])
    func readsOtherFramings(framing: BodyFraming, input: String, content: String, ends: Bool) {
        let reading = readEveryWay(BodyReader(framing), Array(input.utf8))
        #expect(reading.content.text == content)
        #expect(reading.consumed == content.utf8.count)
        #expect(reading.isComplete == ends)
        #expect(reading.violation == nil)
    }

    @Test func reportsContentInOnePiece() throws {
        let content = [UInt8](repeating: 0x78, count: 100_000)
        let input = Array("186A0\r\n".utf8) + content + Array("\r\n0\r\n\r\n".utf8)
        var reader = BodyReader(.chunked)
        var ranges: [Range<Int>] = []
        let consumed = try reader.consume(input.span) { ranges.append($0) }
        #expect(consumed == input.count)
        #expect(ranges == [7..<100_007])
        #expect(reader.isComplete)
    }

    @Test func isEmptyAtFirst() {
        #expect(BodyReader(.none).isComplete)
        #expect(!BodyReader(.chunked).isComplete)
        #expect(BodyReader(.chunked).trailers.raw.isEmpty)
    }
}
