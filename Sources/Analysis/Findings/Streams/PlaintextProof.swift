internal import Base
internal import Contents
internal import HTTPCodecs

/// What shows that a stream of no known protocol can be read by anybody.
struct PlaintextProof {
    let form: PlaintextForm
    /// In bytes from the start of the stream.
    let offset: Int
    /// What can be read, unpacked if it was packed.
    let content: [UInt8]

    /// Looks for one, the surest first.
    ///
    /// - Returns: `nil` if there is none, or the stream is too short to tell.
    init?(of stream: [UInt8]) {
        let stream = Array(stream.prefix(Self.lengthLimit))
        guard stream.count >= Self.leastCount,
            let found = Self.whole(stream, at: 0) ?? Self.behindLength(stream)
                ?? Self.packed(stream) ?? Self.run(in: stream)
        else { return nil }
        self = found
    }

    private init(_ form: PlaintextForm, at offset: Int, _ content: [UInt8]) {
        self.form = form
        self.offset = offset
        self.content = content
    }

    /// What the bytes from an offset on are as a whole.
    private static func whole(_ stream: [UInt8], at offset: Int) -> PlaintextProof? {
        let bytes = Array(stream[offset...])
        guard bytes.count >= leastCount - 8 else { return nil }
        if let found = json(stream, at: offset) { return found }
        if media.contains(where: { bytes.starts(with: $0) }) {
            return PlaintextProof(.media, at: offset, bytes)
        }
        if let proof = StructuredContent.proven(bytes) {
            return PlaintextProof(PlaintextForm(proof.form), at: offset, bytes)
        }
        // A cut may go through the last character.
        let isText = (0...3).contains { Array(bytes.dropLast($0)).isPrintableText }
        guard isText, bytes.count(where: \.isASCIILetter) >= 16 || hasWideLetters(bytes) else {
            return nil
        }
        let isMarkup = bytes.first == 0x3C && bytes.contains(0x3E)
        return PlaintextProof(isMarkup ? .markup : .text, at: offset, bytes)
    }

    private static func json(_ stream: [UInt8], at offset: Int) -> PlaintextProof? {
        guard JSONTokenizer.mayBegin(stream[offset...]) else { return nil }
        let bytes = Array(stream[offset...])
        guard JSONScalars.read(bytes, { _, _, _ in true }) else { return nil }
        return PlaintextProof(.json, at: offset, bytes)
    }

    /// Letters of other alphabets than ours, in valid UTF-8.
    private static func hasWideLetters(_ bytes: [UInt8]) -> Bool {
        bytes.count { $0 >= 0xC3 } >= 16
    }

    /// Messages behind a count of their bytes, or some bytes of a head.
    private static func behindLength(_ stream: [UInt8]) -> PlaintextProof? {
        // Behind a part of its head, JSON would be text.
        for offset in 1...8 {
            if let found = json(stream, at: offset) { return found }
        }
        for offset in [1, 2, 4, 8] {
            if let found = whole(stream, at: offset) { return found }
        }
        return nil
    }

    /// What unpacks, and what came of it (facts: no random bytes unpack to their end).
    private static func packed(_ stream: [UInt8]) -> PlaintextProof? {
        for offset in [0, 1, 2, 4, 8] where stream.count >= offset + leastCount / 2 {
            let bytes = Array(stream[offset...])
            for coding in codings(of: bytes) {
                let plain = DecodedContent(bytes, [coding], byteLimit: unpackedLimit)
                // A stream goes on behind what was recorded, so its end is not asked for.
                guard plain.state != .undecodable, plain.bytes.count > bytes.count / 2,
                    plain.bytes.count >= leastPlain
                else { continue }
                if whole(plain.bytes, at: 0) != nil {
                    return PlaintextProof(.packed, at: offset, plain.bytes)
                }
                if plain.state == .whole {
                    return PlaintextProof(.packedBytes, at: offset, plain.bytes)
                }
            }
        }
        return nil
    }

    /// The codings that are tried: those whose magic stands there, and raw deflate.
    private static func codings(of bytes: [UInt8]) -> [ContentCoding] {
        if bytes.starts(with: [0x1F, 0x8B, 8]) { return [.gzip] }
        if bytes.starts(with: [0x28, 0xB5, 0x2F, 0xFD]) { return [.zstd] }
        return [.deflate]
    }

    /// A run of printable characters that random bytes do not have in 64 KiB.
    private static func run(in stream: [UInt8]) -> PlaintextProof? {
        var start = 0
        for (index, byte) in stream.enumerated() {
            if !(0x20..<0x7F ~= byte) { start = index + 1 }
            if index + 1 - start == runLength {
                let end = stream[index...].prefix { 0x20..<0x7F ~= $0 }.endIndex
                return PlaintextProof(.words, at: start, Array(stream[start..<end]))
            }
        }
        return nil
    }

    private static let media: [[UInt8]] = [
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A], [0xFF, 0xD8, 0xFF, 0xE0], [0xFF, 0xD8, 0xFF, 0xE1],
        Array("GIF89a".utf8), Array("%PDF-1.".utf8), [0x50, 0x4B, 3, 4, 0x14],
        Array("OggS\u{0}".utf8), Array("ID3\u{3}".utf8), Array("SQLite format 3\u{0}".utf8),
    ]
    /// How much of a stream is looked at, in bytes: in more, random bytes may hold a run of text.
    static let lengthLimit = 1 << 16
    static let leastCount = 32
    private static let runLength = 16
    private static let leastPlain = 64
    private static let unpackedLimit = 1 << 18
}

extension PlaintextForm {
    fileprivate init(_ form: StructuredContent) {
        self =
            switch form {
            case .propertyList: .plist
            case .messagePack: .msgpack
            case .cbor: .cbor
            case .protobuf: .protobuf
            case .dns: .dns
            }
    }

    var confidence: Confidence { self == .protobuf ? .firm : .certain }
}
