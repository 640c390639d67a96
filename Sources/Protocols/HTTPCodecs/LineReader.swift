internal import Base
internal import HTTPModel

/// Why reading stopped before the end of a head.
enum ReaderStop: Error {
    case moreNeeded
    case violation(HTTP1Violation)

    /// `nil` if only more bytes are needed.
    var violation: HTTP1Violation? {
        switch self {
        case .moreNeeded: nil
        case .violation(let violation): violation
        }
    }
}

/// Walks over the lines of a head or trailer section.
///
/// It looks at each byte once and from left to right, so that the violation it finds does not
/// depend on how the bytes were cut into reads.
struct LineReader: ~Escapable {
    let bytes: Span<UInt8>
    private(set) var position: Int
    /// Where the section starts, and where the block limit ends it.
    private(set) var start: Int
    private var blockEnd: Int
    /// Where looking stops in this line: the end of the bytes or of a limit.
    private var end: Int
    private let blockLimit: Int
    /// What to say at `end`.
    private var stop = ReaderStop.moreNeeded

    @_lifetime(copy bytes)
    init(_ bytes: Span<UInt8>, blockLimit: Int) {
        self.bytes = bytes
        self.blockLimit = blockLimit
        position = 0
        start = 0
        blockEnd = blockLimit
        end = 0
    }

    /// Whether a section may be judged now that was not when `alreadyScanned` bytes had come.
    ///
    /// A caller that comes again with every byte would make reading quadratic. Only a control
    /// character, the byte behind CR or LF, or a new KiB (for the limits) is worth another pass.
    /// Anything else that is wrong with a line is seen at its end. Lines that are folded or end in a
    /// bare LF may be many, and are not counted before the section has been mended: in a long
    /// section only an empty line and a new KiB are.
    static func isWorthReading(_ bytes: Span<UInt8>, alreadyScanned: Int) -> Bool {
        guard alreadyScanned > 0, alreadyScanned <= bytes.count else { return true }
        guard alreadyScanned >> 10 == bytes.count >> 10 else { return true }
        guard bytes.count < shortSection else {
            return endsEmptyLine(in: bytes, from: alreadyScanned)
        }
        let last = bytes[alreadyScanned - 1]
        return last == carriageReturn || last == lineFeed
            || bytes.firstControl(from: alreadyScanned, to: bytes.count) < bytes.count
    }

    /// Up to this many bytes each line is judged as it comes.
    private static let shortSection = 2048

    /// Whether an LF that came at `start` or later ends an empty line.
    private static func endsEmptyLine(in bytes: Span<UInt8>, from start: Int) -> Bool {
        for index in max(2, start)..<bytes.count where bytes[index] == lineFeed {
            let before = bytes[index - 1]
            if before == lineFeed || before == carriageReturn && bytes[index - 2] == lineFeed {
                return true
            }
        }
        return false
    }

    /// Starts the next line, which may take `limit` bytes with its CRLF.
    @_lifetime(self: copy self)
    mutating func beginLine(limit: Int, violation: HTTP1Violation) {
        let lineEnd = position + limit
        let bound = min(lineEnd, blockEnd)
        if bound <= bytes.count {
            end = bound
            stop = .violation(lineEnd <= blockEnd ? violation : .headTooLarge)
        } else {
            end = bytes.count
            stop = .moreNeeded
        }
    }

    /// Skips the empty lines that may stand before a request (RFC 9112 §2.2).
    @_lifetime(self: copy self)
    mutating func skipEmptyLines(limit: Int) throws(ReaderStop) {
        end = bytes.count
        stop = .moreNeeded
        for _ in 0..<limit {
            guard try peek() == carriageReturn else { break }
            try endLine()
        }
        start = position
        blockEnd = position + blockLimit
    }

    @inline(__always)
    func peek() throws(ReaderStop) -> UInt8 {
        guard position < end else { throw stop }
        return bytes[position]
    }

    /// Takes one byte, which must be `byte`.
    @_lifetime(self: copy self)
    @inline(__always)
    mutating func expect(_ byte: UInt8, else violation: HTTP1Violation) throws(ReaderStop) {
        guard try peek() == byte else { throw .violation(violation) }
        position += 1
    }

    /// Takes one byte, which must be a digit, and returns its value.
    @_lifetime(self: copy self)
    mutating func digit(else violation: HTTP1Violation) throws(ReaderStop) -> Int {
        let byte = try peek()
        guard byte.isASCIIDigit else { throw .violation(violation) }
        position += 1
        return Int(byte &- 0x30)
    }

