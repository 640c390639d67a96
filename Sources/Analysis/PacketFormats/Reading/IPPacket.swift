internal import Base

/// A packet of IP in either version (RFC 791, RFC 8200).
struct IPPacket: Equatable {
    /// Without ports.
    let source: PacketEndpoint
    let target: PacketEndpoint
    /// The number of the protocol of what it carries.
    var next: UInt8
    var content: ArraySlice<UInt8>
    /// `nil` for a whole packet.
    var fragment: Fragment?

    /// Which piece of a packet it is.
    struct Fragment: Equatable {
        let identification: UInt32
        /// In bytes, from the start of what the packet carries.
        let offset: Int
        let isLast: Bool
    }

    init(_ bytes: ArraySlice<UInt8>) throws(PacketRefusal) {
        guard let first = bytes.first else { throw .cut }
        switch first >> 4 {
        case 4: self = try IPPacket(version4: bytes)
        case 6: self = try IPPacket(version6: bytes)
        default: throw .notIP
        }
    }

    private init(version4 bytes: ArraySlice<UInt8>) throws(PacketRefusal) {
        let start = bytes.startIndex
        let headerLength = Int(bytes[start] & 0x0F) * 4
        guard bytes.count >= 20, headerLength >= 20, headerLength <= bytes.count else {
            throw .cut
        }
        // A length of 0 is what segmentation by the network card leaves.
        let length = Int(bytes.number16(2))
        guard length == 0 || (headerLength...bytes.count).contains(length) else { throw .cut }
        source = PacketEndpoint(address: bytes[(start + 12)..<(start + 16)], port: 0)
        target = PacketEndpoint(address: bytes[(start + 16)..<(start + 20)], port: 0)
        next = bytes[start + 9]
        // Ethernet fills short frames up.
        content = (length > 0 ? bytes.prefix(length) : bytes).dropFirst(headerLength)
        let place = bytes.number16(6)
        guard place & 0x3FFF != 0 else { return }
        fragment = Fragment(
            identification: UInt32(bytes.number16(4)), offset: Int(place & 0x1FFF) * 8,
            isLast: place & 0x2000 == 0)
    }

    private init(version6 bytes: ArraySlice<UInt8>) throws(PacketRefusal) {
        guard bytes.count >= 40 else { throw .cut }
        let start = bytes.startIndex
        let length = Int(bytes.number16(4))
        source = PacketEndpoint(address: bytes[(start + 8)..<(start + 24)], port: 0)
        target = PacketEndpoint(address: bytes[(start + 24)..<(start + 40)], port: 0)
        next = bytes[start + 6]
        content = bytes.dropFirst(40)
        guard length <= content.count else { throw .cut }
        if length > 0 { content = content.prefix(length) }
        try skipExtensions()
    }

    /// Skips what may stand before the protocol (RFC 8200 §4): hop-by-hop options, routing,
    /// destination options, a fragment's header, behind which a piece may begin, and
    /// authentication (RFC 4302 §2).
    mutating func skipExtensions() throws(PacketRefusal) {
        while [0, 43, 44, 51, 60].contains(next), fragment == nil {
            guard content.count >= 8 else { throw .cut }
            let kind = next
            next = content[content.startIndex]
            let units = Int(content[content.startIndex + 1])
            let count = kind == 44 ? 8 : kind == 51 ? (units + 2) * 4 : (units + 1) * 8
            guard count <= content.count else { throw .cut }
            if kind == 44 {
                let place = content.number16(2)
                // One that is first and last is whole (RFC 6946).
                if place & 0xFFF9 != 0 {
                    fragment = Fragment(
                        identification: UInt32(content.number16(4)) << 16
                            | UInt32(content.number16(6)),
                        offset: Int(place & 0xFFF8), isLast: place & 1 == 0)
                }
            }
            content = content.dropFirst(count)
        }
    }
}
