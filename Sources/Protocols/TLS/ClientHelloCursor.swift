/// A place in the hello; reading beyond the end throws what `onEnd` says.
struct ClientHelloCursor {
    private let source: [UInt8]
    private var position: Int
    private let end: Int
    var onEnd: ClientHelloViolation

    init(_ source: [UInt8], onEnd: ClientHelloViolation) {
        self.init(source, 0..<source.count, onEnd: onEnd)
    }

    private init(_ source: [UInt8], _ range: Range<Int>, onEnd: ClientHelloViolation) {
        self.source = source
        position = range.lowerBound
        end = range.upperBound
        self.onEnd = onEnd
    }

    /// How many bytes are left.
    var count: Int { end - position }

    /// The bytes that are left.
    var rest: [UInt8] { [UInt8](source[position..<end]) }

    mutating func number8() throws(ClientHelloViolation) -> UInt8 {
        let start = try advance(1)
        return source[start]
    }

    mutating func number16() throws(ClientHelloViolation) -> UInt16 {
        let start = try advance(2)
        return UInt16(source[start]) << 8 | UInt16(source[start + 1])
    }

    mutating func bytes(_ count: Int) throws(ClientHelloViolation) -> [UInt8] {
        let start = try advance(count)
        return [UInt8](source[start..<start + count])
    }

    /// What is left as numbers; a last single byte throws.
    mutating func numbers16() throws(ClientHelloViolation) -> [UInt16] {
        var numbers: [UInt16] = []
        numbers.reserveCapacity(count / 2)
        while count > 0 { numbers.append(try number16()) }
        return numbers
    }

    /// What a length of one byte announces.
    mutating func vector8() throws(ClientHelloViolation) -> ClientHelloCursor {
        try vector(Int(number8()))
    }

    /// What a length of two bytes announces.
    mutating func vector16() throws(ClientHelloViolation) -> ClientHelloCursor {
        try vector(Int(number16()))
    }

    private mutating func vector(_ length: Int) throws(ClientHelloViolation) -> ClientHelloCursor {
        let start = try advance(length)
        return ClientHelloCursor(source, start..<start + length, onEnd: onEnd)
    }

    private mutating func advance(_ length: Int) throws(ClientHelloViolation) -> Int {
        guard length <= count else { throw onEnd }
        defer { position += length }
        return position
    }
}
