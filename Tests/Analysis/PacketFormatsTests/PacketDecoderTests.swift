import Base
import TestConditions
import Testing
import Traffic

@testable import PacketFormats

struct PacketDecoderTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let link: UInt16
        let before: [UInt8]

        init(_ name: String, _ link: UInt16, _ before: [UInt8]) {
            testDescription = name
            self.link = link
            self.before = before
        }
    }

    private static let inner = HandmadePacket.segment(7, "abc")
    private static let ethernet = [UInt8](repeating: 0, count: 12)

    static let rows = [
        Row("Ethernet", 1, ethernet + [8, 0]),
        Row("a virtual network", 1, ethernet + [0x81, 0, 0, 1, 8, 0]),
        Row("a network in another", 1, ethernet + [0x88, 0xA8, 0, 1, 0x81, 0, 0, 2, 8, 0]),
        Row("LLC and SNAP", 1, ethernet + [0, 60, 0xAA, 0xAA, 3, 0, 0, 0, 8, 0]),
        Row("PPPoE", 1, ethernet + [0x88, 0x64, 0x11, 0, 0, 1, 0, 45, 0, 0x21]),
        Row("MPLS", 1, ethernet + [0x88, 0x47, 0, 1, 0, 64, 0, 2, 1, 64]),
        Row("PPP", 9, [0xFF, 3, 0, 0x21]), Row("PPP, short", 9, [0x21]),
        Row("Cisco HDLC", 104, [0x0F, 0, 8, 0]), Row("raw", 101, []), Row("raw, 4", 228, []),
        Row("raw, BSD", 12, []), Row("loopback", 0, [2, 0, 0, 0]),
        Row("loopback, OpenBSD", 108, [0, 0, 0, 2]),
        Row("Linux, cooked", 113, [UInt8](repeating: 0, count: 14) + [8, 0]),
        Row("Linux, cooked 2", 276, [8, 0] + [UInt8](repeating: 0, count: 18)),
        Row("IP in IP", 101, header4(4, [])),
        Row("IP in IPv6", 101, header6(4, [])),
        Row("GRE", 101, header4(47, [0, 0, 8, 0])),
        Row(
            "GRE with all options", 101,
            header4(47, [0xB0, 0, 8, 0] + [UInt8](repeating: 0, count: 12))),
        Row("GRE with Ethernet", 101, header4(47, [0, 0, 0x65, 0x58] + ethernet + [8, 0])),
        Row(
            "PPTP", 101,
            header4(47, [0x30, 1, 0x88, 0x0B, 0, 47, 0, 1, 0, 0, 0, 1, 0xFF, 3, 0, 0x21])),
        Row("options before it", 101, header6(0, [60] + padding + [4] + padding)),
        Row(
            "GTP-U", 101,
            header4(17, datagram(2152, [0x30, 0xFF, 0, UInt8(inner.count), 0, 0, 0, 1]))),
        Row(
            "GTP-U with an extension", 101,
            header4(
                17,
                datagram(
                    2152,
                    [0x34, 0xFF, 0, UInt8(inner.count + 8), 0, 0, 0, 1, 0, 0, 0, 0x85, 1, 0, 9, 0]))
        ),
        Row(
            "VXLAN", 101,
            header4(17, datagram(4789, [8, 0, 0, 0, 0, 0, 1, 0] + ethernet + [8, 0]))),
    ]

    private static let padding: [UInt8] = [0, 1, 4, 0, 0, 0, 0]

    /// The header of a packet in which another follows `content`.
    private static func header4(_ next: UInt8, _ content: [UInt8]) -> [UInt8] {
        [UInt8](HandmadePacket.version4(next, content + inner).dropLast(inner.count))
    }

    private static func header6(_ next: UInt8, _ content: [UInt8]) -> [UInt8] {
        [UInt8](HandmadePacket.version6(next, content + inner).dropLast(inner.count))
    }

    private static func datagram(_ port: UInt16, _ content: [UInt8]) -> [UInt8] {
        [UInt8](HandmadePacket.udp(40_000, port, content + inner).dropLast(inner.count))
    }

    @Test("What is around a packet is taken off", arguments: rows)
    func takesOff(_ row: Row) throws {
        var decoder = PacketDecoder()
        let expected = try TCPSegment(
            IPPacket(Self.inner[...]), at: Timestamp(microseconds: 1))
        let whole = row.before + Self.inner
        #expect(
            try decoder.read(HandmadePacket.caught(whole, link: row.link)) == .segment(expected))
        // Filled up, as Ethernet does.
        #expect(
            try decoder.read(HandmadePacket.caught(whole + [0, 0], link: row.link))
                == .segment(expected))
        for end in whole.indices {
            let cut = HandmadePacket.caught([UInt8](whole[..<end]), link: row.link)
            #expect(throws: PacketRefusal.self) { try decoder.read(cut) }
        }
    }

    @Test("Packets in one another have an end")
    func nests() {
        var packet = Self.inner
        for _ in 0..<9 { packet = HandmadePacket.version4(4, packet) }
        var decoder = PacketDecoder()
        #expect(throws: PacketRefusal.self) { try decoder.read(HandmadePacket.caught(packet)) }
    }

    // MARK: Fragments

    private static let whole = HandmadePacket.tcp(7, "0123456789abcdef")

    /// Pieces of a packet, in units of eight bytes.
    private static func piece(
        _ start: Int, _ end: Int, isVersion6: Bool, isLast: Bool, _ bytes: [UInt8] = whole
    ) -> [UInt8] {
        let content = [UInt8](bytes[(start * 8)..<min(end * 8, bytes.count)])
        guard isVersion6 else {
            return HandmadePacket.version4(
                6, content, identification: 9, place: UInt16(start) | (isLast ? 0 : 0x2000))
        }
        let place = UInt16(start) << 3 | (isLast ? 0 : 1)
        return HandmadePacket.version6(44, [6, 0] + place.bigEndianBytes + [0, 0, 0, 9] + content)
    }

    struct Fragments: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// Where each begins and ends, of a packet of 36 bytes.
        let places: [(Int, Int)]
        var isRefused = false
        var isWhole = true
    }

    static let fragments = [
        Fragments(testDescription: "in order", places: [(0, 2), (2, 4), (4, 5)]),
        Fragments(testDescription: "in any order", places: [(4, 5), (0, 2), (2, 4)]),
        Fragments(testDescription: "one twice", places: [(0, 2), (0, 2), (2, 5)]),
        Fragments(testDescription: "one missing", places: [(0, 2), (4, 5)], isWhole: false),
        Fragments(
            testDescription: "overlapping", places: [(0, 3), (2, 5)], isRefused: true,
            isWhole: false),
        Fragments(
            testDescription: "another within one", places: [(0, 4), (1, 2)], isRefused: true,
            isWhole: false),
    ]

    @Test("Fragments are put together; those that overlap are refused", arguments: fragments)
    func putsTogether(_ row: Fragments) throws {
        for isVersion6 in [false, true] {
            var decoder = PacketDecoder()
            var found: [PacketDecoder.Carried] = []
            var isRefused = false
            for (start, end) in row.places {
                let bytes = Self.piece(
                    start, end, isVersion6: isVersion6, isLast: end * 8 >= Self.whole.count)
                do {
                    if let carried = try decoder.read(HandmadePacket.caught(bytes)) {
                        found.append(carried)
                    }
                } catch {
                    #expect(error == .overlap)
                    isRefused = true
                }
            }
            #expect(isRefused == row.isRefused)
            #expect(found.count == (row.isWhole ? 1 : 0))
            if case .segment(let segment)? = found.first {
                #expect([UInt8](segment.content) == [UInt8]("0123456789abcdef".utf8))
            }
            #expect(decoder.unfinishedCount == (row.isWhole || row.isRefused ? 0 : 1))
        }
    }

    /// One identification again and again, refused or made whole by its second piece.
    @Test("Identifications that come again cost no more", .processorTime(below: .seconds(60)))
    func repetition() throws {
        for second in [2, 1] as [UInt16] {
            var store = FragmentStore()
            var wholeCount = 0
            for _ in 0..<40_000 {
                for place in [0x2000, second] {
                    let bytes = HandmadePacket.version4(
                        17, [UInt8](repeating: 1, count: 16), identification: 1, place: place)
                    do {
                        if try store.take(IPPacket(bytes[...])) != nil { wholeCount += 1 }
                    } catch {
                        #expect(error == .overlap)
                    }
                }
            }
            #expect(wholeCount == (second == 2 ? 40_000 : 0))
            #expect(store.heldCount == 0)
        }
    }

    @Test("Packets that never become whole take a bounded space")
    func flood() throws {
        var store = FragmentStore()
        for number in 0..<3000 as Range<UInt16> {
            let bytes = HandmadePacket.version4(
                17, [UInt8](repeating: 1, count: 1480), identification: number, place: 0x2000)
            #expect(try store.take(IPPacket(bytes[...])) == nil)
        }
        #expect(store.unfinishedCount == 3000)
        #expect(store.heldCount <= 4 << 20)
    }
}
