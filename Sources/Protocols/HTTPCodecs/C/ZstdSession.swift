internal import CCompression

/// Owns a zstd decoder (RFC 8878) for any number of frames.
///
/// Not `Sendable`: one task uses it.
@safe
final class ZstdSession: DecodingSession {
    /// RFC 9659 §3: a content coding's window is 8 MB at most.
    private static let longestWindowLog: Int32 = 23

    private let context: OpaquePointer?
    private let piece: UnsafeMutablePointer<UInt8>
    private(set) var isAtEnd = false
    private var magic = ZstdMagic()
    private var frame = ZstdFrame()

    init() {
        unsafe context = ZSTD_createDCtx()
        unsafe piece = .allocate(capacity: decodingPieceLength)
        unsafe ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, Self.longestWindowLog)
    }

    deinit {
        unsafe ZSTD_freeDCtx(context)
        unsafe piece.deallocate()
    }

    func decode(_ input: Span<UInt8>, into output: inout [UInt8], room: Int) -> DecodingStep {
        guard !input.isEmpty || !isAtEnd else { return DecodingStep(consumed: 0, state: .running) }
        // Without memory for the decoder nothing can be said of the input.
        guard magic.admits(input), let context = unsafe context else {
            return DecodingStep(consumed: 0, state: .corrupt)
        }
        return unsafe input.withUnsafeBufferPointer { source in
            // A frame that is there whole goes another way through libzstd, which takes others for
            // broken: so its first byte comes alone.
            let count = magic.isAtStart ? min(source.count, 1) : source.count
            var packed = unsafe ZSTD_inBuffer(src: source.baseAddress, size: count, pos: 0)
            var unpacked = unsafe ZSTD_outBuffer(
                dst: piece, size: min(room, decodingPieceLength), pos: 0)
            let result = unsafe ZSTD_decompressStream(context, &unpacked, &packed)
            unsafe output.append(
                contentsOf: UnsafeBufferPointer(start: piece, count: unpacked.pos))
            isAtEnd = result == 0
            unsafe magic.advance(by: packed.pos, endsFrame: isAtEnd)
            unsafe frame.take(input.extracting(..<packed.pos), unpacked.pos)
            let isCorrupt = ZSTD_isError(result) != 0 || isAtEnd && !frame.endsAsSaid()
            return unsafe DecodingStep(
                consumed: packed.pos, state: isCorrupt ? .corrupt : .running)
        }
    }
}

/// How long a frame's content is, and how long it has to be by its head (RFC 8878 §3.1.1.1.4).
///
/// libzstd compares the two as well, but not behind an empty last block.
private struct ZstdFrame {
    /// Of a frame's head, in bytes.
    private static let longestHead = 18
    private var head: [UInt8] = []
    private var length: UInt64 = 0

    mutating func take(_ packed: Span<UInt8>, _ unpackedCount: Int) {
        for index in 0..<min(packed.count, Self.longestHead - head.count) {
            head.append(packed[index])
        }
        length += UInt64(unpackedCount)
    }

    /// Whether the frame, which is over, is as long as its head says, if that does; the next begins.
    mutating func endsAsSaid() -> Bool {
        defer { self = ZstdFrame() }
        let said = unsafe ZSTD_getFrameContentSize(head, head.count)
        return said == Self.unknownLength || said == length
    }

    /// `ZSTD_CONTENTSIZE_UNKNOWN`.
    private static let unknownLength = UInt64.max
}

/// Follows the first bytes of each frame (RFC 8878 §3.1.1, §3.1.2).
///
/// libzstd unpacks the formats of before its version 1.0 as well, which are no content coding, and
/// whose decoders nobody looks after.
private struct ZstdMagic {
    private static let data: [ClosedRange<UInt8>] = [
        0x28...0x28, 0xB5...0xB5, 0x2F...0x2F, 0xFD...0xFD,
    ]
    private static let skippable: [ClosedRange<UInt8>] = [
        0x50...0x5F, 0x2A...0x2A, 0x4D...0x4D, 0x18...0x18,
    ]
    private var expected = data
    /// How much of the frame has been read, as far as that matters.
    private var count = 0

    /// Whether a frame is due.
    var isAtStart: Bool { count == 0 }

    /// Whether `input` goes on with a frame of a known format, or begins one.
    mutating func admits(_ input: Span<UInt8>) -> Bool {
        if count == 0, !input.isEmpty {
            expected = Self.skippable[0].contains(input[0]) ? Self.skippable : Self.data
        }
        for index in 0..<min(input.count, expected.count - count)
        where !expected[count + index].contains(input[index]) {
            return false
        }
        return true
    }

    mutating func advance(by consumed: Int, endsFrame: Bool) {
        count = endsFrame ? 0 : min(count + consumed, expected.count)
    }
}
