internal import Base
internal import HTTPServer

/// The bytes of one asset of a pack: a head, what is made from a seed, an end. Any of them can be
/// computed without those before.
struct PackContent: Sendable {
    fileprivate enum Filling: Sendable {
        case noise
        case lines
    }

    /// In bytes.
    let size: UInt64
    /// Tells it from every other.
    let name: String
    fileprivate let head: [UInt8]
    fileprivate let end: [UInt8]
    fileprivate let filling: Filling
    fileprivate let generated: GeneratedContent

    private init(
        seed: UInt64, size: UInt64, _ filling: Filling, head: [UInt8], end: [UInt8] = []
    ) {
        generated = GeneratedContent(seed: seed)
        self.size = max(size, UInt64(head.count + end.count))
        self.filling = filling
        self.head = head
        self.end = end
        name = String(seed, radix: 16) + "-\(size)"
    }

    /// What is there already.
    init(_ bytes: [UInt8]) {
        self.init(
            seed: bytes.reduce(0) { SplitMix.mix($0 ^ UInt64($1)) },
            size: UInt64(bytes.count), .noise, head: bytes)
    }

    /// A JSON array of strings, one a line.
    static func text(seed: UInt64, size: UInt64) -> PackContent {
        PackContent(
            seed: seed, size: size, .lines, head: [UInt8]("[\n".utf8), end: [UInt8]("\"\"]\n".utf8))
    }

    /// In bytes, with this number of whole lines.
    static func textSize(lines: Int) -> UInt64 { UInt64(2 + lines * lineLength + 4) }

    /// The frame of a JPEG of so many pixels (ITU T.81 §B.2).
    static func picture(seed: UInt64, size: UInt64, side: Int) -> PackContent {
        let side = [UInt8(side >> 8 & 0xFF), UInt8(side & 0xFF)]
        let application: [UInt8] =
            [0xFF, 0xE0, 0, 16] + Array("JFIF\0".utf8) + [1, 1, 0, 0, 1, 0, 1, 0, 0]
        let frame: [UInt8] =
            [0xFF, 0xC0, 0, 17, 8] + side + side + [3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1]
        let scan: [UInt8] = [0xFF, 0xDA, 0, 12, 3, 1, 0, 2, 0x11, 3, 0x11, 0, 63, 0]
        // A picture with another size is another one.
        return PackContent(
            seed: seed ^ UInt64(side[0]) << 8 ^ UInt64(side[1]), size: size, .noise,
            head: [0xFF, 0xD8] + application + frame + scan, end: [0xFF, 0xD9])
    }

    /// Boxes of ISO/IEC 14496-12 that hold so many bytes together.
    static func media(seed: UInt64, size: UInt64, brand: String) -> PackContent {
        let type =
            [0, 0, 0, 24] + Array("ftyp".utf8) + Array(brand.utf8) + [0, 0, 0, 0]
            + Array(brand.utf8) + Array("mp42".utf8)
        let length = max(size, 40) - 24
        let data: [UInt8] =
            [0, 0, 0, 1] + Array("mdat".utf8)
            + (0..<8).map { UInt8(truncatingIfNeeded: length >> (56 - $0 * 8)) }
        return PackContent(seed: seed, size: max(size, 40), .noise, head: type + data)
    }

    /// A string of seven words, with its line end.
    fileprivate func line(_ index: UInt64) -> [UInt8] {
        let random = generated.word(index)
        var line = [UInt8]("  \"".utf8)
        for place in 0..<7 { line += Self.words[Int(random >> (place * 4) & 15)] }
        return line + [UInt8]("\",\n".utf8)
    }

    fileprivate static let lineLength = 3 + 7 * 8 + 3
    /// Each is eight bytes with its space.
    private static let words: [[UInt8]] = [
        "castle ", "forest ", "lantern", "harbour", "winter ", "silver ", "journey", "meadow ",
        "whisper", "thunder", "crystal", "shadow ", "village", "garden ", "voyage ", "morning",
    ].map { [UInt8](($0 + " ").utf8) }
}

/// Streams a range of a pack's asset in constant memory.
final class PackSource: ResponseBodySource {
    private let content: PackContent
    private var offset: UInt64
    private let end: UInt64

    init(_ content: PackContent, range: Range<UInt64>) {
        self.content = content
        offset = range.lowerBound
        end = range.upperBound
    }

    func read(into buffer: ByteBuffer) async throws(ResponseInterruption) -> Int {
        let before = buffer.count
        while buffer.room > 0, offset < end { step(buffer) }
        return buffer.count - before
    }

    private func step(_ buffer: ByteBuffer) {
        let headEnd = UInt64(content.head.count)
        let tailStart = content.size - UInt64(content.end.count)
        if offset < headEnd {
            append(content.head, from: Int(offset), buffer)
        } else if offset >= tailStart {
            append(content.end, from: Int(offset - tailStart), buffer)
        } else if content.filling == .noise {
            let count = Int(min(UInt64(buffer.room), min(end, tailStart) - offset))
            content.generated.append(to: buffer, offset: offset - headEnd, count: count)
            offset += UInt64(count)
        } else {
            let place = offset - headEnd
            let length = UInt64(PackContent.lineLength)
            let line = content.line(place / length).prefix(
                Int(min(length, tailStart - (offset - place % length))))
            append([UInt8](line), from: Int(place % length), buffer)
        }
    }

    private func append(_ bytes: [UInt8], from start: Int, _ buffer: ByteBuffer) {
        let count = Int(min(UInt64(bytes.count - start), end - offset))
        offset += UInt64(buffer.appendFitting([UInt8](bytes[start..<start + count]), from: 0))
    }
}
