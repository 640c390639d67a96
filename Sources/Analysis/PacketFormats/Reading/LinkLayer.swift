internal import Base

/// Finds the IP packet behind the header of a link.
enum LinkLayer {
    /// How many tags may stand before a packet.
    private static let tagLimit = 8

    /// The packet from its IP header on.
    ///
    /// - Parameter type: as files of packets number them (LINKTYPE_).
    static func content(
        of bytes: ArraySlice<UInt8>, _ type: UInt16
    ) throws(PacketRefusal) -> ArraySlice<UInt8> {
        switch type {
        case 1: return try afterType(bytes, at: 12, header: 14)
        case 9, 50: return try afterPPP(bytes)
        case 12, 14, 101, 228, 229: return bytes
        // Loopback: a family of four bytes in either order, which the version tells as well.
        case 0, 108: return bytes.dropFirst(4)
        case 104: return try afterType(bytes, at: 2, header: 4)
        case 113: return try afterType(bytes, at: 14, header: 16)
        case 276: return try afterType(bytes, at: 0, header: 20)
        default: throw .linkType(type)
        }
    }

    /// What follows a header that ends with a type, and tags of virtual networks (IEEE 802.1Q,
    /// 802.1ad) behind it.
    private static func afterType(
        _ bytes: ArraySlice<UInt8>, at place: Int, header: Int
    ) throws(PacketRefusal) -> ArraySlice<UInt8> {
        var (place, header) = (place, header)
        for _ in 0..<tagLimit {
            guard bytes.count >= header else { throw .cut }
            switch bytes.number16(place) {
            case 0x0800, 0x86DD: return bytes.dropFirst(header)
            case 0x8100, 0x88A8, 0x9100: (place, header) = (header + 2, header + 4)
            // A session of PPPoE (RFC 2516 §4) has six bytes before PPP.
            case 0x8864: return try afterPPP(bytes.dropFirst(header + 6))
            case 0x8847, 0x8848: return try afterLabels(bytes.dropFirst(header))
            // A length: LLC and SNAP follow (IEEE 802).
            case ..<0x0600:
                guard bytes.dropFirst(header).starts(with: [0xAA, 0xAA, 3, 0, 0, 0]) else {
                    throw .notIP
                }
                (place, header) = (header + 6, header + 8)
            default: throw .notIP
            }
        }
        throw .notIP
    }

    /// RFC 1661 §2, with the address and control bytes of RFC 1662 or without; a protocol's number
    /// may be one byte.
    private static func afterPPP(
        _ bytes: ArraySlice<UInt8>
    ) throws(PacketRefusal) -> ArraySlice<UInt8> {
        let content = bytes.starts(with: [0xFF, 3]) ? bytes.dropFirst(2) : bytes
        guard content.count >= 2 else { throw .cut }
        let isShort = content[content.startIndex] & 1 != 0
        let number = isShort ? UInt16(content[content.startIndex]) : content.number16(0)
        guard number == 0x0021 || number == 0x0057 else { throw .notIP }
        return content.dropFirst(isShort ? 1 : 2)
    }

    /// Behind the labels of MPLS (RFC 3032 §2.1), the last of which says so.
    private static func afterLabels(
        _ bytes: ArraySlice<UInt8>
    ) throws(PacketRefusal) -> ArraySlice<UInt8> {
        var rest = bytes
        for _ in 0..<tagLimit {
            guard rest.count >= 4 else { throw .cut }
            let isLast = rest[rest.startIndex + 2] & 1 != 0
            rest = rest.dropFirst(4)
            if isLast { return rest }
        }
        throw .notIP
    }
}
