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
    /// Of what `consume` took last, at its end: bytes of the trailer section, in bytes.
    private(set) var withheldCount = 0
    /// What goes on in the place of the bytes that were withheld, once complete.
    private(set) var closing: [UInt8] = []
    /// Whether the next byte is an LF that no CR stands before.
    private(set) var lacksReturn = false
    private(set) var used: HeadLeniency = []

    private var takesBareLF: Bool { trailerLimits.leniency.contains(.bareLF) }

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
        withheldCount = 0
        lacksReturn = false
        while position < bytes.count {
            if takesBareLF, bytes[position] == lineFeed, mayEndLine {
                // The caller puts a CR there, for the next recipient; it comes again with the LF.
                lacksReturn = true
                used.insert(.bareLF)
                phase = phase == .contentReturn ? .contentLineFeed : .sizeLineFeed
                return position
            }
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
                let rest = bytes.extracting(position..<bytes.count)
                let held = trailerBytes.count
                let count = try takeTrailers(rest)
                if held > 0 || phase != .complete || !closing.isEmpty { withheldCount = count }
                position += count
            case .complete:
                return position
            case .size, .blank, .chunkExtension, .sizeLineFeed:
                try takeOfSizeLine(bytes[position])
                position += 1
            }
        }
        return position
    }

    /// Whether a line ends where the reader stands, if LF alone may end one.
    private var mayEndLine: Bool {
        switch phase {
        case .contentReturn, .chunkExtension, .blank: true
        case .size: digitCount > 0
        case .sizeLineFeed, .content, .contentLineFeed, .trailers, .complete: false
        }
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
        guard let (fields, end) = try section() else { return taken }
        trailers = fields
        let passing = TrailerFields.passing(fields).raw
        closing = passing.isEmpty ? [carriageReturn, lineFeed] : passing
        trailerBytes = []
        phase = .complete
        return end - held
    }

    /// The fields that were held and where they end, `nil` if more bytes are needed; a full section
    /// never needs more, since the reader refuses it.
    private mutating func section() throws(HTTP1Violation) -> (fields: Fields, end: Int)? {
        do throws(ReaderStop) {
            return try Self.section(trailerBytes, trailerLimits)
        } catch {
            guard let violation = error.violation else { return nil }
            guard trailerLimits.leniency.canMend(violation) else { throw violation }
            return try mendedSection(violation)
        }
    }

    private mutating func mendedSection(
        _ violation: HTTP1Violation
    ) throws(HTTP1Violation) -> (fields: Fields, end: Int)? {
        let repair = try ResponseHeadRepair(
            trailerBytes.span, hasStatusLine: false, limits: trailerLimits)
        guard let repair else { return nil }
        guard trailerLimits.leniency.isSuperset(of: repair.used) else { throw violation }
        used.formUnion(repair.used)
        do throws(ReaderStop) {
            let fields = try Self.section(repair.output, trailerLimits).fields
            return (fields, repair.consumed)
        } catch {
            throw error.violation ?? .headTooLarge
        }
    }

    private static func section(
        _ bytes: [UInt8], _ limits: HeadLimits
    ) throws(ReaderStop) -> (fields: Fields, end: Int) {
        var reader = LineReader(bytes.span, blockLimit: limits.blockLimit)
        let slices = try reader.fields(limits: limits)
        let raw = slices.isEmpty ? [] : reader.copyOfSection()
        return (Fields(raw: raw, slices: slices), reader.position)
    }
}
