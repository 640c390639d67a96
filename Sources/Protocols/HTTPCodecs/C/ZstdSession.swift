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
        guard let context = unsafe context else {
            return DecodingStep(consumed: 0, state: .corrupt)
        }
        return unsafe input.withUnsafeBufferPointer { source in
            var packed = unsafe ZSTD_inBuffer(src: source.baseAddress, size: source.count, pos: 0)
            var unpacked = unsafe ZSTD_outBuffer(
                dst: piece, size: min(room, decodingPieceLength), pos: 0)
            let result = unsafe ZSTD_decompressStream(context, &unpacked, &packed)
            unsafe output.append(
                contentsOf: UnsafeBufferPointer(start: piece, count: unpacked.pos))
            isAtEnd = result == 0
            let isCorrupt = ZSTD_isError(result) != 0
            return unsafe DecodingStep(
                consumed: packed.pos, state: isCorrupt ? .corrupt : .running)
        }
    }
}
