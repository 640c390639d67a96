/// A place in a datagram or a packet's content; reading beyond the end throws what `onEnd` says.
struct QUICCursor {
    private let source: [UInt8]
    private(set) var position: Int
    private let end: Int
    var onEnd: QUICViolation

    /// - Parameter range: lies within `source`.
    init(_ source: [UInt8], _ range: Range<Int>, onEnd: QUICViolation) {
        self.source = source
        position = range.lowerBound
        end = range.upperBound
        self.onEnd = onEnd
    }

    /// How many bytes are left.
    var count: Int { end - position }

    mutating func number8() throws(QUICViolation) -> UInt8 {
        source[try advance(1).lowerBound]
    }

    mutating func number32() throws(QUICViolation) -> UInt32 {
        source[try advance(4)].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// A number of 1, 2, 4 or 8 bytes, below 2^62 (RFC 9000 §16).
    mutating func variable() throws(QUICViolation) -> UInt64 {
        let first = try number8()
        let rest = try advance((1 << Int(first >> 6)) - 1)
        return source[rest].reduce(UInt64(first & 0x3F)) { $0 << 8 | UInt64($1) }
    }

    /// Skips as many bytes as a peer's number says, and tells where they are.
    mutating func skip(_ count: UInt64) throws(QUICViolation) -> Range<Int> {
        try advance(Int(clamping: count))
    }

    mutating func bytes(_ count: UInt64) throws(QUICViolation) -> [UInt8] {
        [UInt8](source[try skip(count)])
    }

    private mutating func advance(_ length: Int) throws(QUICViolation) -> Range<Int> {
        guard length <= count else { throw onEnd }
        defer { position += length }
        return position..<position + length
    }
}
