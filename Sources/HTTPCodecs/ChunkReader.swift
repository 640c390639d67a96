internal import Base
internal import HTTPModel

/// Walks over a body in the chunked transfer coding (RFC 9112 §7.1), strictly: CRLF ends each
/// line, nothing stands before a size, and only an extension behind it.
struct ChunkReader: Sendable {
    private enum Phase: Sendable {
        case size
        /// White space between the size and the `;` of an extension.
        case blank
        case chunkExtension
        case sizeLineFeed
        case content
        case contentReturn
        case contentLineFeed
        case trailers
        case complete
    }

    /// More digits than these say nothing that fits, or hide behind zeros.
    private static let digitLimit = 16

    private let trailerLimits: HeadLimits
    private let lineLimit: Int
    private let extensionLimit: Int
    private var phase = Phase.size
    /// The size read so far, then what is left of the chunk's content.
    private var remaining: UInt64 = 0
    private var digitCount = 0
    /// Of the size line that is being read, in bytes.
    private var lineLength = 0
    /// Of all extensions so far, in bytes.
    private var extensionLength = 0
    /// The trailer section as far as it came; bounded by the limits of a head.
    private var trailerBytes: [UInt8] = []
    private(set) var trailers = Fields.none

    init(trailerLimits: HeadLimits, lineLimit: Int, extensionLimit: Int) {
        self.trailerLimits = trailerLimits
        self.lineLimit = lineLimit
        self.extensionLimit = extensionLimit
    }

    var isComplete: Bool { phase == .complete }

    /// Consumes all of `bytes`, or up to the end of the body; returns how many.
    mutating func consume(
        _ bytes: Span<UInt8>, payload: (Range<Int>) -> Void
    ) throws(HTTP1Violation) -> Int {
        var position = 0
        while position < bytes.count {
            switch phase {
            case .content:
                let count = Int(min(remaining, UInt64(bytes.count - position)))
                payload(position..<position + count)
                position += count
                remaining -= UInt64(count)
                if remaining == 0 { phase = .contentReturn }
            case .contentReturn:
                try expect(carriageReturn, bytes[position], else: .missingChunkEnd)
                position += 1
                phase = .contentLineFeed
            case .contentLineFeed:
                try expect(lineFeed, bytes[position], else: .bareCR)
                position += 1
                startLine()
            case .trailers:
                position += try takeTrailers(bytes.extracting(position..<bytes.count))
            case .complete:
                return position
            case .size, .blank, .chunkExtension, .sizeLineFeed:
                try takeOfSizeLine(bytes[position])
                position += 1
            }
        }
        return position
    }

    private mutating func startLine() {
        phase = .size
        remaining = 0
        digitCount = 0
        lineLength = 0
    }

    private func expect(
        _ expected: UInt8, _ byte: UInt8, else violation: HTTP1Violation
    ) throws(HTTP1Violation) {
        guard byte != expected else { return }
        throw byte == lineFeed ? .bareLF : violation
    }

    private mutating func takeOfSizeLine(_ byte: UInt8) throws(HTTP1Violation) {
        lineLength += 1
        guard lineLength <= lineLimit else { throw .chunkLineTooLong }
        switch phase {
        case .sizeLineFeed:
            try expect(lineFeed, byte, else: .bareCR)
            phase = remaining == 0 ? .trailers : .content
        case .chunkExtension where byte != carriageReturn:
            guard byte != lineFeed else { throw .bareLF }
            guard !byte.isForbiddenInValue else { throw .invalidChunkExtension }
            try countExtension()
        case .blank where byte != 0x3B:
            guard byte != lineFeed else { throw .bareLF }
            guard byte.isBlank else { throw .invalidChunkSize }
            try countExtension()
        case .size where byte.hexDigitValue != nil:
            try takeDigit(UInt64(byte.hexDigitValue ?? 0))
        default:
            try endSize(byte)
        }
    }

    private mutating func takeDigit(_ value: UInt64) throws(HTTP1Violation) {
        digitCount += 1
        guard digitCount <= Self.digitLimit, remaining <= UInt64(Int64.max) >> 4 else {
            throw .invalidChunkSize
        }
        remaining = remaining << 4 | value
    }

    /// Takes what follows the size, the white space or the extension.
    private mutating func endSize(_ byte: UInt8) throws(HTTP1Violation) {
        guard byte != lineFeed else { throw .bareLF }
        guard digitCount > 0 else { throw .invalidChunkSize }
        switch byte {
        case carriageReturn: phase = .sizeLineFeed
        case 0x3B:
            phase = .chunkExtension
            try countExtension()
        case space, horizontalTab:
            phase = .blank
            try countExtension()
        default: throw .invalidChunkSize
        }
    }

    private mutating func countExtension() throws(HTTP1Violation) {
        extensionLength += 1
        guard extensionLength <= extensionLimit else { throw .chunkExtensionsTooLarge }
    }

    /// Takes the trailer section, or as much of it as has come; returns how many bytes it took.
    private mutating func takeTrailers(_ bytes: Span<UInt8>) throws(HTTP1Violation) -> Int {
        let held = trailerBytes.count
        if held == 0, bytes.count >= 2, bytes[0] == carriageReturn, bytes[1] == lineFeed {
            phase = .complete
            return 2
        }
        let limit = trailerLimits.blockLimit
        let taken = min(bytes.count, limit - held)
        unsafe bytes.extracting(0..<taken).withUnsafeBufferPointer {
            unsafe trailerBytes.append(contentsOf: $0)
        }
        let isFull = trailerBytes.count == limit
        guard isFull || LineReader.isWorthReading(trailerBytes.span, alreadyScanned: held) else {
            return taken
        }
        guard let (fields, end) = try Self.section(trailerBytes, trailerLimits) else {
            return taken
        }
        trailers = fields
        trailerBytes = []
        phase = .complete
        return end - held
    }

    /// The fields at the start of `bytes` and where they end, `nil` if more bytes are needed; a
    /// full section never needs more, since the reader refuses it.
    private static func section(
        _ bytes: [UInt8], _ limits: HeadLimits
    ) throws(HTTP1Violation) -> (fields: Fields, end: Int)? {
        var reader = LineReader(bytes.span, blockLimit: limits.blockLimit)
        do throws(ReaderStop) {
            let slices = try reader.fields(limits: limits)
            let raw = slices.isEmpty ? [] : reader.copyOfSection()
            return (Fields(raw: raw, slices: slices), reader.position)
        } catch {
            if let violation = error.violation { throw violation }
            return nil
        }
    }
}
