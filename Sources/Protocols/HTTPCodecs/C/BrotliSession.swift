internal import CCompression

/// Owns a brotli decoder (RFC 7932); large windows stay off, so it needs 16 MB at most.
///
/// Not `Sendable`: one task uses it.
@safe
final class BrotliSession: DecodingSession {
    private let state: OpaquePointer?
    private let piece: UnsafeMutablePointer<UInt8>
    private(set) var isAtEnd = false

    init() {
        unsafe state = BrotliDecoderCreateInstance(nil, nil, nil)
        unsafe piece = .allocate(capacity: decodingPieceLength)
    }

    deinit {
        unsafe BrotliDecoderDestroyInstance(state)
        unsafe piece.deallocate()
    }

    func decode(_ input: Span<UInt8>, into output: inout [UInt8], room: Int) -> DecodingStep {
        guard !isAtEnd else {
            return DecodingStep(consumed: 0, state: input.isEmpty ? .running : .ended)
        }
        // Without memory for the decoder nothing can be said of the input.
        guard let state = unsafe state else { return DecodingStep(consumed: 0, state: .corrupt) }
        return unsafe input.withUnsafeBufferPointer { source in
            let space = min(room, decodingPieceLength)
            var availableInput = source.count
            var nextInput = source.baseAddress
            var availableOutput = space
            var nextOutput: UnsafeMutablePointer<UInt8>? = unsafe piece
            let result = unsafe BrotliDecoderDecompressStream(
                state, &availableInput, &nextInput, &availableOutput, &nextOutput, nil)
            unsafe output.append(
                contentsOf: UnsafeBufferPointer(start: piece, count: space - availableOutput))
            isAtEnd = result == BROTLI_DECODER_RESULT_SUCCESS
            return DecodingStep(
                consumed: source.count - availableInput,
                state: result == BROTLI_DECODER_RESULT_ERROR ? .corrupt : .running)
        }
    }
}
