import Base
import TLS
import Testing

@testable import PacketFormats

struct PacketFileReaderTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let hex: String
        let events: [String]
        var violation: PacketFileReader.Violation?

        init(
            _ name: String, _ hex: String, _ events: [String],
            _ violation: PacketFileReader.Violation? = nil
        ) {
            testDescription = name
            self.hex = hex.filter { $0 != " " }
            self.events = events
            self.violation = violation
        }
    }

    static let pcap = "d4c3b2a1 0200 0400 00000000 00000000 00000400 65000000"
    static let section = "0a0d0d0a 1c000000 4d3c2b1a 0100 0000 ffffffffffffffff 1c000000"
    static let interface =
        "01000000 20000000 6500 0000 00000000 0900 0100 09000000 0000 0000 20000000"

    static let rows = [
        Row(
            "pcap", pcap + "01000000 02000000 02000000 05000000 abcd",
            ["packet 101 1000002 abcd"]),
        Row(
            "pcap in the other order, in nanoseconds",
            "a1b23c4d 0002 0004 00000000 00000000 00040000 00000001"
                + "00000001 000007d0 00000001 00000001 ab", ["packet 1 1000002 ab"]),
        Row(
            "a packet too long", pcap + "01000000 02000000 000000f0 05000000", [],
            .packetLength(0xF000_0000, at: 24)),
        Row(
            "pcapng",
            section + interface
                + "06000000 24000000 00000000 00000000 00e40b54 02000000 02000000 abcd0000 24000000",
            ["packet 101 1410065 abcd"]),
        Row(
            "pcapng in the other order",
            "0a0d0d0a 0000001c 1a2b3c4d 0001 0000 ffffffffffffffff 0000001c"
                + "00000001 00000014 0001 0000 00000000 00000014"
                + "00000006 00000024 00000000 00000000 00000005 00000001 00000001 ab000000 00000024",
            ["packet 1 5 ab"]),
        Row(
            "secrets, and blocks that are not known",
            section + "0b000000 0c000000 0c000000"
                + "0a000000 18000000 4b534c54 03000000 61620a00 18000000", ["secrets ab\n"]),
        Row(
            "a packet of no interface",
            section
                + "06000000 24000000 00000000 00000000 00000000 02000000 02000000 abcd0000 24000000",
            []),
        Row("no packets", "504b0304", [], .notPackets),
        Row(
            "a block too short", section + "06000000 08000000 08000000", [],
            .blockLength(8, at: 28)),
        Row(
            "lengths that differ", section + "0b000000 0c000000 10000000", [],
            .blockLength(12, at: 28)),
        Row("no order of bytes", "0a0d0d0a 1c000000 00000000", [], .badMagic(at: 0)),
    ]

    @Test("Both formats are read, whole and byte by byte", arguments: rows)
    func reads(_ row: Row) throws {
        let file = try #require(bytes(fromHex: row.hex))
        let whole = read(file, pieces: file.count)
        #expect(whole.events == row.events)
        #expect(whole.violation == row.violation)
        let single = read(file, pieces: 1)
        #expect(single.events == row.events)
        #expect(single.violation == row.violation)
        for end in file.indices {
            let part = read([UInt8](file[..<end]), pieces: max(1, end))
            #expect(row.events.starts(with: part.events))
        }
    }

    private func read(
        _ file: [UInt8], pieces: Int
    ) -> (events: [String], violation: PacketFileReader.Violation?) {
        var reader = PacketFileReader()
        var events: [String] = []
        for start in stride(from: 0, to: file.count, by: pieces) {
            reader.append([UInt8](file[start..<min(file.count, start + pieces)]))
            do throws(PacketFileReader.Violation) {
                while let event = try reader.next() {
                    switch event {
                    case .packet(let packet):
                        let time = packet.at.microseconds
                        events.append("packet \(packet.linkType) \(time) \(packet.bytes.hex)")
                    case .secrets(let text): events.append("secrets \(text.text)")
                    case .application(let name): events.append("application \(name)")
                    }
                }
            } catch {
                return (events, error)
            }
        }
        return (events, nil)
    }

    @Test("Keys come of a secret as RFC 8448 §3 shows")
    func keys() throws {
        let secret = try #require(
            bytes(fromHex: "b67b7d690cc16c4e75e54213cb2d37b4e9c912bcded9105d42befd59d391ad38"))
        #expect(
            KeyHash.sha256.expand(secret, "key", count: 16).hex
                == "3fce516009c21727d0f2e4e86ee403bc")
        #expect(KeyHash.sha256.expand(secret, "iv", count: 12).hex == "5d313eb2671276ee13000b30")
    }

    @Test(
        "Addresses are read and spelled",
        arguments: [
            "127.0.0.1:80", "[::1]:443", "[2001:db8::7]:1", "[fe80::1:2:3:4]:9",
            "[::ffff:7f00:1]:5", "[1:2:3:4:5:6:7:8]:65535", "[::]:0",
        ])
    func addresses(_ text: String) {
        #expect(PacketEndpoint(text: text)?.text == text)
    }

    @Test(
        "What is no address is refused",
        arguments: [
            "", "localhost:80", "1.2.3:4", "1.2.3.256:4", "[1::2::3]:4", "[1:2]:3", "::1",
            "[g::]:1",
            "127.0.0.1:70000",
        ])
    func noAddresses(_ text: String) {
        #expect(PacketEndpoint(text: text) == nil)
    }
}
