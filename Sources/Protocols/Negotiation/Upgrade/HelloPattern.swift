/// The first six bytes of a record that holds a ClientHello (RFC 8446 §5.1, §4).
enum HelloPattern {
    case whole
    /// What there is fits, but more is needed.
    case partial
    case none

    static let length = 6
    /// A record's content has at most 2^14 bytes.
    private static let lengthLimit: UInt8 = 0x40

    static func match(_ bytes: Span<UInt8>, at start: Int) -> HelloPattern {
        for offset in 0..<length {
            guard start + offset < bytes.count else { return offset > 0 ? .partial : .none }
            guard fits(bytes[start + offset], at: offset) else { return .none }
        }
        return .whole
    }

    private static func fits(_ byte: UInt8, at offset: Int) -> Bool {
        switch offset {
        case 0: byte == 0x16
        case 1: byte == 3
        case 2: byte <= 4
        case 3: byte <= lengthLimit
        case 5: byte == 1
        default: true
        }
    }
}
