import Testing

@testable import HTTPCodecs

@Suite struct ContentEncoderTests {
    @Test func writesNoTimeAndNoSystem() {
        let packed = ContentEncoder.encode(PackedContent.text)
        #expect(packed.prefix(10) == [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF])
        #expect(packed == ContentEncoder.encode(PackedContent.text))
        #expect(packed.count < PackedContent.text.count / 3)
    }

    /// The entity tag of what comes out is strong.
    @Test(arguments: ContentCoding.allCases)
    func packsTheSameAlways(_ coding: ContentCoding) {
        let packed = ContentEncoder.encode(PackedContent.text, coding)
        #expect(packed == ContentEncoder.encode(PackedContent.text, coding))
        #expect(packed.count < PackedContent.text.count / 3)
    }

    @Test(arguments: ContentCoding.allCases)
    func packsInPieces(_ coding: ContentCoding) {
        var generator = SeededGenerator(state: 1)
        // Random, so that it does not shrink and the output is longer than a piece.
        let content = (0..<200_000).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let encoder = ContentEncoder(coding)
        var packed: [UInt8] = []
        for start in stride(from: 0, to: content.count, by: 30_000) {
            let end = min(content.count, start + 30_000)
            packed += encoder.encode(content.span.extracting(start..<end))
        }
        packed += encoder.finish()
        let (unpacked, outcome) = ContentDecoder.decode(packed, [coding], outputLimit: 1 << 20)
        #expect(unpacked == content)
        #expect(outcome == .complete)
    }

    @Test(arguments: ContentCoding.allCases)
    func flushesWhatCame(_ coding: ContentCoding) {
        let encoder = ContentEncoder(coding)
        let decoder = ContentDecoder([coding], limit: .bytes(1000))
        let event = Array("data: 1\n\n".utf8)
        for _ in 0..<5 {
            let packed = encoder.encode(event.span) + encoder.flush()
            #expect(decoder.whole(packed.span) == event)
        }
        #expect(decoder.finish() == .truncated)
        #expect(decoder.whole(encoder.finish().span).isEmpty)
        #expect(decoder.finish() == .complete)
    }

    @Test(arguments: ContentCoding.allCases)
    func packsNothing(_ coding: ContentCoding) {
        #expect(
            ContentDecoder.decode(ContentEncoder.encode([], coding), [coding], outputLimit: 0) == (
                [], .complete
            ))
    }
}
