import Base
import Formats
import Recording
import Testing
import Traffic

@testable import PacketFormats

/// Who is the origin is told by what is said, then by who opened the connection, last by the ports.
struct OriginFindingTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// What is said in turn; `>` is the end that opened, or would open, the connection.
        let turns: [String]
        let isTurned: Bool
        let name: String
    }

    static let rows = [
        Row(
            testDescription: "a request from the other end",
            turns: ["<GET / HTTP/1.1\r\nHost: a\r\n\r\n", ">HTTP/1.1 204 No\r\n\r\n"],
            isTurned: true,
            name: "http/1.1"),
        Row(
            testDescription: "an answer from this end",
            turns: [">220 files\r\n", "<USER nora\r\n"],
            isTurned: true, name: "ftp"),
        Row(
            testDescription: "a hello of TLS from the other end",
            turns: ["<\u{16}\u{3}\u{1}\u{0}\u{5}\u{1}\u{0}\u{0}\u{1}\u{0}"], isTurned: true,
            name: "tls"),
        Row(
            testDescription: "a request from this end",
            turns: [">GET / HTTP/1.1\r\nHost: a\r\n\r\n", "<HTTP/1.1 204 No\r\n\r\n"],
            isTurned: false, name: "http/1.1"),
        Row(
            testDescription: "a greeting from the other end",
            turns: ["<220 mx ESMTP\r\n", ">EHLO a\r\n"], isTurned: false, name: "smtp"),
        Row(
            testDescription: "words of nobody", turns: [">\u{1}\u{2}", "<\u{3}\u{4}"],
            isTurned: false, name: "unknown"),
    ]

    /// What is said through a SOCKS proxy is read as if there was none.
    @Test(arguments: [1, 1000])
    func socks(_ size: Int) throws {
        let sink = RecordingSink()
        let writer = ImportWriter(sink: sink, nextConnection: 1, nextExchange: 1)
        let reading = PacketReading(writer, keyLog: [])
        var tcp = TCPConversation(
            client: try #require(PacketEndpoint(text: "192.0.2.1:40000")),
            origin: try #require(PacketEndpoint(text: "192.0.2.2:1080")), seed: 1)
        func say(_ direction: Direction, _ bytes: [UInt8]) {
            for start in stride(from: 0, to: bytes.count, by: size) {
                let piece = bytes[start..<min(start + size, bytes.count)]
                for packet in tcp.packets(direction, piece) {
                    reading.take(.packet(HandmadePacket.caught(packet)))
                }
            }
        }
        for packet in tcp.opened() { reading.take(.packet(HandmadePacket.caught(packet))) }
        say(.request, [5, 1, 0])
        say(.response, [5, 0])
        say(.request, [5, 1, 0, 3, 6] + [UInt8]("a.test".utf8) + [0, 80])
        say(.response, [5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
        say(.request, [UInt8]("GET /x HTTP/1.1\r\nHost: a.test\r\n\r\n".utf8))
        say(.response, [UInt8]("HTTP/1.1 204 No\r\n\r\n".utf8))
        reading.finish()
        writer.recorder.flush()
        let record = try #require(sink.connections.first)
        #expect(record.mode == .socks)
        #expect(record.originHost == "a.test")
        #expect(record.originPort == 80)
        #expect(record.protocolName == "http/1.1")
        #expect(sink.exchanges.map(\.status) == [204])
        let said = sink.messages.flatMap(\.bytes)
        #expect(said.count == 28)
    }

    @Test(arguments: rows, [1, 1000])
    func finds(_ row: Row, _ size: Int) throws {
        for hasBeginning in [true, false] {
            let sink = RecordingSink()
            let writer = ImportWriter(sink: sink, nextConnection: 1, nextExchange: 1)
            let reading = PacketReading(writer, keyLog: [])
            // From the middle the end with the lower port is taken for the origin.
            var tcp = TCPConversation(
                client: try #require(PacketEndpoint(text: "192.0.2.1:40000")),
                origin: try #require(PacketEndpoint(text: "192.0.2.2:2000")), seed: 1)
            let opened = tcp.opened()
            if hasBeginning {
                for packet in opened { reading.take(.packet(HandmadePacket.caught(packet))) }
            }
            for turn in row.turns {
                let bytes = [UInt8](turn.utf8.dropFirst())
                let direction: Direction = turn.hasPrefix(">") ? .request : .response
                for start in stride(from: 0, to: bytes.count, by: size) {
                    let piece = bytes[start..<min(start + size, bytes.count)]
                    for packet in tcp.packets(direction, piece) {
                        reading.take(.packet(HandmadePacket.caught(packet)))
                    }
                }
            }
            reading.finish()
            writer.recorder.flush()
            let record = try #require(sink.connections.first)
            let (low, high) = ("192.0.2.2:2000", "192.0.2.1:40000")
            #expect(record.originAddress == (row.isTurned ? high : low))
            #expect(record.client == (row.isTurned ? low : high))
            #expect(record.protocolName == row.name)
            #expect(sink.connections.count == 1)
            let counts = [Direction.request, .response].map { direction in
                Int64(
                    row.turns.filter { $0.hasPrefix(">") == (direction == .request) }
                        .reduce(0) { $0 + $1.utf8.count - 1 })
            }
            let bytes = record.clientBytes
            #expect(
                (row.isTurned ? [bytes.sent, bytes.received] : [bytes.received, bytes.sent])
                    == counts)
        }
    }
}
