/// Who sends the frames of one direction.
package enum WebSocketRole: Sendable, Equatable {
    case client
    case server
}

package enum WebSocketOpcode: UInt8, Sendable {
    case continuation = 0
    case text = 1
    case binary = 2
    case close = 8
    case ping = 9
    case pong = 10

    var isControl: Bool { rawValue >= 8 }
}

/// The start of a frame up to its payload (RFC 6455 §5.2).
struct WebSocketFrameHead: Equatable {
    /// The longest there is, in bytes.
    static let sizeLimit = 14
    static let controlLimit = 125

    var opcode: WebSocketOpcode
    var isFinal: Bool
    /// RSV1.
    var isCompressed: Bool
    /// The key as it lies in memory, least significant byte first; 0 leaves the payload as it is.
    var mask: UInt32
    var isMasked: Bool
    /// Of the payload, in bytes.
    var length: UInt64

    /// How many bytes a head has that starts with these two.
    @inline(__always)
    static func size(_ second: UInt8) -> Int {
        let length = second & 0x7F
        return 2 &+ (length == 126 ? 2 : length == 127 ? 8 : 0) &+ (second & 0x80 != 0 ? 4 : 0)
    }

    /// What the first two bytes break, whatever frames came before.
    @inline(__always)
    static func violation(
        _ first: UInt8, _ second: UInt8, from role: WebSocketRole, compresses: Bool
    ) -> WebSocketViolation? {
        guard let opcode = WebSocketOpcode(rawValue: first & 15) else { return .reservedOpcode }
        // RFC 7692 §6: RSV1 stands on the first frame of a message only.
        let allowsFirstBit = compresses && (opcode == .text || opcode == .binary)
        if first & (allowsFirstBit ? 0x30 : 0x70) != 0 { return .reservedBits }
        let isMasked = second & 0x80 != 0
        if isMasked != (role == .client) {
            return isMasked ? .maskedServerFrame : .unmaskedClientFrame
        }
        guard opcode.isControl else { return nil }
        if first & 0x80 == 0 { return .fragmentedControl }
        return second & 0x7F > controlLimit ? .controlTooLong : nil
    }

    /// Reads a head that is whole and whose first two bytes are sound.
    @inline(__always)
    init(_ bytes: Span<UInt8>) {
        let second = bytes[1]
        opcode = WebSocketOpcode(rawValue: bytes[0] & 15) ?? .binary
        isFinal = bytes[0] & 0x80 != 0
        isCompressed = bytes[0] & 0x40 != 0
        isMasked = second & 0x80 != 0
        length = UInt64(second & 0x7F)
        var position = 2
        if length >= 126 {
            let end = length == 126 ? 4 : 10
            length = 0
            while position < end {
                length = length << 8 | UInt64(bytes[position])
                position &+= 1
            }
        }
        mask = 0
        guard isMasked else { return }
        for shift in 0..<4 {
            mask |= UInt32(bytes[position &+ shift]) << UInt32(8 &* shift)
        }
    }

    /// Whether fewer bytes could tell the length.
    func isLong(_ second: UInt8) -> Bool {
        switch second & 0x7F {
        case 126: length < 126
        case 127: length < 65_536
        default: false
        }
    }
}
