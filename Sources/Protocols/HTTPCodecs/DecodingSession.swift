/// One coding's decoder: packed bytes go in, unpacked ones come out.
protocol DecodingSession: AnyObject {
    /// Whether what came so far may be all of it: a stream has ended and no other has begun.
    var isAtEnd: Bool { get }

    /// Takes from the start of `input` and appends at most `room` bytes to `output`.
    func decode(_ input: Span<UInt8>, into output: inout [UInt8], room: Int) -> DecodingStep
}

/// What one call of a `DecodingSession` did.
struct DecodingStep: Equatable {
    enum State: Equatable {
        /// It made what progress it could; without any, it needs more input.
        case running
        /// The content is whole; what is left of the input does not belong to it.
        case ended
        case corrupt
    }

    /// Bytes of the input that it took.
    var consumed: Int
    var state: State
}

/// How many bytes a session unpacks at once.
let decodingPieceLength = 32_768
