/// A place in a message; reading beyond the end throws what `onEnd` says.
struct DNSCursor {
    private let source: [UInt8]
    private(set) var position: Int
    private var end: Int
    private let onEnd: DNSViolation

    /// Of one name; those that are needed point to names with a pointer each.
    static let pointerLimit = 32

    init(_ source: [UInt8]) {
        self.init(source, 0..<source.count, onEnd: .truncatedMessage)
    }

    private init(_ source: [UInt8], _ range: Range<Int>, onEnd: DNSViolation) {
        self.source = source
        position = range.lowerBound
        end = range.upperBound
        self.onEnd = onEnd
    }

    /// How many bytes are left.
    var count: Int { end - position }

    mutating func number8() throws(DNSViolation) -> UInt8 {
        source[try advance(1).lowerBound]
    }

    mutating func number16() throws(DNSViolation) -> UInt16 {
        source[try advance(2)].reduce(0) { $0 << 8 | UInt16($1) }
    }

    mutating func number32() throws(DNSViolation) -> UInt32 {
        source[try advance(4)].reduce(0) { $0 << 8 | UInt32($1) }
    }

    mutating func bytes(_ count: Int) throws(DNSViolation) -> [UInt8] {
        [UInt8](source[try advance(count)])
    }

    /// The next `count` bytes on their own; names in them still point into the whole message.
    mutating func part(_ count: Int, onEnd: DNSViolation) throws(DNSViolation) -> DNSCursor {
        DNSCursor(source, try advance(count), onEnd: onEnd)
    }

    /// A name, which may go on elsewhere in the message (RFC 1035 §4.1.4).
    ///
    /// Each pointer leads before the place where it was reached, so that none leads round, and the
    /// bound on their number keeps a message of pointers from costing its square.
    mutating func name(mayPoint: Bool = true) throws(DNSViolation) -> DNSName {
        var labels: [[UInt8]] = []
        var length = 1
        var pointers = 0
        var segment = position
        let ownEnd = end
        /// Where to go on behind the name, once a pointer has been followed.
        var next: Int?
        defer {
            position = next ?? position
            end = ownEnd
        }
        while true {
            let first = try number8()
            switch first {
            case 0: return DNSName(checked: labels)
            case 1...63:
                length += Int(first) + 1
                guard length <= DNSName.lengthLimit else { throw .nameTooLong }
                labels.append(try bytes(Int(first)))
            case 0xC0...:
                let target = Int(first & 0x3F) << 8 | Int(try number8())
                guard mayPoint, target < segment else { throw .pointerNotBackwards }
                guard pointers < Self.pointerLimit else {
                    throw .tooManyPointers(limit: Self.pointerLimit)
                }
                pointers += 1
                next = next ?? position
                position = target
                end = source.count
                segment = target
            default: throw .labelType(first)
            }
        }
    }

    private mutating func advance(_ length: Int) throws(DNSViolation) -> Range<Int> {
        guard length <= count else { throw onEnd }
        defer { position += length }
        return position..<position + length
    }
}
