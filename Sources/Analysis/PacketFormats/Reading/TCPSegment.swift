internal import Base

/// A segment of TCP out of a packet.
struct TCPSegment: Equatable {
    let source: PacketEndpoint
    let target: PacketEndpoint
    let number: UInt32
    let isSYN: Bool
    let isACK: Bool
    let isFIN: Bool
    let isRST: Bool
    let content: ArraySlice<UInt8>
    let at: Timestamp

    /// Takes a packet's content apart (RFC 9293 §3.1).
    init(_ packet: IPPacket, at time: Timestamp) throws(PacketRefusal) {
        let bytes = packet.content
        guard bytes.count >= 20 else { throw .cut }
        let start = bytes.startIndex
        let headerLength = Int(bytes[start + 12] >> 4) * 4
        guard headerLength >= 20, headerLength <= bytes.count else { throw .cut }
        source = packet.source.with(port: bytes.number16(0))
        target = packet.target.with(port: bytes.number16(2))
        number = UInt32(bytes.number16(4)) << 16 | UInt32(bytes.number16(6))
        let flags = bytes[start + 13]
        (isFIN, isSYN) = (flags & 1 != 0, flags & 2 != 0)
        (isRST, isACK) = (flags & 4 != 0, flags & 16 != 0)
        content = bytes.dropFirst(headerLength)
        at = time
    }
}
