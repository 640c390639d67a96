internal import CCompression

/// Owns a zlib inflater: gzip with all its members, zlib, or raw deflate.
///
/// Not `Sendable`: one task uses it.
@safe
final class InflateSession: DecodingSession {
    enum Format {
        case gzip
        /// zlib, or raw deflate if the first two bytes are no zlib header (RFC 1950 §2.2).
        case deflate
    }

    private static let gzipMagic: UInt8 = 0x1F
    private static let longestWindow: Int32 = 15

    private let format: Format
    private let stream: UnsafeMutablePointer<z_stream>
    private let piece: UnsafeMutablePointer<UInt8>
    /// Whether zlib holds state that must be freed.
    private var isOpen = false
    /// The first byte of a deflate body, until the second tells what it is.
    private var firstByte: UInt8?
    private(set) var isAtEnd = false

    init(_ format: Format) {
        self.format = format
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        unsafe piece = .allocate(capacity: decodingPieceLength)
    }

    deinit {
        if isOpen { unsafe inflateEnd(stream) }
        unsafe stream.deallocate()
        unsafe piece.deallocate()
    }

    func decode(_ input: Span<UInt8>, into output: inout [UInt8], room: Int) -> DecodingStep {
        if isAtEnd { return startMember(input) }
        guard !input.isEmpty || isOpen else { return DecodingStep(consumed: 0, state: .running) }
        if !isOpen {
            switch format {
            case .gzip:
                guard open(windowBits: Self.longestWindow + 16) else { return corrupt(0) }
            case .deflate:
                return openDeflate(input, into: &output, room: room)
            }
        }
        return inflate(input, into: &output, room: room)
    }

    /// Goes on with the next member, or ends where something else follows (RFC 1952 §2.2).
    private func startMember(_ input: Span<UInt8>) -> DecodingStep {
        guard !input.isEmpty else { return DecodingStep(consumed: 0, state: .running) }
        guard format == .gzip, input[0] == Self.gzipMagic else {
            return DecodingStep(consumed: 0, state: .ended)
        }
        guard unsafe inflateReset(stream) == Z_OK else { return corrupt(0) }
        isAtEnd = false
        // The byte tells what follows and is zlib's to read; it has not been taken yet.
        var none: [UInt8] = []
        return inflate(input.extracting(0..<1), into: &none, room: 1)
    }

    private func open(windowBits: Int32) -> Bool {
        isOpen = unsafe compression_inflate_init(stream, windowBits) == Z_OK
        return isOpen
    }

    private func openDeflate(
        _ input: Span<UInt8>, into output: inout [UInt8], room: Int
    ) -> DecodingStep {
        guard let first = firstByte else {
            firstByte = input[0]
            return DecodingStep(consumed: 1, state: .running)
        }
        let header = UInt16(first) << 8 | UInt16(input[0])
        let isZlib = first & 15 == 8 && first >> 4 <= 7 && header % 31 == 0
        guard open(windowBits: isZlib ? Self.longestWindow : -Self.longestWindow) else {
            return corrupt(0)
        }
        // No output fits into one byte.
        let held = [first]
        guard inflate(held.span, into: &output, room: room).state == .running else {
            return corrupt(0)
        }
        return inflate(input, into: &output, room: room)
    }

    private func inflate(
        _ input: Span<UInt8>, into output: inout [UInt8], room: Int
    ) -> DecodingStep {
        unsafe input.withUnsafeBufferPointer { source in
            let count = min(source.count, Int(Int32.max))
            let space = min(room, decodingPieceLength)
            unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: source.baseAddress)
            unsafe stream.pointee.avail_in = UInt32(count)
            unsafe stream.pointee.next_out = piece
            unsafe stream.pointee.avail_out = UInt32(space)
            let result = unsafe CCompression.inflate(stream, Z_NO_FLUSH)
            let consumed = unsafe count - Int(stream.pointee.avail_in)
            let produced = unsafe space - Int(stream.pointee.avail_out)
            unsafe stream.pointee.next_in = nil
            unsafe output.append(contentsOf: UnsafeBufferPointer(start: piece, count: produced))
            switch result {
            case Z_STREAM_END:
                isAtEnd = true
                return DecodingStep(consumed: consumed, state: .running)
            case Z_OK, Z_BUF_ERROR: return DecodingStep(consumed: consumed, state: .running)
            default: return corrupt(consumed)
            }
        }
    }

    private func corrupt(_ consumed: Int) -> DecodingStep {
        DecodingStep(consumed: consumed, state: .corrupt)
    }
}
