import Testing

@testable import Confinement

/// What the kernel and, inside of packets, the command sends.
struct NetlinkMessageTests {
    @Test(
        arguments: [
            ("an IPv4 datagram", four, 17, 53),
            ("with options", [0x46] + four[1..<20] + [0, 0, 0, 0] + four[20...], 17, 53),
            ("an IPv6 datagram", six, 17, 443),
            ("another transport", four.prefix(9) + [1] + four[10...], 1, 0),
            ("a lying header length", [0x4F] + four[1...], 17, 0),
            ("a header that is too short", [0x41] + four[1...], 17, 0),
        ] as [(String, [UInt8], UInt8, UInt16)])
    func packetsAreRead(name: String, packet: [UInt8], transport: UInt8, port: UInt16) throws {
        let attempt = try #require(DatagramAttempt(kind: .udp, packet: packet[...]), "\(name)")
        #expect(attempt.transport == transport)
        #expect(attempt.destinationPort == port)
    }

    @Test(arguments: [four, six])
    func cutPacketsDoNoHarm(packet: [UInt8]) {
        for count in 0...packet.count {
            _ = DatagramAttempt(kind: .udp, packet: packet.prefix(count))
        }
        #expect(DatagramAttempt(kind: .udp, packet: []) == nil)
        #expect(DatagramAttempt(kind: .udp, packet: packet.prefix(19)) == nil)
    }

    @Test func messagesAreReadAsTheyAreWritten() {
        var writer = NetlinkWriter()
        for kind in ["quic", "udp"] {
            writer.message(type: 4 << 8, flags: 0) {
                FilterRules.header(&$0, family: 2, resource: 443)
                $0.attribute(10, text: kind)
                $0.attribute(9, Self.four)
            }
        }
        let attempts = DatagramAttemptReader.attempts(writer.bytes[...])
        #expect(attempts.map(\.kind) == [.quic, .udp])
        #expect(attempts.allSatisfy { $0.payload == [1, 2, 3] })
        for count in 0..<writer.bytes.count {
            #expect(DatagramAttemptReader.attempts(writer.bytes.prefix(count)).count <= 1)
        }
        // Each byte as the worst of lengths.
        for index in writer.bytes.indices {
            for value: UInt8 in [0, 1, 0xFF] {
                var bytes = writer.bytes
                bytes[index] = value
                _ = DatagramAttemptReader.attempts(bytes[...])
            }
        }
    }

    @Test(arguments: [
        ConfinementLimit.onlyPorts(ConfinementLimit.ports), .attemptsNotListed("a reason"),
        .filesNotLaid("another: one"),
    ])
    func limitsComeBack(limit: ConfinementLimit) {
        #expect(ConfinementLimit(line: limit.line) == limit)
    }

    private static let four: [UInt8] =
        [0x45, 0, 0, 31, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]
        + [0x12, 0x34, 0, 53, 0, 11, 0, 0, 1, 2, 3]
    private static let six: [UInt8] =
        [0x60, 0, 0, 0, 0, 11, 17, 64] + [UInt8](repeating: 1, count: 32)
        + [0x12, 0x34, 1, 0xBB, 0, 11, 0, 0, 1, 2, 3]
}
