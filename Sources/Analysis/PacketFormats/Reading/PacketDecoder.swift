internal import Base

/// Takes packets apart down to what TCP and UDP carry, through tunnels and fragments.
struct PacketDecoder {
    private var fragments = FragmentStore()

    /// What a packet carries.
    enum Carried: Equatable {
        case segment(TCPSegment)
        case datagram(UDPDatagram)
    }

    /// How deep packets may stand in one another.
    private static let depthLimit = 8
    /// In bits of GRE's header: checksum, routing, key, sequence number (RFC 2784, RFC 2890), and
    /// the acknowledgement of PPTP (RFC 2637 §4.1).
    private static let greOptions: [UInt16] = [0xC000, 0x2000, 0x1000, 0x0080]

    /// How many packets were not put together again, because pieces of them never came.
    var unfinishedCount: Int { fragments.unfinishedCount }

    /// - Returns: `nil` while fragments of it are missing.
    mutating func read(_ packet: CaughtPacket) throws(PacketRefusal) -> Carried? {
        let bytes = try LinkLayer.content(of: packet.bytes[...], packet.linkType)
        return try readNetwork(bytes, packet.at, depth: 0)
    }

    private mutating func readNetwork(
        _ bytes: ArraySlice<UInt8>, _ time: Timestamp, depth: Int
    ) throws(PacketRefusal) -> Carried? {
        var packet = try IPPacket(bytes)
        if packet.fragment != nil {
            guard let whole = try fragments.take(packet) else { return nil }
            packet = whole
        }
        switch packet.next {
        case 6: return .segment(try TCPSegment(packet, at: time))
        case 17:
            let datagram = try UDPDatagram(packet, at: time)
            guard depth < Self.depthLimit else { return .datagram(datagram) }
            return try readTunnel(datagram, depth) ?? .datagram(datagram)
        case 4 where depth < Self.depthLimit, 41 where depth < Self.depthLimit:
            return try readNetwork(packet.content, time, depth: depth + 1)
        case 47 where depth < Self.depthLimit: return try readGRE(packet, time, depth)
        default: throw .unread(packet.next, packet.source, packet.target)
        }
    }

    private mutating func readGRE(
        _ packet: IPPacket, _ time: Timestamp, _ depth: Int
    ) throws(PacketRefusal) -> Carried? {
        let bytes = packet.content
        guard bytes.count >= 4 else { throw .cut }
        let flags = bytes.number16(0)
        let header = Self.greOptions.reduce(4) { $0 + (flags & $1 != 0 ? 4 : 0) }
        guard bytes.count >= header else { throw .cut }
        let content = bytes.dropFirst(header)
        let inner: ArraySlice<UInt8>
        switch bytes.number16(2) {
        case 0x0800, 0x86DD: inner = content
        case 0x6558: inner = try LinkLayer.content(of: content, 1)
        case 0x880B: inner = try LinkLayer.content(of: content, 9)
        default: throw .unread(packet.next, packet.source, packet.target)
        }
        return try readNetwork(inner, time, depth: depth + 1)
    }

    /// What stands in GTP-U (3GPP TS 29.281 §5) or VXLAN (RFC 7348 §5).
    ///
    /// - Returns: `nil` for what is neither, whatever its port is.
    private mutating func readTunnel(
        _ datagram: UDPDatagram, _ depth: Int
    ) throws(PacketRefusal) -> Carried? {
        guard let content = datagram.gtpContent ?? datagram.vxlanContent else { return nil }
        do throws(PacketRefusal) {
            return try readNetwork(content, datagram.at, depth: depth + 1)
        } catch {
            guard case .unread = error else { return nil }
            throw error
        }
    }
}

/// Why nothing is taken out of a packet.
enum PacketRefusal: Error, Equatable {
    case linkType(UInt16)
    /// It is too short for what it says.
    case cut
    /// Fragments of one packet say different things of the same place.
    case overlap
    /// It carries no IP.
    case notIP
    /// IP, with a protocol of this number that is not read.
    case unread(UInt8, PacketEndpoint, PacketEndpoint)
}

extension ArraySlice<UInt8> {
    /// Two bytes in the order of the network, counted from the slice's start.
    func number16(_ place: Int) -> UInt16 {
        UInt16(self[startIndex + place]) << 8 | UInt16(self[startIndex + place + 1])
    }
}
