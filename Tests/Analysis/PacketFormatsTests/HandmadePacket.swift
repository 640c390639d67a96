import Base
import Traffic

@testable import PacketFormats

/// Packets made by hand, without checksums.
enum HandmadePacket {
    static func version4(
        _ next: UInt8, _ content: [UInt8], from source: [UInt8] = [10, 0, 0, 1],
        to target: [UInt8] = [10, 0, 0, 2], identification: UInt16 = 0, place: UInt16 = 0
    ) -> [UInt8] {
        [0x45, 0] + UInt16(20 + content.count).bigEndianBytes + identification.bigEndianBytes
            + place.bigEndianBytes + [64, next, 0, 0] + source + target + content
    }

    static func version6(_ next: UInt8, _ content: [UInt8]) -> [UInt8] {
        let ends: [UInt8] = [0x20, 1, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11)
        return [0x60, 0, 0, 0] + UInt16(content.count).bigEndianBytes + [next, 64] + ends + [1]
            + ends + [2] + content
    }

    static func segment(_ number: UInt32, _ text: String, flags: UInt8 = 0x10) -> [UInt8] {
        version4(6, tcp(number, text, flags: flags))
    }

    static func tcp(_ number: UInt32, _ text: String, flags: UInt8 = 0x10) -> [UInt8] {
        [0xC0, 0, 1, 0xBB] + number.bigEndianBytes + [0, 0, 0, 0, 0x50, flags, 0, 0, 0, 0, 0, 0]
            + [UInt8](text.utf8)
    }

    static func udp(_ source: UInt16, _ target: UInt16, _ content: [UInt8]) -> [UInt8] {
        source.bigEndianBytes + target.bigEndianBytes
            + UInt16(8 + content.count).bigEndianBytes + [0, 0] + content
    }

    static func caught(_ bytes: [UInt8], link type: UInt16 = 101) -> CaughtPacket {
        CaughtPacket(
            linkType: type, interface: "", at: Timestamp(microseconds: 1), bytes: bytes)
    }
}
