internal import CCompression

/// Owns a zstd encoder (RFC 8878) that takes about 1 MB: level 3 with a window of 256 KiB.
///
/// Not `Sendable`: one task uses it.
@safe
final class ZstdEncodingSession: EncodingSession {
    private let context: OpaquePointer
    private let piece: UnsafeMutablePointer<UInt8>

    init() {
        guard let made = unsafe ZSTD_createCCtx() else {
            preconditionFailure("no memory for a zstd encoder")
        }
        unsafe context = made
        unsafe piece = .allocate(capacity: Self.pieceLength)
        unsafe ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, 3)
        unsafe ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, Self.windowLog)
        unsafe ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
    }

    deinit {
        unsafe ZSTD_freeCCtx(context)
        unsafe piece.deallocate()
    }

    func encode(_ input: Span<UInt8>, _ flush: EncodingFlush, into output: inout [UInt8]) {
        unsafe input.withUnsafeBufferPointer { source in
            var plain = unsafe ZSTD_inBuffer(src: source.baseAddress, size: source.count, pos: 0)
            var left = 0
            repeat {
                var packed = unsafe ZSTD_outBuffer(dst: piece, size: Self.pieceLength, pos: 0)
                left = unsafe ZSTD_compressStream2(context, &packed, &plain, flush.directive)
                precondition(ZSTD_isError(left) == 0, "the zstd encoder was used out of order")
                unsafe output.append(
                    contentsOf: UnsafeBufferPointer(start: piece, count: packed.pos))
                // While packing, what is left is only a hint at the best size of the next input.
            } while unsafe flush == .none ? plain.pos < plain.size : left > 0
        }
    }

    private static let windowLog: Int32 = 18
    private static let pieceLength = 32_768
}

extension EncodingFlush {
    fileprivate var directive: ZSTD_EndDirective {
        switch self {
        case .none: ZSTD_e_continue
        case .sync: ZSTD_e_flush
        case .finish: ZSTD_e_end
        }
    }
}
