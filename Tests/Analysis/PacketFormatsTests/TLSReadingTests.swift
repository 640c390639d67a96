import Base
import Testing
import Traffic

@testable import PacketFormats

/// Handshake messages that break off, or say what they do not hold.
struct TLSReadingTests {
    private static func record(_ content: [UInt8]) -> [UInt8] {
        [22, 3, 3, UInt8(content.count >> 8), UInt8(content.count & 0xFF)] + content
    }

    private static func message(_ type: UInt8, _ body: [UInt8]) -> [UInt8] {
        [type, 0, UInt8(body.count >> 8), UInt8(body.count & 0xFF)] + body
    }

    /// Version, random, session of 32 bytes, suite, compression, extensions with the version.
    private static let serverHello: [UInt8] =
        [3, 3] + [UInt8](repeating: 7, count: 32) + [32] + [UInt8](repeating: 8, count: 32)
        + [0x13, 0x01, 0, 0, 6, 0, 43, 0, 2, 3, 4]

    @Test(arguments: [UInt8](1...24))
    func readsMessagesOfAnyLength(type: UInt8) {
        for length in 0...Self.serverHello.count {
            for direction in [Direction.request, .response] {
                var reading = TLSReading(KeyRing())
                let body = Array(Self.serverHello.prefix(length))
                reading.read(Self.record(Self.message(type, body)), direction)
                if type == 2, direction == .response {
                    #expect((reading.obstacle == nil) == (length >= 70), "\(length)")
                }
            }
        }
    }

    /// Lengths inside of the messages that go beyond them.
    @Test(arguments: [UInt8(0), 1, 0x7F, 0xFF], [UInt8(1), 2, 8, 11])
    func readsLengthsOfAnySize(length: UInt8, type: UInt8) {
        for place in Self.serverHello.indices {
            var body = Self.serverHello
            body[place] = length
            for direction in [Direction.request, .response] {
                let message = Self.message(type, body)
                var whole = TLSReading(KeyRing())
                for _ in 0..<2 { whole.read(Self.record(message), direction) }
                var parts = TLSReading(KeyRing())
                for piece in [message[..<9], message[9...], message[...]] {
                    parts.read(Self.record(Array(piece)), direction)
                }
                #expect(parts.obstacle == whole.obstacle)
                #expect(parts.record.version == whole.record.version)
            }
        }
    }

    /// A record may hold thousands; all are read, whatever stands before the last.
    @Test func readsManyMessagesOfOneRecord() {
        var reading = TLSReading(KeyRing())
        let many = (0..<3000).flatMap { _ in Self.message(0, []) }
        for _ in 0..<20 { reading.read(Self.record(many), .response) }
        reading.read(Self.record(many + Self.message(2, Self.serverHello)), .response)
        #expect(reading.obstacle == nil)
        #expect(reading.record.version == "TLSv1.3")
        // One that comes in parts, behind others.
        var parts = TLSReading(KeyRing())
        let hello = Self.message(2, Self.serverHello)
        for byte in many.prefix(400) + hello { parts.read(Self.record([byte]), .response) }
        #expect(parts.record.version == "TLSv1.3")
    }
}
