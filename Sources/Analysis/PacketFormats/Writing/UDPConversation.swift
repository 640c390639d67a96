internal import Base
internal import Traffic

/// Makes the packets of a flow of UDP (RFC 768) over IP.
struct UDPConversation {
    private let client: PacketEndpoint
    private let origin: PacketEndpoint
    private var identification: UInt16 = 0

    /// In bytes, of a datagram's content: what a packet of IPv4 can hold.
    private static let contentLimit = 65_507

    /// - Returns: `nil` if an end has no address.
    init?(_ record: ConnectionRecord) {
        let host = record.originHost
        let asked = HostPort.bracketed(host) + ":\(record.originPort)"
        guard let client = PacketEndpoint(text: record.client),
            let origin = PacketEndpoint(text: record.originAddress ?? asked)
        else { return nil }
        let isVersion4 = !client.isVersion6 && !origin.isVersion6
        self.client = isVersion4 ? client : client.asIPv6
        self.origin = isVersion4 ? origin : origin.asIPv6
    }

    /// - Returns: `nil` for a content that no datagram can have.
    mutating func packet(_ direction: Direction, _ content: [UInt8]) -> [UInt8]? {
        guard content.count <= Self.contentLimit else { return nil }
        let (source, target) = direction == .request ? (client, origin) : (origin, client)
        let length = 8 + content.count
        var datagram = source.port.bigEndianBytes + target.port.bigEndianBytes
        datagram += UInt16(length).bigEndianBytes + [0, 0] + content
        let pseudo =
            source.address + target.address + UInt32(length).bigEndianBytes + [0, 0, 0, 17]
        let sum = InternetChecksum.of(datagram, after: pseudo)
        // 0 says that there is none.
        datagram.replaceSubrange(6..<8, with: (sum == 0 ? 0xFFFF : sum).bigEndianBytes)
        identification &+= 1
        return IPHeader.bytes(before: length, of: 17, source, target, identification) + datagram
    }
}
