internal import Base
internal import Traffic

/// Makes the packets of one TCP connection (RFC 9293) over IP: as if nothing was ever lost.
struct TCPConversation {
    private let client: PacketEndpoint
    private let origin: PacketEndpoint
    /// By `Direction.rawValue`: of the next byte.
    private var numbers: [2 of UInt32]
    /// By `Direction.rawValue`: of the packets.
    private var identifications: [2 of UInt16] = [0, 0]
    /// By `Direction.rawValue`.
    private var isEnded: [2 of Bool] = [false, false]

    private enum Flag {
        static let fin: UInt8 = 1
        static let syn: UInt8 = 2
        static let rst: UInt8 = 4
        static let psh: UInt8 = 8
        static let ack: UInt8 = 16
    }

    /// - Parameter seed: of the first sequence numbers, which differ from the last connection of
    ///   the same ports with it.
    init(client: PacketEndpoint, origin: PacketEndpoint, seed: UInt32) {
        let isVersion4 = client.address.count == 4 && origin.address.count == 4
        self.client = isVersion4 ? client : client.asIPv6
        self.origin = isVersion4 ? origin : origin.asIPv6
        numbers = [seed &* 0x9E37_79B1, seed &* 0x85EB_CA6B &+ 0x1000]
    }

    /// The largest content of a packet, in bytes: what fits into 1500.
    private var segmentSize: Int { client.address.count == 4 ? 1460 : 1440 }

    /// The three packets that open a connection.
    mutating func opened() -> [[UInt8]] {
        let size = UInt16(segmentSize).bigEndianBytes
        // The largest segment, and a window in units of 2^14 bytes (RFC 7323 §2.2).
        let options = [2, 4] + size + [1, 3, 3, 14]
        let first = packet(.request, Flag.syn, [], options: options)
        numbers[0] &+= 1
        let second = packet(.response, Flag.syn | Flag.ack, [], options: options)
        numbers[1] &+= 1
        return [first, second, packet(.request, Flag.ack, [])]
    }

    /// The packets that carry bytes.
    mutating func packets(_ direction: Direction, _ bytes: ArraySlice<UInt8>) -> [[UInt8]] {
        var result: [[UInt8]] = []
        var rest = bytes
        while !rest.isEmpty, !isEnded[direction.rawValue] {
            let content = rest.prefix(segmentSize)
            rest = rest.dropFirst(content.count)
            let flags = rest.isEmpty ? Flag.psh | Flag.ack : Flag.ack
            result.append(packet(direction, flags, content))
            numbers[direction.rawValue] &+= UInt32(content.count)
        }
        return result
    }

    /// The packets that close it.
    ///
    /// - Parameter first: whose end comes first; the other one answers.
    mutating func closed(by first: Direction, reset: Bool) -> [[UInt8]] {
        if reset { return [packet(first, Flag.rst | Flag.ack, [])] }
        var result: [[UInt8]] = []
        for direction in [first, first == .request ? .response : .request] {
            result.append(packet(direction, Flag.fin | Flag.ack, []))
            numbers[direction.rawValue] &+= 1
            isEnded[direction.rawValue] = true
        }
        result.append(packet(first, Flag.ack, []))
        return result
    }

    private mutating func packet(
        _ direction: Direction, _ flags: UInt8, _ content: ArraySlice<UInt8>,
        options: [UInt8] = []
    ) -> [UInt8] {
        let (source, target) = direction == .request ? (client, origin) : (origin, client)
        let other = direction == .request ? 1 : 0
        let acknowledged = flags & Flag.ack == 0 ? 0 : numbers[other]
        let length = 20 + options.count + content.count
        var segment: [UInt8] = []
        segment.reserveCapacity(length)
        segment += source.port.bigEndianBytes + target.port.bigEndianBytes
        segment += numbers[direction.rawValue].bigEndianBytes + acknowledged.bigEndianBytes
        segment += [UInt8((20 + options.count) / 4) << 4, flags, 0xFF, 0xFF, 0, 0, 0, 0]
        segment += options
        segment += content
        let pseudo =
            source.address + target.address + UInt32(length).bigEndianBytes + [0, 0, 0, 6]
        let sum = InternetChecksum.of(segment, after: pseudo).bigEndianBytes
        segment[16] = sum[0]
        segment[17] = sum[1]
        if !source.isVersion6 { identifications[direction.rawValue] &+= 1 }
        return IPHeader.bytes(
            before: length, of: 6, source, target, identifications[direction.rawValue]) + segment
    }
}

/// The header of a packet of IP (RFC 791, RFC 8200).
enum IPHeader {
    /// - Parameters:
    ///   - length: of what follows, in bytes.
    ///   - next: the number of its protocol.
    ///   - identification: of the packet, in version 4.
    static func bytes(
        before length: Int, of next: UInt8, _ source: PacketEndpoint, _ target: PacketEndpoint,
        _ identification: UInt16
    ) -> [UInt8] {
        if source.isVersion6 {
            return [0x60, 0, 0, 0] + UInt16(length).bigEndianBytes + [next, 64]
                + source.address + target.address
        }
        var header = [0x45, 0] + UInt16(20 + length).bigEndianBytes
        header += identification.bigEndianBytes + [0x40, 0, 64, next, 0, 0]
        header += source.address + target.address
        let sum = InternetChecksum.of(header, after: []).bigEndianBytes
        header[10] = sum[0]
        header[11] = sum[1]
        return header
    }
}

/// The checksum of IP and TCP (RFC 1071).
enum InternetChecksum {
    /// - Parameter prefix: of an even number of bytes.
    static func of(_ bytes: [UInt8], after prefix: [UInt8]) -> UInt16 {
        var sum = add(prefix, to: 0)
        sum = add(bytes, to: sum)
        while sum > 0xFFFF { sum = sum & 0xFFFF + sum >> 16 }
        return ~UInt16(truncatingIfNeeded: sum)
    }

    private static func add(_ bytes: [UInt8], to start: UInt64) -> UInt64 {
        let span = bytes.span
        var sum = start
        var index = 0
        while index + 1 < span.count {
            sum &+= UInt64(span[index]) << 8 | UInt64(span[index + 1])
            index += 2
        }
        if index < span.count { sum &+= UInt64(span[index]) << 8 }
        return sum
    }
}
