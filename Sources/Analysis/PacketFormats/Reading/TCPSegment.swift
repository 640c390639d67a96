internal import Base
internal import Traffic

/// A segment of TCP out of a packet.
struct TCPSegment: Equatable {
    let source: PacketEndpoint
    let target: PacketEndpoint
    let number: UInt32
    let isSYN: Bool
    let isACK: Bool
    let isFIN: Bool
    let isRST: Bool
    let content: [UInt8]
    let at: Timestamp

    /// Why a packet has no segment.
    enum Refusal: Error, Equatable {
        case linkType(UInt16)
        case fragment
        /// It is too short for what it says.
        case cut
        /// It is of another protocol.
        case other
    }

    /// Takes a packet apart (RFC 791, RFC 8200, RFC 9293).
    init(_ packet: CaughtPacket) throws(Refusal) {
        var bytes = try Self.withoutLink(packet)
        guard let first = bytes.first else { throw .cut }
        let ends: (source: [UInt8], target: [UInt8])
        switch first >> 4 {
        case 4: ends = try Self.readVersion4(&bytes)
        case 6: ends = try Self.readVersion6(&bytes)
        default: throw .other
        }
        guard bytes.count >= 20 else { throw .cut }
        let at = bytes.startIndex
        let headerLength = Int(bytes[at + 12] >> 4) * 4
        guard headerLength >= 20, headerLength <= bytes.count else { throw .cut }
        source = PacketEndpoint(address: ends.source, port: bytes.number16(0))
        target = PacketEndpoint(address: ends.target, port: bytes.number16(2))
        number = UInt32(bytes.number16(4)) << 16 | UInt32(bytes.number16(6))
        let flags = bytes[at + 13]
        (isFIN, isSYN) = (flags & 1 != 0, flags & 2 != 0)
        (isRST, isACK) = (flags & 4 != 0, flags & 16 != 0)
        content = [UInt8](bytes.dropFirst(headerLength))
        self.at = packet.at
    }

    /// The packet from its IP header on.
    private static func withoutLink(
        _ packet: CaughtPacket
    ) throws(Refusal) -> ArraySlice<UInt8> {
        let bytes = packet.bytes[...]
        switch packet.linkType {
        case 1: return try withoutEthernet(bytes)
        case 12, 14, 101, 228, 229: return bytes
        // Loopback: a family of four bytes in either order, which the version tells as well.
        case 0, 108: return bytes.dropFirst(4)
        case 113: return try afterType(bytes, at: 14, header: 16)
        case 276: return try afterType(bytes, at: 0, header: 20)
        default: throw .linkType(packet.linkType)
        }
    }

    private static func withoutEthernet(
        _ bytes: ArraySlice<UInt8>
    ) throws(Refusal) -> ArraySlice<UInt8> {
        guard bytes.count >= 14 else { throw .cut }
        var header = 14
        // Tags of virtual networks (IEEE 802.1Q, 802.1ad).
        while bytes.count >= header + 4, [0x8100, 0x88A8].contains(bytes.number16(header - 2)) {
            header += 4
        }
        return try afterType(bytes, at: header - 2, header: header)
    }

    private static func afterType(
        _ bytes: ArraySlice<UInt8>, at place: Int, header: Int
    ) throws(Refusal) -> ArraySlice<UInt8> {
        guard bytes.count >= header else { throw .cut }
        guard [0x0800, 0x86DD].contains(bytes.number16(place)) else { throw .other }
        return bytes.dropFirst(header)
    }

    private static func readVersion4(
        _ bytes: inout ArraySlice<UInt8>
    ) throws(Refusal) -> (source: [UInt8], target: [UInt8]) {
        let start = bytes.startIndex
        let headerLength = Int(bytes[start] & 0x0F) * 4
        guard bytes.count >= 20, headerLength >= 20, headerLength <= bytes.count else {
            throw .cut
        }
        guard bytes[start + 9] == 6 else { throw .other }
        guard bytes.number16(6) & 0x3FFF == 0 else { throw .fragment }
        // A length of 0 is what segmentation by the network card leaves.
        let length = Int(bytes.number16(2))
        let ends = (
            [UInt8](bytes[(start + 12)..<(start + 16)]),
            [UInt8](bytes[(start + 16)..<(start + 20)])
        )
        guard length == 0 || (headerLength...bytes.count).contains(length) else { throw .cut }
        // Ethernet fills short frames up.
        if length > 0 { bytes = bytes.prefix(length) }
        bytes = bytes.dropFirst(headerLength)
        return ends
    }

    private static func readVersion6(
        _ bytes: inout ArraySlice<UInt8>
    ) throws(Refusal) -> (source: [UInt8], target: [UInt8]) {
        guard bytes.count >= 40 else { throw .cut }
        let start = bytes.startIndex
        let ends = (
            [UInt8](bytes[(start + 8)..<(start + 24)]),
            [UInt8](bytes[(start + 24)..<(start + 40)])
        )
        let length = Int(bytes.number16(4))
        var next = bytes[start + 6]
        bytes = bytes.dropFirst(40)
        guard length <= bytes.count else { throw .cut }
        if length > 0 { bytes = bytes.prefix(length) }
        // Hop-by-hop options, routing and destination options may stand before TCP.
        while [0, 43, 60].contains(next) {
            guard bytes.count >= 8 else { throw .cut }
            next = bytes[bytes.startIndex]
            let count = (Int(bytes[bytes.startIndex + 1]) + 1) * 8
            guard count <= bytes.count else { throw .cut }
            bytes = bytes.dropFirst(count)
        }
        guard next != 44 else { throw .fragment }
        guard next == 6 else { throw .other }
        return ends
    }
}

extension ArraySlice<UInt8> {
    /// Two bytes in the order of the network, counted from the slice's start.
    fileprivate func number16(_ place: Int) -> UInt16 {
        UInt16(self[startIndex + place]) << 8 | UInt16(self[startIndex + place + 1])
    }
}