    /// Takes CRLF and nothing else.
    @_lifetime(self: copy self)
    @inline(__always)
    mutating func endLine(else violation: HTTP1Violation = .bareCR) throws(ReaderStop) {
        let byte = try peek()
        guard byte == carriageReturn else {
            throw .violation(byte == lineFeed ? .bareLF : violation)
        }
        position += 1
        try expect(lineFeed, else: .bareCR)
    }

    /// Takes the token bytes that come and stops at the first other byte.
    @_lifetime(self: copy self)
    @inline(__always)
    mutating func token() throws(ReaderStop) -> Range<Int> {
        let first = position
        var last = first
        while last < end, bytes[last].isTokenByte { last += 1 }
        position = last
        guard last < end else { throw stop }
        return first - start..<last - start
    }

    /// Takes the bytes of a request target, which end at the first control character or SP.
    @_lifetime(self: copy self)
    @inline(__always)
    mutating func target() throws(ReaderStop) -> Range<Int> {
        let first = position
        var last = first
        while last < end, bytes[last] > space, bytes[last] != 0x7F { last += 1 }
        position = last
        guard last < end else { throw stop }
        return first - start..<last - start
    }

    /// Takes the rest of the line without its end, which is left where it is.
    @_lifetime(self: copy self)
    @inline(__always)
    mutating func restOfLine(else violation: HTTP1Violation) throws(ReaderStop) -> Range<Int> {
        let first = position
        position = bytes.firstControl(from: first, to: end)
        let byte = try peek()
        guard byte == carriageReturn || byte == lineFeed else { throw .violation(violation) }
        return first - start..<position - start
    }

    /// Takes `HTTP/1.0` or `HTTP/1.1`; any other digits are another version.
    @_lifetime(self: copy self)
    mutating func version(else violation: HTTP1Violation) throws(ReaderStop) -> HTTPVersion {
        try expect(0x48, else: violation)
        try expect(0x54, else: violation)
        try expect(0x54, else: violation)
        try expect(0x50, else: violation)
        try expect(0x2F, else: violation)
        let major = try digit(else: violation)
        try expect(0x2E, else: violation)
        let minor = try digit(else: violation)
        guard major == 1, minor <= 1 else { throw .violation(.unsupportedVersion) }
        return minor == 1 ? .http11 : .http10
    }

    /// Copies the section as it came, up to where the reader stands.
    func copyOfSection() -> [UInt8] {
        let section = bytes.extracting(start..<position)
        return unsafe section.withUnsafeBufferPointer { unsafe [UInt8]($0) }
    }
}

extension LineReader {
    /// Takes field lines through the empty line.
    @_lifetime(self: copy self)
    mutating func fields(limits: HeadLimits) throws(ReaderStop) -> [FieldSlice] {
        var slices: [FieldSlice] = []
        slices.reserveCapacity(min(16, limits.fieldCountLimit))
        while true {
            beginLine(limit: limits.fieldLineLimit, violation: .fieldLineTooLong)
            let first = try peek()
            if first == carriageReturn {
                try endLine()
                return slices
            }
            guard first != lineFeed else { throw .violation(.bareLF) }
            guard !first.isBlank else { throw .violation(.obsoleteFold) }
            guard slices.count < limits.fieldCountLimit else { throw .violation(.tooManyFields) }
            slices.append(try field())
        }
    }

    @_lifetime(self: copy self)
    @inline(__always)
    private mutating func field() throws(ReaderStop) -> FieldSlice {
        let name = try token()
        guard try peek() == 0x3A, !name.isEmpty else { throw try refusedName(name) }
        position += 1
        while try peek().isBlank { position += 1 }
        let rest = try restOfLine(else: .invalidFieldValue)
        try endLine()
        var last = rest.upperBound
        while last > rest.lowerBound, bytes[start + last - 1].isBlank { last -= 1 }
        return FieldSlice(
            known: KnownField(
                name: bytes.extracting(start + name.lowerBound..<start + name.upperBound)),
            name: name, value: rest.lowerBound..<last)
    }

    /// Tells white space before the colon from a name that is none.
    @_lifetime(self: copy self)
    private mutating func refusedName(_ name: Range<Int>) throws(ReaderStop) -> ReaderStop {
        guard !name.isEmpty, try peek().isBlank else {
            return .violation(try peek() == lineFeed ? .bareLF : .invalidFieldName)
        }
        while try peek().isBlank { position += 1 }
        return .violation(try peek() == 0x3A ? .spaceBeforeColon : .invalidFieldName)
    }
}
