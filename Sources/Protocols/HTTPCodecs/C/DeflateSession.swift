internal import CCompression

/// Owns a zlib deflater that writes gzip (RFC 1952), zlib (RFC 1950) or raw deflate (RFC 1951).
///
/// Not `Sendable`: one task uses it.
@safe
final class DeflateSession: EncodingSession {
    enum Format {
        case gzip
        case zlib
        /// With a window of that logarithm, from 9 to 15: zlib has no raw deflate with one of 8.
        case raw(windowBits: UInt8 = 15)

        fileprivate var windowBits: Int32 {
            switch self {
            case .gzip: 15 + 16
            case .zlib: 15
            case .raw(let bits): -Int32(bits)
            }
        }
    }

    private static let pieceLength = 32_768
    /// OS 255 is unknown (RFC 1952 §2.3.1).
    private static let unknownSystem: Int32 = 255

    private let stream: UnsafeMutablePointer<z_stream>
    private let header: UnsafeMutablePointer<gz_header>
    private let piece: UnsafeMutablePointer<UInt8>
    private let isOpen: Bool

    init(level: Int32, _ format: Format = .gzip) {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        unsafe header = .allocate(capacity: 1)
        unsafe header.initialize(to: gz_header())
        unsafe piece = .allocate(capacity: Self.pieceLength)
        isOpen = unsafe compression_deflate_init(stream, level, format.windowBits) == Z_OK
        // No time and no system, so that the same content is always the same bytes.
        unsafe header.pointee.os = Self.unknownSystem
        if isOpen, case .gzip = format { unsafe deflateSetHeader(stream, header) }
    }

    deinit {
        if isOpen { unsafe deflateEnd(stream) }
        unsafe stream.deallocate()
        unsafe header.deallocate()
        unsafe piece.deallocate()
    }

    /// Forgets all that came before.
    func reset() {
        if isOpen { unsafe deflateReset(stream) }
    }

    /// Appends what comes out to `output`.
    func encode(_ input: Span<UInt8>, _ flush: EncodingFlush, into output: inout [UInt8]) {
        precondition(isOpen, "no memory for a deflater")
        unsafe input.withUnsafeBufferPointer { source in
            var taken = 0
            repeat {
                let count = min(source.count - taken, Int(Int32.max))
                unsafe stream.pointee.next_in = UnsafeMutablePointer(
                    mutating: source.baseAddress.map { unsafe $0 + taken })
                unsafe stream.pointee.avail_in = UInt32(count)
                taken += count
                run(flush.mode, into: &output)
            } while taken < source.count
        }
        unsafe stream.pointee.next_in = nil
    }

    private func run(_ mode: Int32, into output: inout [UInt8]) {
        repeat {
            unsafe stream.pointee.next_out = piece
            unsafe stream.pointee.avail_out = UInt32(Self.pieceLength)
            unsafe deflate(stream, mode)
            let produced = unsafe Self.pieceLength - Int(stream.pointee.avail_out)
            unsafe output.append(contentsOf: UnsafeBufferPointer(start: piece, count: produced))
        } while unsafe stream.pointee.avail_out == 0
    }
}

extension EncodingFlush {
    fileprivate var mode: Int32 {
        switch self {
        case .none: Z_NO_FLUSH
        case .sync: Z_SYNC_FLUSH
        case .finish: Z_FINISH
        }
    }
}
