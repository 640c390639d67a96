internal import CCompression

/// Owns a brotli encoder (RFC 7932) that takes about 2 MB: quality 5, which web servers use for
/// what they pack on the fly, and a window of 256 KiB.
///
/// Not `Sendable`: one task uses it.
@safe
final class BrotliEncodingSession: EncodingSession {
    private let state: OpaquePointer
    private let piece: UnsafeMutablePointer<UInt8>

    init() {
        guard let made = unsafe BrotliEncoderCreateInstance(nil, nil, nil) else {
            preconditionFailure("no memory for a brotli encoder")
        }
        unsafe state = made
        unsafe piece = .allocate(capacity: Self.pieceLength)
        unsafe BrotliEncoderSetParameter(state, BROTLI_PARAM_QUALITY, Self.quality)
        unsafe BrotliEncoderSetParameter(state, BROTLI_PARAM_LGWIN, Self.windowLog)
    }

    deinit {
        unsafe BrotliEncoderDestroyInstance(state)
        unsafe piece.deallocate()
    }

    func encode(_ input: Span<UInt8>, _ flush: EncodingFlush, into output: inout [UInt8]) {
        unsafe input.withUnsafeBufferPointer { source in
            var availableInput = source.count
            var nextInput = source.baseAddress
            repeat {
                var room = Self.pieceLength
                var next: UnsafeMutablePointer<UInt8>? = unsafe piece
                let status = unsafe BrotliEncoderCompressStream(
                    state, flush.operation, &availableInput, &nextInput, &room, &next, nil)
                precondition(status == BROTLI_TRUE, "the brotli encoder was used out of order")
                unsafe output.append(
                    contentsOf: UnsafeBufferPointer(start: piece, count: Self.pieceLength - room))
            } while unsafe availableInput > 0 || BrotliEncoderHasMoreOutput(state) == BROTLI_TRUE
        }
    }

    private static let quality: UInt32 = 5
    private static let windowLog: UInt32 = 18
    private static let pieceLength = 32_768
}

extension EncodingFlush {
    fileprivate var operation: BrotliEncoderOperation {
        switch self {
        case .none: BROTLI_OPERATION_PROCESS
        case .sync: BROTLI_OPERATION_FLUSH
        case .finish: BROTLI_OPERATION_FINISH
        }
    }
}
