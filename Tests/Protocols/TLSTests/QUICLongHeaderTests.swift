import Base
import Testing

@testable import TLS

@Suite struct QUICLongHeaderTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let hex: String
        let version: String?

        init(_ name: String, _ hex: String, _ version: String?) {
            testDescription = name
            self.hex = hex
            self.version = version
        }
    }

    @Test(arguments: [
        Row("version 1", "c0 00000001 08 8394c8f03e515708 00 00449e", "v1"),
        Row("version 2", "d7 6b3343cf 08 8394c8f03e515708 00 00449e", "v2"),
        Row("ids of no length", "c0 00000001 00 00", "v1"),
        Row("a draft", "c3 ff00001d 01 01 02 0202", "draft-29"),
        Row("Google's", "c3 51303530 08 0102030405060708 00", "Q050"),
        Row("Google's with TLS", "c3 54303531 08 0102030405060708 00", "T051"),
        Row("a reserved version", "c3 baca0aea 01 01 00", "0xbaca0aea"),
        Row("negotiation", "c3 00000000 01 01 00 00000001", "negotiation"),
        Row("a short header", "40 00000001 01 01 00 00", nil),
        Row("no fixed bit", "80 00000001 01 01 00 00", nil),
        Row("six bytes", "c0 00000001 00", nil),
        Row("an id cut off", "c0 00000001 05 01020304", nil),
        Row("the other id cut off", "c0 00000001 01 01 02 05", nil),
        Row("a question to a name server", "1234 0100 0001 0000 0000 0000 0161 00 0001 0001", nil),
        Row("STUN", "0001 0000 2112a442 000102030405060708090a0b", nil),
        Row("DTLS", "16 fefd 0000 000000000000 0001 00", nil),
        // Nothing but the version tells it: a clock that is not set yet.
        Row("NTP", "e3 0003fa 00000000 00000000", "0x0003fa00"),
    ])
    func datagramsAreToldApart(_ row: Row) throws {
        let datagram = try #require(bytes(fromHex: row.hex.filter { $0 != " " }))
        let header = QUICLongHeader.read(datagram.span)
        #expect(header?.version.description == row.version)
        guard let header else { return }
        for count in 0..<header.end {
            #expect(QUICLongHeader.read(Array(datagram.prefix(count)).span) == nil)
        }
        #expect(QUICLongHeader.read(Array(datagram.prefix(header.end)).span) == header)
    }

    @Test func longIDsAreTaken() {
        let ids: [UInt8] = [255] + [UInt8](repeating: 1, count: 255)
        let datagram = [0xC0, 0, 0, 0, 9] + ids + ids
        #expect(QUICLongHeader.read(datagram.span)?.sourceID.count == 255)
        #expect(QUICLongHeader.read(datagram.span)?.destinationID.count == 255)
    }

    @Test func reservedVersionsAreKnown() {
        #expect(QUICVersion(rawValue: 0xBACA_0AEA).isReserved)
        #expect(!QUICVersion.v1.isReserved)
        #expect(QUICVersion.v1.isReadable && QUICVersion.v2.isReadable)
        #expect(!QUICVersion(rawValue: 0xFF00_001D).isReadable)
    }
}
