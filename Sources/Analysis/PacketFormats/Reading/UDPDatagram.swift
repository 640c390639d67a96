internal import Base

/// A datagram of UDP out of a packet.
struct UDPDatagram: Equatable {
    let source: PacketEndpoint
    let target: PacketEndpoint
    let content: ArraySlice<UInt8>
    let at: Timestamp

    /// Takes a packet's content apart (RFC 768).
    init(_ packet: IPPacket, at time: Timestamp) throws(PacketRefusal) {
        let bytes = packet.content
        guard bytes.count >= 8 else { throw .cut }
        // 0 stands for a length that does not fit, and for what the network card fills in.
        let length = Int(bytes.number16(4))
        guard length == 0 || (8...bytes.count).contains(length) else { throw .cut }
        source = packet.source.with(port: bytes.number16(0))
        target = packet.target.with(port: bytes.number16(2))
        content = (length > 0 ? bytes.prefix(length) : bytes).dropFirst(8)
        at = time
    }

    /// The packet in a T-PDU of GTP-U (3GPP TS 29.281 §5.1), `nil` if it is none.
    var gtpContent: ArraySlice<UInt8>? {
        guard content.count >= 8, source.port == 2152 || target.port == 2152 else { return nil }
        let flags = content[content.startIndex]
        // Version 1, protocol type GTP.
        guard flags >> 4 == 3, content[content.startIndex + 1] == 0xFF else { return nil }
        var rest = content.prefix(8 + Int(content.number16(2))).dropFirst(8)
        guard flags & 7 != 0 else { return rest }
        guard rest.count >= 4 else { return nil }
        var next = flags & 4 != 0 ? rest[rest.startIndex + 3] : 0
        rest = rest.dropFirst(4)
        // Extension headers say their lengths in units of four bytes, and what follows them.
        while next != 0 {
            let length = Int(rest.first ?? 0) * 4
            guard length > 0, length <= rest.count else { return nil }
            next = rest[rest.startIndex + length - 1]
            rest = rest.dropFirst(length)
        }
        return rest
    }

    /// The packet in a frame of VXLAN (RFC 7348 §5), `nil` if it is none.
    var vxlanContent: ArraySlice<UInt8>? {
        guard target.port == 4789, content.starts(with: [8, 0, 0, 0]), content.count >= 8 else {
            return nil
        }
        do throws(PacketRefusal) {
            return try LinkLayer.content(of: content.dropFirst(8), 1)
        } catch {
            return nil
        }
    }
}
