internal import Base

/// Files of packets, made by hand so that nothing in them need be sound.
enum Packets {
    /// One connection: its beginning, a request with its response, its end.
    static let conversation: [[UInt8]] = segments(
        of: Turns.seed(
            ">GET / HTTP/1.1\r\nHost: h\r\n\r\n", "<HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    )

    /// Datagrams, whole, in a tunnel and in two fragments.
    static let datagrams: [[UInt8]] = {
        let question =
            [1, 2, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 4] + Array("_ipp".utf8) + [4] + Array("_tcp".utf8)
            + [5] + Array("local".utf8) + [0, 0, 12, 0, 1]
        let community: [UInt8] =
            [0x30, 20, 2, 1, 1, 4, 2, 0x61, 0x62, 0xA0, 11, 2, 1, 7, 2, 1, 0, 2, 1, 0, 0x30, 0]
        let search = Array("M-SEARCH * HTTP/1.1\r\nST: ssdp:all\r\n\r\n".utf8)
        let asked = ip(17, udp(5353, question))
        let whole = udp(1900, search)
        return [
            asked, ip(17, udp(161, community)), ip(47, [0, 0, 8, 0] + asked), ip(4, asked),
            ip(17, whole[..<24], place: 0x2000), ip(17, whole[24...], place: 3),
            ip(17, udp(2152, [0x30, 0xFF, 0, UInt8(asked.count), 0, 0, 0, 1] + asked)),
            ip(132, [1, 2, 3, 4]),
        ]
    }()

    private static func udp(_ port: UInt16, _ content: [UInt8]) -> [UInt8] {
        let length = content.count + 8
        return [0xC0, 0, UInt8(port >> 8), UInt8(port & 255), 0, UInt8(length & 255), 0, 0]
            + content
    }

    private static func ip(
        _ next: UInt8, _ content: some Collection<UInt8>, place: UInt16 = 0
    ) -> [UInt8] {
        [
            0x45, 0, 0, UInt8((content.count + 20) & 255), 0, 9, UInt8(place >> 8),
            UInt8(place & 255), 64, next, 0, 0, 10, 0, 0, 1, 224, 0, 0, 251,
        ] + content
    }

    /// The segments of a connection in which two sides say what an input of turns holds.
    static func segments(of bytes: [UInt8]) -> [[UInt8]] {
        var numbers: [UInt32] = [1000, 2000]
        var segments = [packet(true, 999, 0x02, []), packet(false, 1999, 0x12, [])]
        for turn in Turns.read(bytes) {
            let side = turn.isClient ? 0 : 1
            segments.append(packet(turn.isClient, numbers[side], 0x18, bytes[turn.bytes]))
            numbers[side] &+= UInt32(turn.bytes.count)
        }
        return segments + [packet(true, numbers[0], 0x11, []), packet(false, numbers[1], 0x11, [])]
    }

    /// IPv4 and TCP without options; checksums are left out.
    private static func packet(
        _ isClient: Bool, _ number: UInt32, _ flags: UInt8, _ content: some Collection<UInt8>
    ) -> [UInt8] {
        let length = 40 + content.count
        let ends: [[UInt8]] = [[10, 0, 0, 1], [10, 0, 0, 2]]
        let ports: [[UInt8]] = [[0xC0, 0], [0, 80]]
        let (source, target) = isClient ? (0, 1) : (1, 0)
        var bytes: [UInt8] = [
            0x45, 0, UInt8(length >> 8), UInt8(length & 255), 0, 0, 0x40, 0, 64, 6,
        ]
        bytes += [0, 0] + ends[source] + ends[target] + ports[source] + ports[target]
        bytes += big(number) + big(0) + [0x50, flags, 0xFF, 0xFF, 0, 0, 0, 0]
        return bytes + content
    }

    /// Link type 101: an IP packet and nothing in front of it.
    static func pcap(_ packets: [[UInt8]]) -> [UInt8] {
        var bytes = little(0xA1B2_C3D4) + [2, 0, 4, 0] + little(0) + little(0) + little(65_535)
        bytes += little(101)
        for (index, packet) in packets.enumerated() {
            bytes += little(1_700_000_000) + little(UInt32(index)) + little(UInt32(packet.count))
            bytes += little(UInt32(packet.count)) + packet
        }
        return bytes
    }

    static func pcapng(_ packets: [[UInt8]]) -> [UInt8] {
        var bytes = block(
            0x0A0D_0D0A, little(0x1A2B_3C4D) + [1, 0, 0, 0] + [UInt8](repeating: 0xFF, count: 8))
        bytes += block(1, [101, 0, 0, 0] + little(0) + [2, 0, 2, 0, 0x65, 0x6E, 0, 0] + little(0))
        bytes += block(10, Array("TLSK".utf8.reversed()) + little(4) + Array("abc\n".utf8))
        for (index, packet) in packets.enumerated() {
            let padding = [UInt8](repeating: 0, count: (4 - packet.count % 4) % 4)
            bytes += block(
                6,
                little(0) + little(0x0006_0000) + little(UInt32(index))
                    + little(UInt32(packet.count)) + little(UInt32(packet.count)) + packet + padding
            )
        }
        return bytes
    }

    private static func block(_ type: UInt32, _ body: [UInt8]) -> [UInt8] {
        let length = little(UInt32(body.count + 12))
        return little(type) + length + body + length
    }

    private static func big(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
    }

    private static func little(_ value: UInt32) -> [UInt8] { big(value).reversed() }
}
